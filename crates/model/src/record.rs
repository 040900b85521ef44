//! The complete record of a `bench` session, as written by `--json`.

use serde::{Deserialize, Serialize};

use crate::{AskedMetric, Comparison, Environment, Estimate, Run, Summary, version1};

/// The version of the JSON format. It increases when a key changes its meaning or is removed. Records of
/// version 1, which used other words for some keys and values, are read as well (each `alias`, and
/// `version1`).
pub const SCHEMA_VERSION: u32 = 2;

/// The source of a benchmark's standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputFrom {
    /// `/dev/null`.
    Null,
    /// A file, by path.
    File(String),
}

/// The destination of a benchmark's standard output. It is a condition of the result: programs buffer
/// differently for a pipe, a file and a terminal, and some do nothing at all for `/dev/null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputTo {
    /// `/dev/null`.
    Null,
    /// A pipe that Fathom drains.
    Pipe,
    /// A file, by path, truncated before each run.
    File(String),
    /// Fathom's own standard output.
    Inherit,
}

/// One named command with its input and conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Benchmark {
    /// The display name: from `-n`, otherwise the command as given.
    pub name: String,
    /// The command as given, for display (bytes that aren't UTF-8 are written as `\xff`).
    pub command: String,
    /// The arguments as executed, starting with the program (lossy if they aren't UTF-8).
    pub arguments: Vec<String>,
    /// The same arguments as bytes, only if `arguments` is lossy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_bytes: Option<Vec<Vec<u8>>>,
    /// The shell that interprets the command, if any.
    pub shell: Option<String>,
    /// The parameters of a scan, in order of definition.
    pub parameters: Vec<(String, String)>,
    /// The source of standard input.
    pub input: InputFrom,
    /// The destination of standard output.
    pub output: OutputTo,
    /// The working directory, if set.
    pub working_directory: Option<String>,
    /// Variables added to the environment. A secret, recognized by its name, is replaced by `redacted-` and a
    /// hash under the user's key.
    pub environment_variables: Vec<(String, String)>,
}

/// The order of the runs within a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOrder {
    /// A new random order for each round, so that drift affects all benchmarks equally.
    #[default]
    Random,
    /// Always the order in which the benchmarks are given.
    Fixed,
}

/// The conditions of all benchmarks of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conditions {
    /// The seed of the run order, and of all other random choices.
    pub seed: u64,
    /// The order of the runs within a round. Older records without this field used a random order.
    #[serde(default)]
    pub order: RunOrder,
    /// The number of uncounted warm-up runs of each benchmark.
    pub warmup_runs: u32,
    /// The CPUs to which the commands were pinned, if any.
    pub pinned_cpus: Option<Vec<usize>>,
    /// The time limit of a run, in seconds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub timeout_seconds: Option<f64>,
    /// The margin of the verdicts, as a share.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// The requested metrics; the first one determines the answer. If empty, the clock that carries verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<AskedMetric>,
    /// Whether the size of the environment was varied from run to run.
    pub environment_size_randomised: bool,
}

/// The cost of running nothing: an empty static program, run in the same way and in the same rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Floor {
    /// Number of runs of the empty program.
    pub runs: usize,
    /// The median wall time in seconds, without waits for a CPU if those are known.
    pub wall: Estimate,
}

/// Why measuring ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The requested number of runs was reached.
    RunCount,
    /// All comparisons were decided.
    Decided,
    /// The interval was as narrow as requested.
    Precise,
    /// The time limit was reached.
    TimeBudget,
    /// The maximum number of rounds was reached.
    MaximumRounds,
    /// Interrupted by the user.
    Interrupted,
    /// A run failed.
    Failed,
}

/// A warning about how far the numbers can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warning {
    /// A stable identifier, such as `two_modes`.
    #[serde(deserialize_with = "version1::text")]
    pub id: String,
    /// The benchmark it concerns, if any.
    pub benchmark: Option<usize>,
    /// A sentence for display.
    pub message: String,
}

/// The results of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkResult {
    /// Index of the benchmark.
    pub benchmark: usize,
    /// The number of runs that failed and were kept under `--ignore-failure`.
    pub failures: usize,
    /// One summary for each metric that has values.
    pub summaries: Vec<Summary>,
}

/// The conclusions drawn from the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Why measuring ended.
    pub stop: StopReason,
    /// The results, one for each benchmark.
    pub results: Vec<BenchmarkResult>,
    /// The comparisons that carry the verdict, one for each benchmark except the reference; for several
    /// requested metrics, one after the other.
    pub comparisons: Vec<Comparison>,
    /// The same pairs compared on the other clock (wall against undisturbed time), if available.
    pub cross_checks: Vec<Comparison>,
    /// If no metric was requested: the same pairs in metrics other than time that differ clearly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_differ: Vec<Comparison>,
    /// If the benchmarks are one command with several delays: how much of the delays appeared in the total
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<crate::Slope>,
    /// The empty program.
    pub floor: Option<Floor>,
    /// Warnings about how far the numbers can be trusted, which change what to believe or what to do.
    pub warnings: Vec<Warning>,
    /// Additional observations, which change neither what to believe nor what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Warning>,
    /// The warm-up runs, which don't count. In the last warm-up round, standard output goes to a pipe if it
    /// goes to `/dev/null` in all other rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmups: Vec<Run>,
}

/// The complete record of a session. In the JSON file, the runs precede the outcome, so the file can be valid
/// after every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchRecord {
    /// [`SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `bench`.
    #[cfg_attr(test, schemars(extend("const" = "bench")))]
    pub kind: String,
    /// The version of Fathom that measured.
    pub fathom_version: String,
    /// The start of the session, RFC 3339, UTC.
    pub started_at: String,
    /// The environment of the measurement.
    pub environment: Environment,
    /// The job in which this record was made, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// The conditions of all benchmarks.
    pub conditions: Conditions,
    /// The benchmarks, in the order in which they were given.
    pub benchmarks: Vec<Benchmark>,
    /// All runs, in the order in which they were executed.
    pub runs: Vec<Run>,
    /// False while measuring is in progress, or if it was cut short.
    pub complete: bool,
    /// The conclusions; absent while measuring is in progress.
    pub outcome: Option<Outcome>,
}
