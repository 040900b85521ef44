//! The complete record of a `bench` session: what `--json` writes.

use serde::{Deserialize, Serialize};

use crate::{AskedMetric, Comparison, Environment, Estimate, Run, Summary, version1};

/// Version of the JSON form. It rises when a key changes its meaning or goes away. Records of
/// version 1, which had other words for some keys and values, are read as well (each `alias`, and
/// `version1`).
pub const SCHEMA_VERSION: u32 = 2;

/// Where a benchmark's standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputFrom {
    /// `/dev/null`.
    Null,
    /// A file, by path.
    File(String),
}

/// Where a benchmark's standard output goes. It is a condition of the result: programs buffer
/// differently for a pipe, a file and a terminal, and some do nothing at all for `/dev/null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputTo {
    /// `/dev/null`.
    Null,
    /// A pipe that Fathom drains.
    Pipe,
    /// A file, by path, emptied before each run.
    File(String),
    /// Fathom's own standard output.
    Inherit,
}

/// One named command with its input and conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Benchmark {
    /// Name under which it is shown: `-n`, else the command as it was given.
    pub name: String,
    /// The command as it was given, for people (where it isn't UTF-8, bytes are written as `\xff`).
    pub command: String,
    /// The arguments as they are executed, program first (lossy where they aren't UTF-8).
    pub arguments: Vec<String>,
    /// The same arguments as bytes, only where `arguments` is lossy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_bytes: Option<Vec<Vec<u8>>>,
    /// The shell that interprets the command, if any.
    pub shell: Option<String>,
    /// Parameters of a scan, in the order of definition.
    pub parameters: Vec<(String, String)>,
    /// Standard input.
    pub input: InputFrom,
    /// Standard output.
    pub output: OutputTo,
    /// Working directory, if it was set.
    pub working_directory: Option<String>,
    /// Variables added to the environment. A secret, known by its name, is `redacted-` and a hash under
    /// the user's key.
    pub environment_variables: Vec<(String, String)>,
}

/// In which order the runs of a round are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOrder {
    /// A new one for each round, by chance, so that drift hits all benchmarks alike.
    #[default]
    Random,
    /// Always that in which the benchmarks are given.
    Fixed,
}

/// What holds for all benchmarks of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Seed of the order of runs, and of what else is left to chance.
    pub seed: u64,
    /// In which order the runs of a round were made. Records of before this was written down: at random.
    #[serde(default)]
    pub order: RunOrder,
    /// Warm-up runs of each benchmark that were done and not counted.
    pub warmup_runs: u32,
    /// CPUs that the commands were pinned to, if any.
    pub pinned_cpus: Option<Vec<usize>>,
    /// Longest time a run may take, in seconds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub timeout_seconds: Option<f64>,
    /// Margin of the verdicts as a share.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// The metrics that were asked for, the first of which is the one of the answer. Empty: the clock that
    /// carries verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<AskedMetric>,
    /// Whether the size of the environment was varied from run to run.
    pub environment_size_randomised: bool,
}

/// The cost of running nothing: an empty static program, run the same way in the same rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Floor {
    /// Number of runs of the empty program.
    pub runs: usize,
    /// Median wall time in seconds, less waits for a CPU where they are known.
    pub wall: Estimate,
}

/// Why measuring ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The number of runs that was asked for.
    RunCount,
    /// All comparisons were decided.
    Decided,
    /// The interval was as narrow as asked.
    Precise,
    /// The time was used up.
    TimeBudget,
    /// The largest number of rounds was reached.
    MaximumRounds,
    /// Interrupted by the user.
    Interrupted,
    /// A run failed.
    Failed,
}

/// Something that the reader must know to trust the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warning {
    /// Stable identifier, such as `two_modes`.
    #[serde(deserialize_with = "version1::text")]
    pub id: String,
    /// The benchmark that it concerns, if it concerns one.
    pub benchmark: Option<usize>,
    /// A sentence for people.
    pub message: String,
}

/// What is said of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkResult {
    /// Index of the benchmark.
    pub benchmark: usize,
    /// Runs that ended with something other than success and were kept under `--ignore-failure`.
    pub failures: usize,
    /// One summary for each metric that has values.
    pub summaries: Vec<Summary>,
}

/// What follows from the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Why measuring ended.
    pub stop: StopReason,
    /// One for each benchmark.
    pub results: Vec<BenchmarkResult>,
    /// The comparisons that carry the verdict, one for each benchmark but the reference; of several metrics
    /// that were asked for one after the other.
    pub comparisons: Vec<Comparison>,
    /// The same pairs compared on the other clock (wall against undisturbed time), where it exists.
    pub cross_checks: Vec<Comparison>,
    /// Where no metric was asked for: the same pairs in the metrics besides time that differ clearly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_differ: Vec<Comparison>,
    /// Where the commands are one command with several delays: how much of these came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<crate::Slope>,
    /// The empty program.
    pub floor: Option<Floor>,
    /// What must be known to trust the numbers: it changes what to believe, or what to do.
    pub warnings: Vec<Warning>,
    /// What is known besides, and changes neither.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Warning>,
    /// The runs to warm up, which count nowhere; of those in the last such round standard output
    /// went to a pipe where it goes to `/dev/null` in all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmups: Vec<Run>,
}

/// Everything about a session. In the JSON file the runs come before the outcome, so that the file
/// is whole after every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchRecord {
    /// [`SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `bench`.
    #[cfg_attr(test, schemars(extend("const" = "bench")))]
    pub kind: String,
    /// Version of Fathom that measured.
    pub fathom_version: String,
    /// Start of the session, RFC 3339, UTC.
    pub started_at: String,
    /// Where it was measured.
    pub environment: Environment,
    /// The job that it was made in, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// What holds for all benchmarks.
    pub conditions: Conditions,
    /// The benchmarks, in the order in which they were given.
    pub benchmarks: Vec<Benchmark>,
    /// Every run, in the order in which they were done.
    pub runs: Vec<Run>,
    /// False while measuring is going on, or when it was cut short.
    pub complete: bool,
    /// What follows; absent while measuring is going on.
    pub outcome: Option<Outcome>,
}
