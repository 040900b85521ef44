//! Differences between two programs in metrics other than time, and requested metrics without a ratio.

use fathom_model::{AskedMetric, Comparison, Metric, Run, Verdict, Warning};
use fathom_stats::sequential::Allowance;

use super::{Question, compare, values};

/// A metric differs clearly if its whole interval is beyond this factor, in either direction.
const CLEARLY: f64 = 1.25;
/// Metrics other than time that have a cost, and the minimum difference between two programs in the metric's
/// unit: the loader's own pages and calls don't count as a difference.
const WATCHED: [(Metric, f64); 6] = [
    (Metric::PeakMemory, 1_048_576.0),
    (Metric::Cpu, 0.001),
    (Metric::ReadBytes, 1_048_576.0),
    (Metric::WrittenBytes, 1_048_576.0),
    (Metric::ReadCalls, 100.0),
    (Metric::WriteCalls, 100.0),
];

/// Returns comparisons of the same pairs as `comparisons`, in each watched metric that differs clearly.
pub(super) fn also_differ(
    runs: &[Run],
    question: &Question,
    comparisons: &[Comparison],
    allowance: Allowance,
) -> Vec<Comparison> {
    if !question.metrics.is_empty() {
        return Vec::new();
    }
    // Each metric is tested on its own. Between identical programs, an interval exceeds such a factor far
    // more rarely than a correction for six tests assumes; with that correction, ten rounds could show
    // nothing.
    let mut found: Vec<Comparison> = WATCHED
        .iter()
        .flat_map(|(metric, _)| {
            let watched = AskedMetric {
                metric: *metric,
                margin: CLEARLY - 1.0,
            };
            compare(runs, question, &[watched], allowance)
        })
        .collect();
    found.retain(|one| is_beyond(one, 1.0) && is_much(runs, one));
    // A program that takes longer also uses more CPU time.
    found.retain(|one| {
        let same_pair =
            |other: &&Comparison| (other.reference, other.subject) == (one.reference, one.subject);
        let in_time = comparisons.iter().find(same_pair);
        one.metric != Metric::Cpu || in_time.is_none_or(|time| is_beyond(one, time.ratio.value))
    });
    found.sort_by_key(|one| one.subject);
    found
}

/// Reports whether the whole interval is beyond the factor from `middle`.
fn is_beyond(one: &Comparison, middle: f64) -> bool {
    let (low, high) = (one.ratio.low / middle, one.ratio.high / middle);
    match one.verdict {
        Verdict::Faster => high <= 1.0 / CLEARLY,
        Verdict::Slower => low >= CLEARLY,
        Verdict::Same | Verdict::Undecided => false,
    }
}

fn is_much(runs: &[Run], one: &Comparison) -> bool {
    let middle = |benchmark| {
        let values = values(runs, benchmark, one.metric);
        fathom_stats::median_interval(&values, 0.95).map_or(0.0, |median| median.value)
    };
    let apart = (middle(one.subject) - middle(one.reference)).abs();
    let least = WATCHED.iter().find(|(metric, _)| *metric == one.metric);
    least.is_some_and(|(_, least)| apart >= *least)
}

/// Returns the requested metrics that can't be compared, with the reason.
pub(super) fn without_ratio(
    runs: &[Run],
    question: &Question,
    comparisons: &[Comparison],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for asked in &question.metrics {
        let label = asked.metric.label();
        let unknown = (0..question.names.len())
            .filter(|benchmark| values(runs, *benchmark, asked.metric).is_empty());
        let unknown: Vec<usize> = unknown.collect();
        warnings.extend(unknown.iter().map(|benchmark| Warning {
            id: "metric_not_known".to_owned(),
            benchmark: Some(*benchmark),
            message: format!("{label} could not be measured in any run"),
        }));
        for (references, subject) in question.against.comparisons(question.names.len()) {
            let has_ratio = comparisons
                .iter()
                .any(|one| (one.metric, one.subject) == (asked.metric, subject));
            let is_known = ![references[0], references[1], subject]
                .iter()
                .any(|one| unknown.contains(one));
            if is_known && !has_ratio {
                warnings.push(Warning {
                    id: "no_ratio".to_owned(),
                    benchmark: Some(subject),
                    message: format!(
                        "{label} is 0 in every round on one side, so there is no ratio"
                    ),
                });
            }
        }
    }
    warnings
}
