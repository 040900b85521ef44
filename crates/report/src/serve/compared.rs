//! Compares each server with the first, with intervals.

use fathom_model::{ServeComparison, ServeMetric, ServeRecord, Verdict};

use super::pictures::server_name;
use super::words;
use crate::document::{Cell, Kind, Place, Table};
use crate::line::Tone;
use crate::quantity::{Words, bound, change, change_with_interval, counted};

/// Builds a table with a row for each verdict.
pub(super) fn table(record: &ServeRecord) -> Table {
    let mut table = Table::new("Comparisons")
        .placed("", Kind::Name, Place::Terminal(0))
        .placed("server", Kind::Name, Place::Page)
        .column("by", Kind::Words)
        .column("verdict", Kind::Words)
        .stacked();
    for one in &record.comparisons {
        let cells = vec![
            Cell::words(&(one.subject + 1).to_string()),
            Cell::name(&server_name(record, one.subject)),
            Cell::words(&what(record, one)),
            Cell::words(&verdict(one)).toned(Tone::of(one.verdict)),
        ];
        table.row("", cells);
    }
    table
}

/// Returns what is compared.
fn what(record: &ServeRecord, comparison: &ServeComparison) -> String {
    let load = || {
        let server = record.servers.get(comparison.subject)?;
        Some(words::load(server.load.get(comparison.load?)?))
    };
    let load = load().map_or(String::new(), |load| format!(", {load}"));
    let metric = match comparison.metric {
        ServeMetric::Ready => "first answer",
        ServeMetric::TimePerRequest => "time per request",
        ServeMetric::P99 => "p99",
        ServeMetric::ServerCpu => "CPU time each",
    };
    format!("{metric}{load}")
}

/// Formats the verdict, with its interval.
fn verdict(comparison: &ServeComparison) -> String {
    let words = match comparison.metric {
        ServeMetric::ServerCpu => Words {
            less: "less",
            more: "more",
        },
        _ => Words {
            less: "faster",
            more: "slower",
        },
    };
    if !comparison.doubts.is_empty() {
        return format!(
            "{}: no verdict ({})",
            comparison.doubts.join(", "),
            change(comparison.ratio.value, words)
        );
    }
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => change_with_interval(&comparison.ratio, words),
        Verdict::Same => format!("same, any difference is under {}", bound(&comparison.ratio)),
        Verdict::Undecided => {
            let (low, high) = (comparison.ratio.low, comparison.ratio.high);
            let between = format!("between {} and {}", change(low, words), change(high, words));
            if let Some(too_few) = too_few(comparison) {
                return format!("{too_few}; so far {between}");
            }
            let more = comparison.more_rounds.map_or(String::new(), |more| {
                let rounds = counted(more.0, "more round", "more rounds");
                format!("; about {rounds} would decide")
            });
            format!("undecided: {between}{more}")
        }
    }
}

/// Returns a note if the launches or rounds are too few to reach the confidence level of a claim, however
/// large the difference.
pub(super) fn too_few(comparison: &ServeComparison) -> Option<String> {
    let of = match comparison.metric {
        ServeMetric::Ready => "launches",
        _ => "rounds",
    };
    let fewest = fathom_stats::fewest_rounds(comparison.claim_level);
    let is_short = comparison.verdict == Verdict::Undecided && comparison.rounds < fewest;
    // Older records don't contain the level.
    (is_short && comparison.claim_level > 0.0)
        .then(|| format!("too few {of} ({} of {fewest})", comparison.rounds))
}

#[cfg(test)]
mod tests {
    use fathom_model::Estimate;

    use super::*;

    #[test]
    fn so_few_launches_that_nothing_can_be_claimed_are_counted() {
        let mut comparison = ServeComparison {
            reference: 0,
            subject: 1,
            metric: ServeMetric::Ready,
            load: None,
            rounds: 5,
            ratio: Estimate {
                value: 0.5,
                low: 0.4,
                high: 0.6,
                level: 0.95,
            },
            claim_level: 0.99,
            verdict: Verdict::Undecided,
            more_rounds: None,
            doubts: Vec::new(),
        };
        assert_eq!(
            verdict(&comparison).replace('\u{a0}', " "),
            "too few launches (5 of 8); so far between 2.50x faster and 40 % faster"
        );
        comparison.metric = ServeMetric::P99;
        assert!(verdict(&comparison).starts_with("too few rounds (5 of 8)"));
        comparison.rounds = 8;
        assert!(verdict(&comparison).starts_with("undecided: between"));
        (comparison.rounds, comparison.claim_level) = (5, 0.0);
        assert!(verdict(&comparison).starts_with("undecided: between"));
    }
}
