//! Derives the result for each version and each step from the runs. Pure functions.

use fathom_measure::assess;
use fathom_model::{BenchRecord, Metric, VersionStep, VersionsRecord};

/// The confidence level of the ratios to the first version, which is the level required for a claim.
const LEVEL: f64 = 0.99;

/// Completes the record with the measurements.
pub(super) fn conclude(record: &mut VersionsRecord, measured: BenchRecord, asked: Option<Metric>) {
    let outcome = measured.outcome.as_ref();
    let comparisons = outcome.map_or(&[][..], |outcome| &outcome.comparisons);
    let metric = match (asked, comparisons.first()) {
        (Some(metric), _) => metric,
        (None, Some(comparison)) => comparison.metric,
        (None, None) => {
            let fewest = fathom_stats::fewest_rounds(LEVEL);
            assess::clock(&measured.runs, measured.benchmarks.len(), fewest)
        }
    };
    record.metric = metric;
    let name = |benchmark: usize| measured.benchmarks[benchmark].name.clone();
    record.steps = comparisons
        .iter()
        .map(|comparison| VersionStep {
            from: name(comparison.reference),
            to: name(comparison.subject),
            ratio: comparison.ratio,
            verdict: comparison.verdict,
            rounds: comparison.rounds,
        })
        .collect();
    for version in &mut record.versions {
        let Some(benchmark) = version.benchmark else {
            continue;
        };
        let results = outcome.and_then(|outcome| outcome.results.get(benchmark));
        let summary = results.and_then(|one| one.summaries.iter().find(|s| s.metric == metric));
        version.estimate = summary.map(|summary| summary.median);
        let (first, this) = assess::paired(&measured.runs, [0, 0], benchmark, metric);
        let since = fathom_stats::paired_ratio(&first, &this, LEVEL);
        version.since_first = since.map(|paired| paired.ratio);
    }
    record.measured = Some(measured);
}
