//! Judges a command that was run with and without a cause. Pure functions.

use fathom_model::{
    BenchRecord, Estimate, Metric, Proof, ProofVerdict, SavedMilliseconds, Saving, Slope, Verdict,
};

use super::Takes;

/// If the saving is below this part of the lowest predicted saving, it is due to another, smaller cause.
pub(super) const EFFECTIVE: f64 = 0.25;
/// The cause is refuted if the saving is at most this part of the lowest predicted saving.
const NO_CAUSE: f64 = 0.5;
/// If added CPU time offsets this part of the predicted saving, the cause was replaced, not removed.
const REPLACED: f64 = 0.5;
/// If the CPU time falls by this part of the lowest predicted saving, the cause was removed, also by an
/// intervention that may remove only part of it.
const REMOVED: f64 = 0.5;

/// The minimum number of rounds before anything is judged.
const FEWEST: usize = 3;
/// In a few rounds, before a comparison gives a verdict, a saving is proved if each of them saved at least this
/// part of the time, and half of the lowest predicted saving: runs don't vary by that much three times in a row.
const PLAIN: f64 = 0.2;

/// When calls are joined, at most this part of them may remain; otherwise most of them weren't intercepted.
const CALLS_LEFT: f64 = 0.1;

/// The measurements of a command with and without a cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    /// The median times, with and without the cause, in seconds.
    pub with: f64,
    pub without: f64,
    /// The time without the cause divided by the time with it, from paired rounds.
    pub ratio: Estimate,
    /// The verdict of the comparison.
    pub verdict: Verdict,
    pub rounds: usize,
    /// The additional CPU time of the command without the cause, in seconds; negative if it takes less.
    pub more_cpu: f64,
    /// The part of the command's reads and writes that remains without the cause; 1 if unknown.
    pub calls_left: f64,
}

impl Measured {
    /// Evaluates a record of two commands, the first of which is the unchanged command. Returns `None` if
    /// there was no complete round.
    pub(super) fn of(record: &BenchRecord) -> Option<Measured> {
        let outcome = record.outcome.as_ref()?;
        let comparison = outcome.comparisons.first()?;
        let median = |benchmark: usize, metric: Metric| {
            let summaries = &outcome.results.get(benchmark)?.summaries;
            let summary = summaries.iter().find(|summary| summary.metric == metric)?;
            Some(summary.median.value)
        };
        let cpu = |benchmark| median(benchmark, Metric::Cpu).unwrap_or(0.0);
        let calls = |benchmark| {
            let [read, written] = [Metric::ReadCalls, Metric::WriteCalls];
            Some(median(benchmark, read)? + median(benchmark, written)?)
        };
        Some(Measured {
            with: median(0, comparison.metric)?,
            without: median(1, comparison.metric)?,
            ratio: comparison.ratio,
            verdict: comparison.verdict,
            rounds: comparison.rounds,
            more_cpu: cpu(1) - cpu(0),
            calls_left: match (calls(0), calls(1)) {
                (Some(with), Some(without)) if with > 0.0 => without / with,
                _ => 1.0,
            },
        })
    }

    /// Returns the saving as a part of the time with the cause, with its lower and upper ends.
    fn saved(&self) -> [f64; 3] {
        [self.ratio.value, self.ratio.high, self.ratio.low].map(|ratio| 1.0 - ratio)
    }
}

/// Returns the verdict. `predicted` is the saving that the finding predicts.
pub(super) fn proof(
    name: &str,
    takes: Takes,
    measured: &Measured,
    predicted: Option<Saving>,
) -> Proof {
    let [value, low, high] = measured.saved().map(|share| share * measured.with * 1e3);
    let least = predicted.map_or(0.0, |saving| saving.low_ns as f64 / 1e6);
    let expected = predicted.map_or(0.0, |saving| saving.ns as f64 / 1e6);
    let is_replaced = expected > 0.0 && measured.more_cpu * 1e3 >= REPLACED * expected;
    let is_removed = least > 0.0 && -measured.more_cpu * 1e3 >= REMOVED * least;
    let shows_none = match measured.verdict {
        Verdict::Faster => high < EFFECTIVE * least,
        Verdict::Same | Verdict::Slower => true,
        Verdict::Undecided => measured.rounds >= FEWEST && high < NO_CAUSE * least,
    };
    let is_plain = low >= PLAIN * measured.with * 1e3 && low >= NO_CAUSE * least;
    let (verdict, reason) = match measured.verdict {
        Verdict::Undecided if measured.rounds >= FEWEST && is_plain => (ProofVerdict::Proved, None),
        Verdict::Faster if value >= EFFECTIVE * least => (ProofVerdict::Proved, None),
        _ if !shows_none => {
            let rounds = measured.rounds;
            let reason = format!("{rounds} rounds were too few; --time 5m allows more");
            (ProofVerdict::Undecided, Some(reason))
        }
        _ if takes == Takes::Calls && measured.calls_left > CALLS_LEFT => {
            let left = 100.0 * measured.calls_left.min(1.0);
            let reason = format!(
                "{left:.0} % of its calls remain: they bypass the C library, or the program waits between them"
            );
            (ProofVerdict::Undecided, Some(reason))
        }
        _ if is_replaced => {
            let reason = "without it, the command spends the time computing instead";
            (ProofVerdict::Undecided, Some(reason.to_owned()))
        }
        _ if takes == Takes::Some && !is_removed => {
            let reason = "perhaps only part of the cause was removed";
            (ProofVerdict::Undecided, Some(reason.to_owned()))
        }
        _ => (ProofVerdict::Refuted, None),
    };
    Proof {
        verdict,
        intervention: Some(name.to_owned()),
        with_ms: Some(measured.with * 1e3),
        without_ms: Some(measured.without * 1e3),
        saves_ms: Some(SavedMilliseconds { value, low, high }),
        slope: None,
        metric: None,
        reason,
    }
}

/// Returns the verdict of a slope. `with` is the time of the unchanged command, in seconds.
pub(super) fn proof_by(slope: Slope, with: f64) -> Proof {
    let (verdict, reason) = match slope.is_on_the_path() {
        Some(true) => (ProofVerdict::Proved, None),
        Some(false) => (ProofVerdict::Refuted, None),
        None => {
            let reason = match slope.is_disturbed() {
                true => {
                    "the command slowed down by more than the delay: the machine is busy".to_owned()
                }
                false => format!(
                    "{} rounds were too few; --time 5m allows more",
                    slope.rounds
                ),
            };
            (ProofVerdict::Undecided, Some(reason))
        }
    };
    Proof {
        with_ms: Some(with * 1e3),
        slope: Some(slope.clone()),
        reason,
        ..none(verdict, Some(&slope.of), String::new())
    }
}

/// Returns a proof that makes no judgment, with the reason.
pub(super) fn none(verdict: ProofVerdict, name: Option<&str>, reason: String) -> Proof {
    Proof {
        verdict,
        intervention: name.map(str::to_owned),
        with_ms: None,
        without_ms: None,
        saves_ms: None,
        slope: None,
        metric: None,
        reason: Some(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ratio: [f64; 3], verdict: Verdict) -> Measured {
        let [low, value, high] = ratio;
        Measured {
            with: 0.715,
            without: 0.715 * value,
            ratio: Estimate {
                value,
                low,
                high,
                level: 0.95,
            },
            verdict,
            rounds: 12,
            more_cpu: 0.0,
            calls_left: 0.05,
        }
    }

    fn predicted(ms: u64) -> Option<Saving> {
        Some(Saving {
            ns: ms * 1_000_000,
            low_ns: ms * 800_000,
            high_ns: ms * 1_200_000,
        })
    }

    fn said(takes: Takes, measured: &Measured) -> (ProofVerdict, bool) {
        let proof = proof("x", takes, measured, predicted(550));
        (proof.verdict, proof.reason.is_some())
    }

    #[test]
    fn what_saves_about_what_was_predicted_is_proved() {
        let measured = measured([0.34, 0.36, 0.38], Verdict::Faster);
        assert_eq!(said(Takes::All, &measured), (ProofVerdict::Proved, false));
        let proof = proof("x", Takes::Some, &measured, predicted(550));
        let saves = proof.saves_ms.unwrap();
        assert!(
            (saves.low - 443.3).abs() < 0.1 && (saves.high - 471.9).abs() < 0.1,
            "{saves:?}"
        );
        assert_eq!(
            (proof.with_ms, proof.intervention.as_deref()),
            (Some(715.0), Some("x"))
        );
    }

    #[test]
    fn what_saves_nothing_is_refuted_if_all_of_it_was_taken_away() {
        for measured in [
            measured([0.99, 1.0, 1.01], Verdict::Same),
            measured([1.02, 1.04, 1.06], Verdict::Slower),
            measured([0.98, 1.0, 1.02], Verdict::Undecided),
            measured([0.97, 0.98, 0.985], Verdict::Faster),
        ] {
            assert_eq!(said(Takes::All, &measured), (ProofVerdict::Refuted, false));
            assert_eq!(
                said(Takes::Some, &measured),
                (ProofVerdict::Undecided, true)
            );
        }
    }

    #[test]
    fn a_saving_that_is_far_from_the_predicted_one_proves_nothing() {
        // It saves something, but perhaps only a hundredth of the time.
        let little = measured([0.75, 0.99, 0.995], Verdict::Faster);
        assert_eq!(said(Takes::Some, &little), (ProofVerdict::Undecided, true));
    }

    #[test]
    fn an_interval_that_holds_both_decides_nothing() {
        let measured = measured([0.4, 0.8, 1.2], Verdict::Undecided);
        assert_eq!(said(Takes::All, &measured), (ProofVerdict::Undecided, true));
    }

    #[test]
    fn a_large_saving_is_proved_by_three_rounds() {
        let few = Measured {
            rounds: 3,
            ..measured([0.3, 0.36, 0.42], Verdict::Undecided)
        };
        assert_eq!(said(Takes::Some, &few), (ProofVerdict::Proved, false));
        let two = Measured { rounds: 2, ..few };
        assert_eq!(said(Takes::Some, &two), (ProofVerdict::Undecided, true));
        let none = Measured {
            rounds: 2,
            ..measured([0.99, 1.0, 1.01], Verdict::Undecided)
        };
        assert_eq!(said(Takes::All, &none), (ProofVerdict::Undecided, true));
        let varies = Measured {
            ratio: measured([0.2, 0.36, 0.82], Verdict::Undecided).ratio,
            ..few
        };
        assert_eq!(said(Takes::Some, &varies), (ProofVerdict::Undecided, true));
    }

    #[test]
    fn a_loop_until_the_time_is_over_refutes_nothing() {
        let spins = Measured {
            more_cpu: 0.5,
            ..measured([0.99, 1.0, 1.01], Verdict::Same)
        };
        assert_eq!(said(Takes::All, &spins), (ProofVerdict::Undecided, true));
    }

    #[test]
    fn calls_that_were_not_joined_refute_nothing() {
        let same = measured([0.99, 1.0, 1.01], Verdict::Same);
        assert_eq!(said(Takes::Calls, &same), (ProofVerdict::Refuted, false));
        let left = Measured {
            calls_left: 0.5,
            ..same
        };
        assert_eq!(said(Takes::Calls, &left), (ProofVerdict::Undecided, true));
    }

    #[test]
    fn what_takes_the_predicted_cpu_time_away_and_saves_nothing_is_refuted() {
        let same = measured([0.99, 1.0, 1.01], Verdict::Same);
        let of = |more_cpu: f64| said(Takes::Some, &Measured { more_cpu, ..same });
        assert_eq!(of(-0.3), (ProofVerdict::Refuted, false));
        assert_eq!(of(-0.1), (ProofVerdict::Undecided, true));
    }

    #[test]
    fn calls_that_were_not_joined_but_cost_more_are_not_replaced() {
        let same = measured([0.99, 1.0, 1.01], Verdict::Same);
        let left = Measured {
            calls_left: 1.0,
            more_cpu: 0.5,
            ..same
        };
        let proof = proof("x", Takes::Calls, &left, predicted(550));
        assert!(
            proof
                .reason
                .is_some_and(|reason| reason.starts_with("100 %"))
        );
    }

    #[test]
    fn without_a_prediction_any_saving_counts() {
        let measured = measured([0.97, 0.98, 0.985], Verdict::Faster);
        assert_eq!(
            proof("x", Takes::All, &measured, None).verdict,
            ProofVerdict::Proved
        );
    }

    #[test]
    fn a_slope_says_whether_it_lies_on_the_path() {
        let of = |low: f64, high: f64| {
            let slope = Slope {
                of: "slope:writes".to_owned(),
                value: (low + high) / 2.0,
                low,
                high,
                rounds: 12,
                added_ms: vec![0.0, 10.0, 20.0, 30.0],
            };
            let proof = proof_by(slope, 0.2);
            assert_eq!(proof.intervention.as_deref(), Some("slope:writes"));
            (proof.verdict, proof.reason.is_some())
        };
        assert_eq!(of(0.93, 1.01), (ProofVerdict::Proved, false));
        assert_eq!(of(-0.05, 0.07), (ProofVerdict::Refuted, false));
        assert_eq!(of(-0.1, 0.9), (ProofVerdict::Undecided, true));
        assert_eq!(of(2.1, 2.4), (ProofVerdict::Undecided, true));
    }
}
