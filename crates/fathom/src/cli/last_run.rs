//! The suite's last run in the store, and what changed since.

use std::path::Path;

use fathom_conduct::compare::{ComparePlan, compare};
use fathom_conduct::{bench, stores};
use fathom_experiment::Experiment;
use fathom_experiment::metrics;
use fathom_model::{CompareRecord, Estimate, ExperimentRecord, listed, with_parameters};
use fathom_report::{RunMedian, run_medians_terminal};
use fathom_store::{Selector, date, extract};
use serde_json::Value;

use crate::cli::screen;

/// Records that are looked at: opening one takes about a millisecond.
const NEWEST: usize = 50;

/// A run that was stored.
#[derive(Debug, Clone)]
pub(super) struct LastRun {
    pub(super) id: String,
    /// When it was, and its id, for people.
    pub(super) called: String,
}

/// The last whole run of this experiment, the quick set or the full one. `None` without one, or without
/// a store.
pub(super) fn find(
    store: Option<&str>,
    here: &Path,
    experiment: &Experiment,
    quick: bool,
) -> Option<LastRun> {
    let mut store = stores::open(store, here).ok()?;
    let heads = store.records(&Selector::All).ok()?;
    let runs = heads.into_iter().filter(|head| head.kind == "run");
    for head in runs.take(NEWEST) {
        let text = store.record(&head).ok()?;
        let record: Value = serde_json::from_str(&text).ok()?;
        if record["title"] == *experiment.title && record["quick"] == quick {
            return Some(LastRun {
                called: format!(
                    "the run of {} ({})",
                    &date::text(head.time)[..16],
                    &head.id[..12]
                ),
                id: head.id,
            });
        }
    }
    None
}

/// Both runs compared as `fathom compare` does it.
pub(super) fn since(
    store: Option<&str>,
    here: &Path,
    last: &LastRun,
    saved: &str,
) -> Option<CompareRecord> {
    let plan = ComparePlan {
        store: store.map(str::to_owned),
        base: last.id.clone(),
        head: saved.to_owned(),
        benchmarks: Vec::new(),
        metric: None,
        margin: bench::MARGIN,
        dirty: true,
        across: false,
    };
    compare(&plan, here).ok()
}

/// What the benchmarks of a run take, as a table for the terminal; empty if it has none.
pub(super) fn medians(
    experiment: &Experiment,
    record: &ExperimentRecord,
    since: Option<(&LastRun, &CompareRecord)>,
) -> String {
    let mut main: Vec<String> = Vec::new();
    for measure in &experiment.measures {
        let known = metrics::of(experiment, measure).into_iter();
        main.extend(known.filter(|one| one.primary).map(|one| one.metric));
    }
    let record = serde_json::to_value(record).unwrap_or_default();
    let medians: Vec<RunMedian> = extract(&record)
        .into_iter()
        .filter(|point| main.contains(&point.metric))
        .map(|point| RunMedian {
            name: with_parameters(&point.benchmark, listed(&point.parameters)),
            median: Estimate {
                value: point.value,
                low: point.low,
                high: point.high,
                level: 0.95,
            },
            since: since.and_then(|(_, compared)| {
                let mut all = compared.comparisons.iter();
                all.find(|one| {
                    one.benchmark == point.benchmark
                        && one.parameters == point.parameters
                        && is_same_clock(&one.metric, &point.metric)
                })
                .cloned()
            }),
            metric: point.metric,
            unit: point.unit,
        })
        .collect();
    if medians.is_empty() {
        return String::new();
    }
    run_medians_terminal(
        &medians,
        since.map(|(last, _)| last.called.as_str()),
        screen::stdout_width(),
        screen::stdout_has_colour(),
        screen::speaks_unicode(),
    )
}

/// A comparison takes the clock that both runs allow; its ratio is that of the benchmark.
fn is_same_clock(one: &str, other: &str) -> bool {
    let clocks = ["wall", "cpu_wait_free"];
    one == other || (clocks.contains(&one) && clocks.contains(&other))
}
