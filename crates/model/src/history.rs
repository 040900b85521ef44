//! The records of `history` and `compare`: measurements from different times.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Verdict};

/// Series with their points, as written by `fathom history --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `history`.
    #[cfg_attr(test, schemars(extend("const" = "history")))]
    pub kind: String,
    /// The version of Fathom that read the store.
    pub fathom_version: String,
    /// The store, without its password.
    pub store: String,
    /// The environments of the points.
    pub environments: Vec<HistoryEnvironment>,
    /// The series, the most recently measured first.
    pub series: Vec<HistorySeries>,
}

/// The facts that decide whether points may be compared. Fields that the system did not report are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryEnvironment {
    /// A short, stable key: equal facts have the same key on every machine.
    #[serde(default)]
    pub key: String,
    /// Operating system and kernel release.
    pub kernel: Option<String>,
    /// Processor architecture.
    pub architecture: Option<String>,
    /// Processor model name.
    pub cpu_model: Option<String>,
    /// The number of CPUs that Fathom could use.
    pub cpus: Option<u64>,
    /// The memory in whole GiB, as bytes.
    pub memory_bytes: Option<u64>,
    /// Frequency governor of CPU 0.
    pub governor: Option<String>,
    /// Whether the processor reports that it runs under a hypervisor.
    pub virtual_machine: Option<bool>,
}

/// One metric of one benchmark over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistorySeries {
    /// The name of the benchmark; not trustworthy: escape it.
    pub benchmark: String,
    /// The parameters, as names and values.
    pub parameters: Vec<(String, String)>,
    /// The name of the metric.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// `lower_is_better` or `higher_is_better`, if known.
    #[cfg_attr(test, schemars(with = "Option<crate::Direction>"))]
    pub direction: Option<String>,
    /// A description of the metric.
    pub meaning: String,
    /// The points by time, oldest first.
    pub points: Vec<HistoryPoint>,
}

/// One measurement of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryPoint {
    /// The measured commit; absent outside of a repository.
    pub revision: Option<String>,
    /// The branch; absent on a detached head.
    pub branch: Option<String>,
    /// Whether tracked files differed from the commit.
    pub dirty: bool,
    /// The labels of the record.
    pub labels: Vec<String>,
    /// The start of the measurement, RFC 3339, UTC.
    pub time: String,
    /// The estimate.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The number of runs behind it.
    pub runs: u32,
    /// The key of its environment.
    pub environment: String,
    /// The id of its record.
    pub record: String,
}

/// A comparison of two sides that were measured at different times, as written by `fathom compare --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `compare`.
    #[cfg_attr(test, schemars(extend("const" = "compare")))]
    pub kind: String,
    /// The version of Fathom that compared.
    pub fathom_version: String,
    /// The side to compare with.
    pub base: CompareSide,
    /// The side that is compared.
    pub head: CompareSide,
    /// One comparison for each series that both sides have.
    pub comparisons: Vec<StoredComparison>,
    /// What was not compared, and why.
    pub left_out: Vec<NotCompared>,
    /// Warnings about how far the verdicts can be trusted, one sentence each.
    pub warnings: Vec<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareSide {
    /// As requested.
    pub asked: String,
    /// The revision, if all its measurements have the same one.
    pub revision: Option<String>,
    /// The ids of its records; empty for a file.
    pub records: Vec<String>,
    /// The file, if it is one.
    pub file: Option<String>,
}

/// One metric of one benchmark on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredComparison {
    /// The name of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
    /// The name of the metric.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// Whether higher values are better, if known.
    pub higher_is_better: Option<bool>,
    /// The measurements of the base.
    pub base: StoredValue,
    /// The measurements of the head.
    pub head: StoredValue,
    /// Head / base with its interval, which includes the drift between measurements.
    pub ratio: Estimate,
    /// The two-sided p-value of 'no difference', including the drift.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
    /// The assumed drift.
    pub drift: Drift,
    /// Differences up to this share count as no difference.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// The verdict; if the direction is unknown, [`Verdict::Faster`] means less and [`Verdict::Slower`] more.
    pub verdict: Verdict,
    /// Whether the sides were measured in different environments.
    pub across_environments: bool,
    /// A command that measures both sides together, and so decides without the drift; absent if it is
    /// unknown.
    pub together: Option<String>,
}

impl StoredComparison {
    /// Returns the word for the verdict; if it is unknown whether higher values are better, a neutral one.
    pub fn word(&self) -> &'static str {
        self.verdict.word_for(self.higher_is_better)
    }
}

/// The values of one side of a stored comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredValue {
    /// The median with its interval, excluding the drift.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The number of runs of all its measurements.
    pub runs: u32,
    /// The number of separate measurements.
    pub measurements: usize,
    /// For a load test: the share of requests without a good response, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub failed_share: Option<f64>,
}

/// The share of failed requests from which a load test mostly measures how fast errors are.
const MOSTLY_FAILED: f64 = 0.5;

impl StoredValue {
    /// Reports whether it is a load test in which most requests failed.
    pub fn is_of_failures(&self) -> bool {
        self.failed_share
            .is_some_and(|share| share >= MOSTLY_FAILED)
    }
}

/// The source of a drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DriftSource {
    /// Measurements of the same revision at different times.
    SameRevision,
    /// Successive measurements of any revision: real changes widen it.
    Successive,
    /// Assumed, because there are fewer than four earlier measurements.
    Assumed,
    /// The noise floor that `fathom machine --check` measured, if it is larger than the assumed value.
    NoiseFloor,
    /// The waits for a CPU on both sides, if they are larger than the other allowance and can't be
    /// subtracted.
    Waits,
    /// No drift: the values are exact counts, or both sides are the same measurement.
    None,
}

/// How much separate measurements of the same thing differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Drift {
    /// The share by which two measurements of the same thing may differ, in 95 of 100 cases (0.05 is 5 %).
    pub share: f64,
    /// The basis of that share.
    pub source: DriftSource,
    /// The number of earlier measurements of the series in this environment.
    pub measurements: usize,
}

/// A series that was not compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotCompared {
    /// The name of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
    /// The name of the metric.
    pub metric: String,
    /// The reason, as a sentence.
    pub why: String,
}

/// The contents of a store, as written by `fathom store info --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `store`.
    #[cfg_attr(test, schemars(extend("const" = "store")))]
    pub kind: String,
    /// The version of Fathom that read it.
    pub fathom_version: String,
    /// The store, without its password.
    pub store: String,
    /// The version of its format.
    pub form: i64,
    /// The number of records.
    pub records: i64,
    /// The number of records whose runs were pruned.
    pub pruned: i64,
    /// The time of the oldest record, RFC 3339, UTC; absent in an empty store.
    pub oldest: Option<String>,
    /// The time of the newest record.
    pub newest: Option<String>,
    /// The number of series.
    pub series: i64,
    /// The number of points in all series.
    pub points: i64,
    /// The number of environments.
    pub environments: i64,
    /// The number of labels in use.
    pub labels: i64,
    /// Renamed benchmarks: old name, new name.
    pub renamed: Vec<(String, String)>,
    /// The total size in bytes.
    pub bytes: u64,
    /// The bytes of the whole records.
    pub record_bytes: i64,
    /// The bytes of the points.
    pub point_bytes: i64,
}
