//! The records of `history` and `compare`: what was measured at different times.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Verdict};

/// Series with their points: what `fathom history --json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `history`.
    #[cfg_attr(test, schemars(extend("const" = "history")))]
    pub kind: String,
    /// Version of Fathom that read the store.
    pub fathom_version: String,
    /// The store, without its password.
    pub store: String,
    /// Environments of the points.
    pub environments: Vec<HistoryEnvironment>,
    /// The series, those that were measured last first.
    pub series: Vec<HistorySeries>,
}

/// What decides whether points may be compared. Fields that the system did not report are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryEnvironment {
    /// Short and stable: equal facts have an equal key on every machine.
    #[serde(default)]
    pub key: String,
    /// Operating system and kernel release.
    pub kernel: Option<String>,
    /// Processor architecture.
    pub architecture: Option<String>,
    /// Processor model name.
    pub cpu_model: Option<String>,
    /// CPUs that Fathom could use.
    pub cpus: Option<u64>,
    /// Memory in whole GiB, as bytes.
    pub memory_bytes: Option<u64>,
    /// Frequency governor of CPU 0.
    pub governor: Option<String>,
    /// Whether the processor says that it runs under a hypervisor.
    pub virtual_machine: Option<bool>,
}

/// One metric of one benchmark over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistorySeries {
    /// Name of the benchmark; not trustworthy: escape it.
    pub benchmark: String,
    /// Its parameters, names and values.
    pub parameters: Vec<(String, String)>,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// `lower_is_better` or `higher_is_better`, where that is known.
    #[cfg_attr(test, schemars(with = "Option<crate::Direction>"))]
    pub direction: Option<String>,
    /// What the metric is, in words.
    pub meaning: String,
    /// By time, oldest first.
    pub points: Vec<HistoryPoint>,
}

/// One measurement of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryPoint {
    /// Commit that was measured; absent outside of a repository.
    pub revision: Option<String>,
    /// Branch; absent on a detached head.
    pub branch: Option<String>,
    /// Tracked files differed from the commit.
    pub dirty: bool,
    /// Names that the record was given.
    pub labels: Vec<String>,
    /// Start of the measurement, RFC 3339, UTC.
    pub time: String,
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Runs that it comes from.
    pub runs: u32,
    /// Key of its environment.
    pub environment: String,
    /// Id of its record.
    pub record: String,
}

/// Two sides compared that were measured at different times: what `fathom compare --json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `compare`.
    #[cfg_attr(test, schemars(extend("const" = "compare")))]
    pub kind: String,
    /// Version of Fathom that compared.
    pub fathom_version: String,
    /// What is compared with.
    pub base: CompareSide,
    /// What is compared.
    pub head: CompareSide,
    /// One for each series that both sides have.
    pub comparisons: Vec<StoredComparison>,
    /// What was not compared, and why.
    pub left_out: Vec<NotCompared>,
    /// What must be known to trust the verdicts, a sentence each.
    pub warnings: Vec<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareSide {
    /// As it was asked for.
    pub asked: String,
    /// The revision, if all its measurements are of one.
    pub revision: Option<String>,
    /// Ids of its records; empty for a file.
    pub records: Vec<String>,
    /// The file, if it is one.
    pub file: Option<String>,
}

/// One metric of one benchmark on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredComparison {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// Whether more is better, where that is known.
    pub higher_is_better: Option<bool>,
    /// What was measured of the base.
    pub base: StoredValue,
    /// What was measured of the head.
    pub head: StoredValue,
    /// Head / base with its interval, the drift between measurements included.
    pub ratio: Estimate,
    /// Two-sided p-value of 'no difference', the drift included.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
    /// The drift that is allowed for.
    pub drift: Drift,
    /// Differences up to this share count as none.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// What follows; where the direction isn't known, [`Verdict::Faster`] is less and
    /// [`Verdict::Slower`] more.
    pub verdict: Verdict,
    /// Both were not measured in the same environment.
    pub across_environments: bool,
    /// The command that measures both together, and so decides without the drift; absent where it
    /// can't be known.
    pub together: Option<String>,
}

impl StoredComparison {
    /// The word for the verdict; where it isn't known whether more is better, one that doesn't judge.
    pub fn word(&self) -> &'static str {
        self.verdict.word_for(self.higher_is_better)
    }
}

/// What is known of one side of a stored comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredValue {
    /// Median with its interval, without the drift.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Runs of all its measurements.
    pub runs: u32,
    /// Separate measurements.
    pub measurements: usize,
    /// Of a load test: the share of requests that had no good answer, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub failed_share: Option<f64>,
}

/// From this share of failed requests on, a load test says how fast errors are.
const MOSTLY_FAILED: f64 = 0.5;

impl StoredValue {
    /// Whether it is a load test most of whose requests failed.
    pub fn is_of_failures(&self) -> bool {
        self.failed_share
            .is_some_and(|share| share >= MOSTLY_FAILED)
    }
}

/// Where the drift comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DriftSource {
    /// Measurements of the same revision at different times.
    SameRevision,
    /// Successive measurements, of whatever revision: real changes widen it.
    Successive,
    /// Assumed: fewer than four earlier measurements.
    Assumed,
    /// The noise floor that `fathom machine --check` measured, where that is larger than what would
    /// be assumed.
    NoiseFloor,
    /// What the runs of both sides waited for a CPU, where that is larger than the other allowance and can't
    /// be taken off.
    Waits,
    /// Nothing drifts: counted exactly, or both sides are the same measurement.
    None,
}

/// How far separate measurements of the same thing lie from each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Drift {
    /// By so much two measurements of the same may differ, in 95 of 100 cases (0.05 is 5 %).
    pub share: f64,
    /// What that rests on.
    pub source: DriftSource,
    /// Earlier measurements of the series in this environment.
    pub measurements: usize,
}

/// A series that was not compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotCompared {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
    /// Name of the metric.
    pub metric: String,
    /// Why, a sentence.
    pub why: String,
}

/// What is in a store: what `fathom store info --json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `store`.
    #[cfg_attr(test, schemars(extend("const" = "store")))]
    pub kind: String,
    /// Version of Fathom that read it.
    pub fathom_version: String,
    /// The store, without its password.
    pub store: String,
    /// Version of its form.
    pub form: i64,
    /// Records.
    pub records: i64,
    /// Of them, those whose runs were pruned.
    pub pruned: i64,
    /// Time of the oldest record, RFC 3339, UTC; absent in an empty store.
    pub oldest: Option<String>,
    /// Time of the newest record.
    pub newest: Option<String>,
    /// Series.
    pub series: i64,
    /// Points of all series.
    pub points: i64,
    /// Environments.
    pub environments: i64,
    /// Labels that are in use.
    pub labels: i64,
    /// Renamed benchmarks: old name, new name.
    pub renamed: Vec<(String, String)>,
    /// Bytes of everything.
    pub bytes: u64,
    /// Of them, the whole records.
    pub record_bytes: i64,
    /// And the points.
    pub point_bytes: i64,
}
