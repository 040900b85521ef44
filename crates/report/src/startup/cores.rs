//! Detects neighbours: other work on the second hardware thread of the cores that the programs ran on.

use fathom_model::{Cache, Estimate, StartupMetric, StartupRecord, StartupSummary};

use super::waits::number;
use super::words;

/// Neighbours are reported if at least this share of the runs had them.
const SAID_FROM: f64 = 0.05;

/// Returns a label and a sentence for a program that often had a neighbour on its core.
pub(super) fn of(record: &StartupRecord, program: usize) -> Option<(&'static str, String)> {
    let warm =
        |summary: &&StartupSummary| summary.program == program && summary.cache == Cache::Warm;
    let summary = record
        .summaries
        .iter()
        .filter(warm)
        .min_by_key(|summary| summary.metric != StartupMetric::FirstOutput)?;
    let by_core = summary.by_core.as_ref()?;
    let runs = by_core.alone_runs + by_core.shared_runs;
    if (by_core.shared_runs as f64) < SAID_FROM * runs as f64 {
        return None;
    }
    let mut text = format!(
        "{}other work used the sibling hyperthread in {} of {runs} runs",
        number(record, program),
        by_core.shared_runs
    );
    let p50 = |of: &Option<Estimate>| of.as_ref().map(|p50| words::time(p50.value));
    let clock = words::metric(summary.metric);
    let medians = match (p50(&by_core.shared_p50), p50(&by_core.alone_p50)) {
        (Some(shared), Some(alone)) => {
            format!(": the p50 to the {clock} was {shared} in those, {alone} in the others")
        }
        (None, Some(alone)) => format!(": the p50 to the {clock} was {alone} in the others"),
        _ => String::new(),
    };
    text.push_str(&medians);
    Some(("hyperthread", text))
}
