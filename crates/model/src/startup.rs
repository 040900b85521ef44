//! The complete answer of `fathom startup`, as written by its `--json`.

use serde::{Deserialize, Serialize};

use crate::{
    Environment, Estimate, Exit, Finding, MoreRounds, StopReason, Verdict, Warning, version1,
};

/// Whether a program's files were left in memory or evicted before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Left in memory by the previous run.
    Warm,
    /// Evicted from the page cache before the run.
    Cold,
}

/// How runs were made cold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ColdBy {
    /// The program's own files were evicted (`posix_fadvise`); no privilege needed.
    Evict,
    /// The whole machine's clean caches were dropped (`/proc/sys/vm/drop_caches`, value 3).
    DropCaches,
}

/// The interval of a run that a duration covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StartupMetric {
    /// From the call of `execve` to the first byte on standard output.
    FirstOutput,
    /// From the call of `execve` to the exit.
    Exit,
}

/// What saw the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StampedBy {
    /// A thread that polls the pipe every few microseconds.
    Watch,
    /// The reader, when it was woken; its known wait for a CPU is subtracted.
    WokenReader,
    /// The reader, late by an unknown time.
    LateReader,
}

/// The conditions of all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupConditions {
    /// The seed of the run order.
    pub seed: u64,
    /// The number of uncounted warm-up rounds.
    pub warmup_rounds: u32,
    /// The number of measured rounds.
    pub rounds: u32,
    /// The CPUs to which the programs were pinned, if any.
    pub pinned_cpus: Option<Vec<usize>>,
    /// The time limit of a run, in seconds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub timeout_seconds: Option<f64>,
    /// The margin of the verdicts, as a share.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// How runs were made cold; absent without cold runs.
    pub cold_by: Option<ColdBy>,
    /// The CPUs on which a thread of idle priority watched the pipe. If empty, only a sleeping reader did.
    pub watching_cpus: Vec<usize>,
}

/// A measured program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupProgram {
    /// The command as given; not trustworthy: escape it.
    pub name: String,
    /// The command as given.
    pub command: String,
    /// The arguments as executed, starting with the program.
    pub arguments: Vec<String>,
    /// What really ran up to the first output, in order: scripts, their interpreters, wrappers, and the
    /// program itself. Symbolic links in paths are resolved; not trustworthy: escape them.
    pub ran: Vec<String>,
}

/// One run. Times are nanoseconds from the call of `execve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupRun {
    /// The index of the program, from 0.
    pub program: usize,
    /// The number of the round, from 0.
    pub round: u32,
    /// The position in the order of all runs, from 0.
    pub position: u32,
    /// Warm or cold.
    pub cache: Cache,
    /// When the first byte was seen on standard output; absent if the run wrote nothing.
    pub first_output_ns: Option<u64>,
    /// What saw the first byte.
    pub first_output_by: Option<StampedBy>,
    /// For `watch`: how much earlier the byte may have been written. This is the time since the pipe was last
    /// seen empty.
    pub first_output_uncertainty_ns: Option<u64>,
    /// When the exit was observed, minus the time in which the launcher had no CPU to observe it. If the time
    /// limit ended the run: when Fathom had killed it.
    pub exit_ns: u64,
    /// Whether the launcher's wait could be measured and was subtracted.
    pub exit_corrected: bool,
    /// The number of bytes it wrote to standard output.
    pub output_bytes: u64,
    /// The time that the main thread was ready to run but had no CPU; absent if the kernel doesn't report it.
    #[serde(default)]
    pub run_queue_wait_ns: Option<u64>,
    /// As in [`crate::Run::throttled_ns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Whether `run_queue_wait_ns` is the program's total wait for a CPU: it had one thread and no children.
    #[serde(default)]
    pub wait_is_exact: bool,
    /// CPU time, user and kernel, of the process and the children it waited for.
    pub cpu_ns: u64,
    /// Page faults served without the storage device.
    pub minor_faults: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// The CPU on which it last ran, if the kernel reports it.
    #[serde(default)]
    pub cpu: Option<usize>,
    /// The number of cycles that an addition took alongside others on the run's CPU right after it: higher if
    /// something was running on the core's other hardware thread. Absent if unknown.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub cycles_per_addition: Option<f64>,
    /// Bytes fetched from the storage device; absent if the kernel doesn't permit reading them.
    pub read_bytes: Option<u64>,
    /// Whether it is a cold run that read nothing: it was not cold and doesn't count.
    #[serde(rename = "not_cold", alias = "void")]
    pub void: bool,
    /// The number of processes that it left running; they were killed after the run.
    pub left_behind: u32,
    /// How it ended.
    pub exit: Exit,
}

impl StartupRun {
    /// As in [`crate::Run::waited_for_others_ns`], for the main thread; `None` if the kernel doesn't report
    /// it.
    pub fn waited_for_others_ns(&self) -> Option<u64> {
        let throttled = self.throttled_ns.unwrap_or(0);
        Some(self.run_queue_wait_ns?.saturating_sub(throttled))
    }
}

/// The distribution of one interval over the valid runs of one program, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupSummary {
    /// The index of the program.
    pub program: usize,
    /// Warm or cold.
    pub cache: Cache,
    /// The interval.
    pub metric: StartupMetric,
    /// The number of runs that had a value.
    pub runs: usize,
    /// The number of cold runs that were excluded because they read nothing.
    #[serde(rename = "not_cold_runs", alias = "void_runs")]
    pub void_runs: usize,
    /// The smallest value.
    #[serde(rename = "min", alias = "floor")]
    pub floor: f64,
    /// Median with its distribution-free interval.
    pub p50: Estimate,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
    /// The runs by whether they had their core to themselves; absent if unknown.
    #[serde(default)]
    pub by_core: Option<ByCore>,
}

/// A median over the runs that had a core to themselves, and over those that shared it with something on its
/// other hardware thread: another program, or another virtual machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ByCore {
    /// The number of runs that had their core to themselves.
    pub alone_runs: usize,
    /// The median of these runs in seconds; absent if there are too few.
    pub alone_p50: Option<Estimate>,
    /// The number of runs that shared their core.
    pub shared_runs: usize,
    /// The median of these runs in seconds; absent if there are too few.
    pub shared_p50: Option<Estimate>,
}

/// A round-by-round comparison of two programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupComparison {
    /// The index of the reference program.
    pub reference: usize,
    /// The index of the subject program.
    pub subject: usize,
    /// Warm or cold.
    pub cache: Cache,
    /// The compared interval: up to the exit if one of the two programs wrote nothing.
    pub metric: StartupMetric,
    /// The number of rounds in which both have a value.
    pub rounds: usize,
    /// The ratio subject / reference, with its interval.
    pub ratio: Estimate,
    /// Two-sided p-value of 'no difference'.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// For an undecided comparison: how many more rounds would decide it.
    pub more_rounds: Option<MoreRounds>,
}

/// A phase of the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StartupPhase {
    /// Programs that ran before the one that wrote: shims, wrappers, shells.
    Wrappers,
    /// The kernel loads the program: from the call of `execve` to its end.
    Exec,
    /// The dynamic loader: from the end of `execve` to the program's first own instruction.
    Loader,
    /// For a static program, which has no loader: from the end of `execve` to its first own instruction.
    Entry,
    /// The language's runtime and `main`, up to the call that writes first. For a static program whose first
    /// own instruction was not observed: from the end of `execve`.
    RuntimeAndMain,
    /// If the loader's end could not be observed: loader, runtime and `main` together.
    LoaderToMain,
    /// The call that writes first.
    FirstWrite,
    /// From the end of the first write to the exit.
    Exit,
    /// From the first `execve` to the exit: the time in which a thread of the program was ready to run and
    /// none was on a CPU. It is in none of the other phases. Absent if the tier can't determine it.
    WaitingForCpu,
}

/// How long a phase took: the median over the traced runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PhaseTime {
    /// The phase.
    pub phase: StartupPhase,
    /// The duration in nanoseconds.
    pub ns: u64,
}

/// A path that was looked up and not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedLookup {
    /// The path; not trustworthy: escape it.
    pub path: String,
    /// The call that looked it up, such as `openat`.
    pub call: String,
    /// The number of calls.
    pub calls: u64,
}

/// The result of one program's traced runs. Counts are for one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupTrace {
    /// The index of the program.
    pub program: usize,
    /// How it was observed: `kernel` or `stops`.
    #[serde(deserialize_with = "version1::text")]
    pub tier: String,
    /// The number of traced runs.
    pub runs: usize,
    /// The phases in order; empty if the tier can't determine them.
    pub phases: Vec<PhaseTime>,
    /// Shared libraries that were opened, the loader first; not trustworthy: escape them.
    pub libraries: Vec<String>,
    /// Other files that were opened; not trustworthy: escape them.
    pub files: Vec<String>,
    /// The number of calls that looked up a path and failed.
    pub failed_lookups: u64,
    /// The paths of those lookups, most calls first, at most 50.
    #[serde(rename = "failed_lookup_paths", alias = "missing")]
    pub missing: Vec<FailedLookup>,
    /// Bytes that read calls returned.
    pub bytes_read: u64,
    /// Page faults served without the storage device.
    pub minor_faults: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// The median time of the traced runs divided by that of the timed ones.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub slowdown: Option<f64>,
    /// The interval that `slowdown` compares: up to the exit if a run wrote nothing.
    #[serde(default)]
    pub slowdown_metric: Option<StartupMetric>,
    /// Times of the traced runs, observed from both sides at once.
    pub agreement: Option<Agreement>,
    /// What this tier could not see, one sentence each.
    pub not_visible: Vec<String>,
    /// What makes the start long, as `why` finds it: `startup-dominated` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// The same interval of the same traced runs, as seen by the parent and by the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Agreement {
    /// One pair for each traced run, in nanoseconds: (parent side, kernel side).
    pub pairs: Vec<(u64, u64)>,
    /// The median of parent side minus kernel side, in nanoseconds.
    pub median_difference_ns: i64,
    /// The largest difference in either direction, in nanoseconds.
    pub largest_difference_ns: u64,
}

/// One file of a program, and what remained of it after eviction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvictedFile {
    /// The file; not trustworthy: escape it.
    pub path: String,
    /// The number of its pages.
    pub pages: u64,
    /// The number of pages still in memory after the last eviction; absent if the kernel's answer isn't
    /// reliable (files of other users).
    pub pages_left: Option<u64>,
    /// Why it could not be evicted at all, if so.
    pub refused: Option<String>,
    /// Names of running programs that map it, as far as they are visible, at most 20.
    pub mapped_by: Vec<String>,
}

/// How one program was made cold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColdEvidence {
    /// The index of the program.
    pub program: usize,
    /// How the files were found: `kernel`, `stops`, or `none` if only the program and its interpreter are
    /// listed.
    #[serde(deserialize_with = "version1::text")]
    pub found_by: String,
    /// The files.
    pub files: Vec<EvictedFile>,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// The limit of `--budget`, and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Budget {
    /// The limit in seconds.
    pub seconds: f64,
    /// The quantile it applies to: `p50`, `p90`, `p99` or `max`.
    pub quantile: String,
    /// One result for each program and cache state.
    pub results: Vec<BudgetResult>,
    /// Whether all results are within the budget.
    #[serde(rename = "met", alias = "held")]
    pub held: bool,
}

/// The result of the budget for one program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BudgetResult {
    /// The index of the program.
    pub program: usize,
    /// Warm or cold.
    pub cache: Cache,
    /// The interval: up to the exit if nothing was written.
    pub metric: StartupMetric,
    /// The quantile in seconds; absent if all runs were invalid.
    pub seconds: Option<f64>,
    /// Whether it is within the budget.
    #[serde(rename = "met", alias = "held")]
    pub held: bool,
}

/// The complete record of `fathom startup`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `startup`.
    #[cfg_attr(test, schemars(extend("const" = "startup")))]
    pub kind: String,
    /// Version of Fathom.
    pub fathom_version: String,
    /// The start, RFC 3339, UTC.
    pub started_at: String,
    /// The environment.
    pub environment: Environment,
    /// The conditions of all runs.
    pub conditions: StartupConditions,
    /// The programs, in the order in which they were given.
    pub programs: Vec<StartupProgram>,
    /// All runs, in the order in which they were executed.
    pub runs: Vec<StartupRun>,
    /// False while measuring is in progress, or if it was cut short.
    pub complete: bool,
    /// Why measuring ended.
    pub stop: StopReason,
    /// The distributions by program, cache state and interval.
    pub summaries: Vec<StartupSummary>,
    /// The comparisons of each program with the first.
    pub comparisons: Vec<StartupComparison>,
    /// The median time of the empty program from the call of `execve` to its exit, in seconds.
    pub floor: Option<Estimate>,
    /// The observations of each program; empty if observing is not permitted.
    pub traces: Vec<StartupTrace>,
    /// How programs were made cold; empty without cold runs.
    pub cold: Vec<ColdEvidence>,
    /// The result of `--budget`; absent if it wasn't given.
    pub budget: Option<Budget>,
    /// Warnings about how far the numbers can be trusted.
    pub warnings: Vec<Warning>,
}
