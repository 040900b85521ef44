//! What is known of one side.

use std::collections::{BTreeSet, HashMap};

use fathom_model::{CompareSide, Estimate, HistoryEnvironment, Metric, NotCompared};
use fathom_stats::Measured;

use super::clock::Waits;

/// One side: series with the measurements that belong to it.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) about: CompareSide,
    pub(super) series: Vec<SideSeries>,
    /// Facts of environments by key.
    pub(super) environments: HashMap<String, HistoryEnvironment>,
    /// Measurements that were left out because tracked files differed.
    pub(super) dirty_left_out: usize,
    /// SHA-256 of the file that it is.
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

/// A median with its interval, and the runs that it comes from.
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
    /// Another tool measured it.
    pub(super) imported: bool,
    /// Of a load test, the share of requests that had no good answer.
    pub(super) failed: Option<f64>,
    /// Counted, and every run has this value.
    pub(super) exact: Option<f64>,
    /// Of wall time: how long runs waited for a CPU, and the same runs without that.
    pub(super) waits: Waits,
    pub(super) wait_free: Option<Measured>,
}

impl Side {
    /// Facts of an environment.
    pub(super) fn facts(&self, key: &str) -> HistoryEnvironment {
        self.environments.get(key).cloned().unwrap_or_default()
    }

    /// Whether both are one measurement: then nothing lies between them.
    pub(super) fn is_same_as(&self, other: &Side) -> bool {
        let same_file = self.content.is_some() && self.content == other.content;
        same_file || (!self.about.records.is_empty() && self.about.records == other.about.records)
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

    /// The same runs by the time without waits, where all measurements have it.
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

/// Whether both sides of a series hold the very same records of one store.
pub(super) fn is_same_measurement(before: &[&Session], after: &[&Session]) -> bool {
    let records = |sessions: &[&Session]| -> Option<BTreeSet<i64>> {
        sessions.iter().map(|one| one.record).collect()
    };
    records(before).is_some_and(|of_base| records(after) == Some(of_base))
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

/// The facts of two environments, by name.
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

/// Whether both are known to be different machines: another tool's file doesn't say everything.
pub(super) fn contradict(here: HistoryEnvironment, there: HistoryEnvironment) -> bool {
    let known = |fact: &String| fact != UNKNOWN;
    let facts = facts(here, there);
    let mut facts = facts.iter();
    facts.any(|(_, here, there)| here != there && known(here) && known(there))
}

/// Which facts differ, with both values.
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
