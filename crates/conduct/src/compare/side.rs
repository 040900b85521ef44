//! What is known about one side of a comparison.

use std::collections::{BTreeSet, HashMap};

use fathom_model::{CompareSide, Estimate, HistoryEnvironment, Metric, NotCompared};
use fathom_stats::Measured;

use super::clock::Waits;

/// One side: its series with their measurements.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) about: CompareSide,
    pub(super) series: Vec<SideSeries>,
    /// Facts of environments by key.
    pub(super) environments: HashMap<String, HistoryEnvironment>,
    /// The number of measurements that were skipped because tracked files had been modified.
    pub(super) dirty_left_out: usize,
    /// The SHA-256 of the file, if the side is a file.
    pub(super) content: Option<String>,
}

/// One series of a side.
#[derive(Debug, Clone)]
pub(super) struct SideSeries {
    pub(super) benchmark: String,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) direction: Option<String>,
    /// The measurements, ordered by time.
    pub(super) sessions: Vec<Session>,
    /// How to measure it again.
    pub(super) again: Option<Again>,
}

/// How to measure a benchmark again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Again {
    /// The command of a verb: `bench`, `startup` or `pipe`.
    Command { verb: &'static str, command: String },
    /// A subject of the project's suite.
    Suite { subject: String },
}

/// A median with its interval, and the number of runs behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) runs: u32,
}

/// One separate measurement.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// The key of the environment, if the file names it.
    pub(super) environment: Option<String>,
    /// The start, in milliseconds since 1970.
    pub(super) time: i64,
    /// The number of the record in the store.
    pub(super) record: Option<i64>,
    pub(super) runs: u32,
    pub(super) measured: Measured,
    /// Whether another tool computed the figures from samples that it doesn't report.
    pub(super) summary: bool,
    /// Whether another tool measured it.
    pub(super) imported: bool,
    /// For a load test, the share of requests without a good response.
    pub(super) failed: Option<f64>,
    /// The exact count, if every run has the same value.
    pub(super) exact: Option<f64>,
    /// For wall time: how long runs waited for a CPU, and the wait-free time of the same runs.
    pub(super) waits: Waits,
    pub(super) wait_free: Option<Measured>,
}

impl Side {
    /// Returns the facts of an environment.
    pub(super) fn facts(&self, key: &str) -> HistoryEnvironment {
        self.environments.get(key).cloned().unwrap_or_default()
    }

    /// Reports whether both sides are the same measurement, so that nothing can have drifted between them.
    pub(super) fn is_same_as(&self, other: &Side) -> bool {
        let same_file = self.content.is_some() && self.content == other.content;
        same_file || (!self.about.records.is_empty() && self.about.records == other.about.records)
    }
}

impl SideSeries {
    /// Reports whether both series measure the same quantity; a different unit means a different quantity.
    pub(super) fn is_same(&self, other: &SideSeries) -> bool {
        self.has_name_of(other) && self.unit == other.unit
    }

    pub(super) fn has_name_of(&self, other: &SideSeries) -> bool {
        self.benchmark == other.benchmark
            && self.parameters == other.parameters
            && self.metric == other.metric
    }

    /// Returns the same runs by wait-free time, if all measurements have it.
    pub(super) fn without_waits(&self) -> Option<SideSeries> {
        let mut other = SideSeries {
            metric: Metric::Undisturbed.name().to_owned(),
            ..self.clone()
        };
        for session in &mut other.sessions {
            session.measured = session.wait_free.take()?;
        }
        Some(other)
    }

    pub(super) fn left_out(&self, why: String) -> NotCompared {
        NotCompared {
            benchmark: self.benchmark.clone(),
            parameters: self.parameters.clone(),
            metric: self.metric.clone(),
            why,
        }
    }
}

const UNKNOWN: &str = "unknown";

/// Reports whether both sides of a series hold the same records of the same store.
pub(super) fn is_same_measurement(before: &[&Session], after: &[&Session]) -> bool {
    let records = |sessions: &[&Session]| -> Option<BTreeSet<i64>> {
        sessions.iter().map(|one| one.record).collect()
    };
    records(before).is_some_and(|of_base| records(after) == Some(of_base))
}

/// Returns the confidence level of the interval of a median of `runs` runs: 95 % for six or more (see
/// `fathom_stats`).
pub(super) fn level_of(runs: u32) -> f64 {
    match runs {
        0 => 0.0,
        1..=5 => 1.0 - 0.5f64.powi(runs as i32 - 1),
        _ => 0.95,
    }
}

/// Returns the estimate for a point of a series.
pub(crate) fn estimate(value: f64, low: f64, high: f64, runs: u32) -> Estimate {
    Estimate {
        value,
        low,
        high,
        level: match runs {
            // A single run has no interval. An interval here comes from another tool, and its number of
            // samples is unknown.
            0 | 1 if low < high => 0.95,
            runs => level_of(runs),
        },
    }
}

/// Returns the facts of two environments, by name.
fn facts(
    here: HistoryEnvironment,
    there: HistoryEnvironment,
) -> [(&'static str, String, String); 7] {
    let text = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
    let number = |value: Option<u64>| text(value.map(|value| value.to_string()));
    let flag =
        |value: Option<bool>| text(value.map(|value| if value { "yes" } else { "no" }.to_owned()));
    [
        ("kernel", text(here.kernel), text(there.kernel)),
        (
            "architecture",
            text(here.architecture),
            text(there.architecture),
        ),
        ("processor", text(here.cpu_model), text(there.cpu_model)),
        ("CPUs", number(here.cpus), number(there.cpus)),
        (
            "memory",
            number(here.memory_bytes.map(|bytes| bytes >> 30)),
            number(there.memory_bytes.map(|bytes| bytes >> 30)),
        ),
        ("governor", text(here.governor), text(there.governor)),
        (
            "virtual",
            flag(here.virtual_machine),
            flag(there.virtual_machine),
        ),
    ]
}

/// Reports whether the two environments are known to be different machines. Files of other tools may lack the
/// facts for that.
pub(super) fn contradict(here: HistoryEnvironment, there: HistoryEnvironment) -> bool {
    let known = |fact: &String| fact != UNKNOWN;
    let facts = facts(here, there);
    let mut facts = facts.iter();
    facts.any(|(_, here, there)| here != there && known(here) && known(there))
}

/// Describes which facts differ, with both values.
pub(super) fn difference(here: HistoryEnvironment, there: HistoryEnvironment) -> String {
    let facts = facts(here, there);
    let differing = facts.iter().filter(|(_, here, there)| here != there);
    let words: Vec<String> = differing
        .map(|(name, here, there)| format!("{name} {here} and {there}"))
        .collect();
    match words.is_empty() {
        true => "unknown facts".to_owned(),
        false => words.join(", "),
    }
}
