//! What is known of one side.

use std::collections::HashMap;

use fathom_model::{CompareSide, Estimate, HistoryEnvironment, NotCompared};
use fathom_stats::Measured;

/// One side: series with the measurements that belong to it.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) about: CompareSide,
    pub(super) series: Vec<SideSeries>,
    /// Facts of environments by key.
    pub(super) environments: HashMap<String, HistoryEnvironment>,
    /// Measurements that were left out because tracked files differed.
    pub(super) dirty_left_out: usize,
}

/// One series of a side.
#[derive(Debug, Clone)]
pub(super) struct SideSeries {
    pub(super) benchmark: String,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) direction: Option<String>,
    /// By time.
    pub(super) sessions: Vec<Session>,
    /// What is run to measure it again.
    pub(super) again: Option<Again>,
}

/// What is run to measure a benchmark again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Again {
    /// A command of a verb: `bench`, `startup` or `pipe`.
    Command { verb: &'static str, command: String },
    /// A subject of the project's suite.
    Suite { subject: String },
}

/// One separate measurement.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// Key of the environment; absent where the file doesn't say.
    pub(super) environment: Option<String>,
    /// Milliseconds since 1970.
    pub(super) time: i64,
    /// Number of the record in the store.
    pub(super) record: Option<i64>,
    pub(super) runs: u32,
    pub(super) measured: Measured,
    /// Figures that another tool made of samples that it doesn't give.
    pub(super) summary: bool,
}

impl Side {
    /// Facts of an environment.
    pub(super) fn facts(&self, key: &str) -> HistoryEnvironment {
        self.environments.get(key).cloned().unwrap_or_default()
    }
}

impl SideSeries {
    /// Whether both are the same quantity; with another unit it is another one.
    pub(super) fn is_same(&self, other: &SideSeries) -> bool {
        self.has_name_of(other) && self.unit == other.unit
    }

    pub(super) fn has_name_of(&self, other: &SideSeries) -> bool {
        self.benchmark == other.benchmark
            && self.parameters == other.parameters
            && self.metric == other.metric
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

/// The level of an interval of a median of so many runs: 95 % from six on (`fathom_stats`).
pub(super) fn level_of(runs: u32) -> f64 {
    match runs {
        0 => 0.0,
        1..=5 => 1.0 - 0.5f64.powi(runs as i32 - 1),
        _ => 0.95,
    }
}

/// An estimate of a point of a series.
pub(crate) fn estimate(value: f64, low: f64, high: f64, runs: u32) -> Estimate {
    Estimate {
        value,
        low,
        high,
        level: match runs {
            // One run has no interval: it is another tool's, of a number of samples that it doesn't say.
            0 | 1 if low < high => 0.95,
            runs => level_of(runs),
        },
    }
}

/// Which facts differ, with both values.
pub(super) fn difference(here: HistoryEnvironment, there: HistoryEnvironment) -> String {
    let text = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
    let number = |value: Option<u64>| text(value.map(|value| value.to_string()));
    let flag =
        |value: Option<bool>| text(value.map(|value| if value { "yes" } else { "no" }.to_owned()));
    let facts = [
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
    ];
    let differing = facts.iter().filter(|(_, here, there)| here != there);
    let words: Vec<String> = differing
        .map(|(name, here, there)| format!("{name} {here} and {there}"))
        .collect();
    match words.is_empty() {
        true => "unknown facts".to_owned(),
        false => words.join(", "),
    }
}
