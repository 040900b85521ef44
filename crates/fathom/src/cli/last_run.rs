//! The last stored run of the suite, and what has changed since.

use std::path::Path;

use fathom_conduct::compare::{ComparePlan, compare};
use fathom_conduct::{bench, stores};
use fathom_experiment::Experiment;
use fathom_experiment::metrics;
use fathom_model::{CompareRecord, Estimate, ExperimentRecord, listed, with_parameters};
use fathom_report::{RunMedian, run_medians_terminal};
use fathom_store::{NewPoint, Selector, date, extract};
use serde_json::Value;

use crate::cli::screen;

/// The maximum number of records to search; opening one takes about a millisecond.
const NEWEST: usize = 50;

/// A stored run.
#[derive(Debug, Clone)]
pub(super) struct LastRun {
    pub(super) id: String,
    /// Its time and its id, for display.
    pub(super) called: String,
}

/// Returns the last complete run of this experiment, with either the quick set or the full one. Returns
/// `None` if there is none, or no store.
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

/// Compares both runs as `fathom compare` does.
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

/// Returns the times of a run's benchmarks as a table for the terminal; empty if it has none.
pub(super) fn medians(
    experiment: &Experiment,
    record: &ExperimentRecord,
    since: Option<(&LastRun, &CompareRecord)>,
) -> String {
    let mut main: Vec<String> = Vec::new();
    for measure in &experiment.measures {
        let known = metrics::of(experiment, measure).into_iter();
        main.extend(known.filter(|one| one.primary).map(|one| one.metric));
        main.extend(measure.metrics.iter().map(|(one, _)| one.name().to_owned()));
    }
    let record = serde_json::to_value(record).unwrap_or_default();
    let medians: Vec<RunMedian> = extract(&record)
        .into_iter()
        .filter(|point| main.contains(&point.metric))
        .map(|point| median(point, since.map(|(_, compared)| compared)))
        .collect();
    if medians.is_empty() {
        return String::new();
    }
    run_medians_terminal(
        &medians,
        since.map(|(last, _)| last.called.as_str()),
        &screen::of_stdout(false),
    )
}

/// Returns a median whose change is measured by the same clock. If the runs can only be compared by the other
/// clock, that clock's median is returned, under its name.
fn median(point: NewPoint, compared: Option<&CompareRecord>) -> RunMedian {
    let since = compared.and_then(|compared| {
        let mut all = compared.comparisons.iter();
        all.find(|one| {
            one.benchmark == point.benchmark
                && one.parameters == point.parameters
                && is_same_clock(&one.metric, &point.metric)
        })
    });
    let other = since.filter(|one| one.metric != point.metric);
    let (metric, (value, low, high)) = match other {
        Some(one) => (
            one.metric.clone(),
            (one.head.value, one.head.low, one.head.high),
        ),
        None => (point.metric, (point.value, point.low, point.high)),
    };
    RunMedian {
        name: with_parameters(&point.benchmark, listed(&point.parameters)),
        metric,
        unit: point.unit,
        median: Estimate {
            value,
            low,
            high,
            level: 0.95,
        },
        since: since.cloned(),
    }
}

/// Returns whether both are time metrics of which one can replace the other; a comparison uses the clock that
/// both runs allow.
fn is_same_clock(one: &str, other: &str) -> bool {
    let clocks = ["wall", "cpu_wait_free"];
    one == other || (clocks.contains(&one) && clocks.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_median_is_of_the_clock_that_its_change_is_of() {
        let point = NewPoint {
            benchmark: "sort".to_owned(),
            parameters: Vec::new(),
            metric: "wall".to_owned(),
            unit: "seconds".to_owned(),
            direction: None,
            meaning: String::new(),
            value: 2.0,
            low: 1.9,
            high: 2.1,
            runs: 10,
        };
        let side = |value: f64| json!({"value": value, "low": value, "high": value, "runs": 10, "measurements": 1});
        let about =
            |asked: &str| json!({"asked": asked, "revision": null, "records": [], "file": null});
        let compared = |metric: &str, head: f64| -> CompareRecord {
            let comparison = json!({
                "benchmark": "sort", "parameters": [], "metric": metric, "unit": "seconds",
                "higher_is_better": false, "base": side(1.0), "head": side(head),
                "ratio": {"value": head, "low": head, "high": head, "level": 0.95}, "p_value": 1.0,
                "drift": {"share": 0.05, "source": "assumed", "measurements": 0}, "margin": 0.01,
                "verdict": "undecided", "across_environments": false, "together": null,
            });
            let record = json!({
                "schema_version": 1, "kind": "compare", "fathom_version": "0", "base": about("a"),
                "head": about("b"), "comparisons": [comparison], "left_out": [], "warnings": [],
            });
            serde_json::from_value(record).unwrap()
        };
        let free = median(point.clone(), Some(&compared("cpu_wait_free", 1.1)));
        assert_eq!(
            (free.metric.as_str(), free.median.value),
            ("cpu_wait_free", 1.1)
        );
        let wall = median(point.clone(), Some(&compared("wall", 1.2)));
        assert_eq!((wall.metric.as_str(), wall.median.value), ("wall", 2.0));
        let alone = median(point, None);
        assert_eq!((alone.metric.as_str(), alone.median.value), ("wall", 2.0));
    }
}
