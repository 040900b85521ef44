//! The best figures that this machine has shown so far.
//!
//! Memory is shared with everything else on the machine. If the neighbours of a virtual machine take a part
//! of it for minutes, all passes of a run agree with each other, but none of them shows what the machine can
//! do. Only earlier runs reveal that: a figure far below theirs is caused by the neighbours, and is rejected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::result::{ProbeResult, ProbeVerdict};

/// Figures of shared resources, and whether less is better.
const SHARED: [(&str, bool); 4] = [
    ("l3_latency", true),
    ("memory_latency", true),
    ("read_bandwidth_1", false),
    ("read_bandwidth_words", false),
];

/// Largest relative distance of a figure from the best: the variation without any disturbance.
const TOLERANCE: f64 = 0.1;

/// How long a figure is kept, in seconds: a figure that the machine did not reach for a day may no longer be
/// possible.
const KEPT_SECONDS: u64 = 24 * 3600;

/// A figure and when it was measured, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Figure {
    value: f64,
    at: u64,
}

/// The two best values of each figure within a day, by the kind of run and the probe's id. Later values are
/// compared with the second best, because the best alone may have been chance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BestFigures(BTreeMap<String, Vec<Figure>>);

impl BestFigures {
    /// Adds the figures of a run, then rejects those that are far below earlier ones: they become
    /// [`ProbeVerdict::Disturbed`], with a note that names both values. `kind` is the kind of run, such as
    /// `quick`; other kinds measure for longer, or on other CPUs. `now` is in seconds since 1970.
    pub fn judge(&mut self, results: &mut [ProbeResult], kind: &str, now: u64) {
        for (id, least) in SHARED {
            let shared = results.iter_mut().find(|result| result.id == id);
            let Some((result, value)) = shared.and_then(|it| it.value.map(|value| (it, value)))
            else {
                continue;
            };
            let best = self.add(&format!("{kind} {id}"), Figure { value, at: now }, least);
            let lacks = match least {
                true => best.map(|best| value / best - 1.0),
                false => best.map(|best| best / value - 1.0),
            };
            if let Some(best) = best.filter(|_| lacks > Some(TOLERANCE)) {
                let unit = &result.unit;
                let note = format!(
                    "now {value:.3} {unit}, but at best {best:.3} {unit} within the last day: other programs use \
                     part of a shared resource, or the machine's settings changed"
                );
                (result.value, result.verdict) = (None, ProbeVerdict::Disturbed);
                result.add_note(&note);
            }
        }
    }

    /// Keeps the figure if it is among the two best; returns the second best, if there are two.
    fn add(&mut self, key: &str, figure: Figure, least: bool) -> Option<f64> {
        let figures = self.0.entry(key.to_owned()).or_default();
        figures.retain(|old| figure.at.abs_diff(old.at) <= KEPT_SECONDS);
        figures.push(figure);
        figures.sort_by(|a, b| match least {
            true => a.value.total_cmp(&b.value),
            false => b.value.total_cmp(&a.value),
        });
        figures.truncate(2);
        figures.get(1).map(|second| second.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::test_result;

    /// Returns the accepted values of these figures, measured in sequence.
    fn believed_of(id: &'static str, values: &[f64]) -> Vec<Option<f64>> {
        let mut seen = BestFigures::default();
        let mut believed = Vec::new();
        for value in values {
            let mut results = [test_result(id, Some(*value))];
            seen.judge(&mut results, "quick", 1_000_000);
            believed.push(results[0].value);
        }
        believed
    }

    #[test]
    fn a_figure_far_below_two_earlier_ones_is_not_believed() {
        let values = [16.0, 15.8, 12.0, 15.0];
        let expected = [Some(16.0), Some(15.8), None, Some(15.0)];
        assert_eq!(believed_of("read_bandwidth_1", &values), expected);
        let values = [80.0, 82.0, 95.0, 84.0];
        let expected = [Some(80.0), Some(82.0), None, Some(84.0)];
        assert_eq!(believed_of("memory_latency", &values), expected);
    }

    #[test]
    fn one_lucky_figure_is_no_measure() {
        let values = [12.0, 16.0, 12.1];
        assert_eq!(believed_of("read_bandwidth_1", &values), values.map(Some));
    }

    #[test]
    fn what_is_not_shared_may_change() {
        let values = [4.0, 4.0, 3.0];
        assert_eq!(believed_of("core_clock", &values), values.map(Some));
    }

    #[test]
    fn a_day_later_and_in_another_kind_of_run_all_begins_anew() {
        for (kind, at) in [("quick", 1_100_000), ("full", 1_000_000)] {
            let mut seen = BestFigures::default();
            for value in [16.0, 16.0] {
                let mut results = [test_result("read_bandwidth_1", Some(value))];
                seen.judge(&mut results, "quick", 1_000_000);
            }
            let mut results = [test_result("read_bandwidth_1", Some(12.0))];
            seen.judge(&mut results, kind, at);
            assert_eq!(results[0].value, Some(12.0), "{kind} {at}");
        }
    }

    #[test]
    fn the_reason_names_both_values() {
        let mut seen = BestFigures::default();
        for value in [16.0, 16.0] {
            seen.judge(
                &mut [test_result("read_bandwidth_1", Some(value))],
                "quick",
                1_000_000,
            );
        }
        let mut results = [test_result("read_bandwidth_1", Some(12.0))];
        seen.judge(&mut results, "quick", 1_000_000);
        assert_eq!(results[0].verdict, ProbeVerdict::Disturbed);
        let note = results[0].note.as_deref().unwrap_or_default();
        assert!(
            note.starts_with("now 12.000 ns, but at best 16.000 ns within"),
            "{note}"
        );
    }
}
