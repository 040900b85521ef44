//! The complete answer of `fathom startup`: what its `--json` writes.

use serde::{Deserialize, Serialize};

use crate::{Environment, Estimate, Exit, MoreRounds, StopReason, Verdict, Warning, version1};

/// Whether a program's files were left in memory or taken out before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Left as the run before had left them: in memory.
    Warm,
    /// Taken out of the page cache before the run.
    Cold,
}

/// How runs became cold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ColdBy {
    /// The program's own files were evicted (`posix_fadvise`); no privilege needed.
    Evict,
    /// The whole machine's clean caches were dropped (`/proc/sys/vm/drop_caches`, value 3).
    DropCaches,
}

/// Which stretch of a run a duration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StartupMetric {
    /// From the call of `execve` to the first byte on standard output.
    FirstOutput,
    /// From the call of `execve` to the exit.
    Exit,
}

/// Who saw the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StampedBy {
    /// A thread that polls the pipe every few microseconds.
    Watch,
    /// The reader, when it was woken; the time that it then had no CPU is known and taken off.
    WokenReader,
    /// The reader, late by an unknown time.
    LateReader,
}

/// What holds for all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupConditions {
    /// Seed of the order of runs.
    pub seed: u64,
    /// Warm-up rounds that were done and not counted.
    pub warmup_rounds: u32,
    /// Measured rounds.
    pub rounds: u32,
    /// CPUs that the programs were pinned to, if any.
    pub pinned_cpus: Option<Vec<usize>>,
    /// Longest time a run may take, in seconds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub timeout_seconds: Option<f64>,
    /// Margin of the verdicts as a share.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// How runs became cold; absent without cold runs.
    pub cold_by: Option<ColdBy>,
    /// CPUs on which a thread of idle priority watched the pipe. Empty: the reader was only woken.
    pub watching_cpus: Vec<usize>,
}

/// A program that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupProgram {
    /// The command as it was given; not trustworthy: escape it.
    pub name: String,
    /// The command as it was given.
    pub command: String,
    /// The arguments as they are executed, program first.
    pub arguments: Vec<String>,
    /// What really ran up to the first output, in order: scripts, their interpreters, wrappers, the
    /// program itself. Paths with symbolic links resolved; not trustworthy: escape them.
    pub ran: Vec<String>,
}

/// One run. Times are nanoseconds from the call of `execve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupRun {
    /// Index of the program, from 0.
    pub program: usize,
    /// Number of the round, from 0.
    pub round: u32,
    /// Place in the order of all runs, from 0.
    pub position: u32,
    /// Warm or cold.
    pub cache: Cache,
    /// When the first byte was observed on standard output; absent if the run wrote nothing.
    pub first_output_ns: Option<u64>,
    /// Who saw it.
    pub first_output_by: Option<StampedBy>,
    /// For `watch`: how much earlier the byte may have been written, the time since the pipe was
    /// last observed empty.
    pub first_output_uncertainty_ns: Option<u64>,
    /// When its exit was observed, less the time that the launcher had no CPU to observe it. Of a
    /// run that the time limit ended: when Fathom had ended it.
    pub exit_ns: u64,
    /// The launcher's wait could be measured and was taken off.
    pub exit_corrected: bool,
    /// Bytes that it wrote to standard output.
    pub output_bytes: u64,
    /// Time that the main thread was ready to run but had no CPU; absent where the kernel doesn't
    /// say.
    #[serde(default)]
    pub run_queue_wait_ns: Option<u64>,
    /// As [`crate::Run::throttled_ns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// `run_queue_wait_ns` is all that the program waited for a CPU: it had one thread and no
    /// children.
    #[serde(default)]
    pub wait_is_exact: bool,
    /// CPU time, user and kernel, of the process and the children that it waited for.
    pub cpu_ns: u64,
    /// Page faults served without the storage device.
    pub minor_faults: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// The CPU on which it ran last, where the kernel says.
    #[serde(default)]
    pub cpu: Option<usize>,
    /// Cycles that an addition took beside others on the run's CPU right after it: more where
    /// something else was at work on the core's other hardware thread. Absent where that isn't
    /// known.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub cycles_per_addition: Option<f64>,
    /// Bytes fetched from the storage device; absent where the kernel refuses to tell.
    pub read_bytes: Option<u64>,
    /// A cold run that read nothing: it was not cold and counts for nothing.
    #[serde(rename = "not_cold", alias = "void")]
    pub void: bool,
    /// Processes that it left running; they were ended after the run.
    pub left_behind: u32,
    /// How it ended.
    pub exit: Exit,
}

impl StartupRun {
    /// As [`crate::Run::waited_for_others_ns`], of the main thread; `None` where the kernel doesn't
    /// say.
    pub fn waited_for_others_ns(&self) -> Option<u64> {
        let throttled = self.throttled_ns.unwrap_or(0);
        Some(self.run_queue_wait_ns?.saturating_sub(throttled))
    }
}

/// The distribution of one stretch over the runs of one program that are not void. Seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupSummary {
    /// Index of the program.
    pub program: usize,
    /// Warm or cold.
    pub cache: Cache,
    /// Which stretch.
    pub metric: StartupMetric,
    /// Number of runs that had a value.
    pub runs: usize,
    /// Cold runs that were left out because they read nothing.
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
    /// The runs by whether they had their core for themselves; absent where that isn't known.
    #[serde(default)]
    pub by_core: Option<ByCore>,
}

/// A median over the runs that had a core for themselves, and over those that something on its
/// other hardware thread took a part from: another program, or another virtual machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ByCore {
    /// Number of runs that had it for themselves.
    pub alone_runs: usize,
    /// Their median, seconds; absent with too few.
    pub alone_p50: Option<Estimate>,
    /// Number of the others.
    pub shared_runs: usize,
    /// Their median likewise.
    pub shared_p50: Option<Estimate>,
}

/// Two programs compared round by round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupComparison {
    /// Index of the program that is compared with.
    pub reference: usize,
    /// Index of the program that is compared.
    pub subject: usize,
    /// Warm or cold.
    pub cache: Cache,
    /// Which stretch: the exit where one of the two wrote nothing.
    pub metric: StartupMetric,
    /// Rounds in which both have a value.
    pub rounds: usize,
    /// Ratio subject / reference with its interval.
    pub ratio: Estimate,
    /// Two-sided p-value of 'no difference'.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
    /// What follows.
    pub verdict: Verdict,
    /// For an undecided comparison: how many more rounds would decide it.
    pub more_rounds: Option<MoreRounds>,
}

/// A stretch of the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StartupPhase {
    /// Programs that ran before the one that wrote: shims, wrappers, shells.
    Wrappers,
    /// The kernel puts the program in place: from the call of `execve` to its end.
    Exec,
    /// The dynamic loader: from the end of `execve` to the program's first own instruction.
    Loader,
    /// A static program, which has no loader: from the end of `execve` to its first own
    /// instruction.
    Entry,
    /// The language's runtime and `main`, up to the call that writes first. Of a static program
    /// whose first own instruction was not observed: from the end of `execve`.
    RuntimeAndMain,
    /// Where the loader's end could not be observed: loader, runtime and `main` together.
    LoaderToMain,
    /// The call that writes first.
    FirstWrite,
    /// From the end of that call to the exit.
    Exit,
    /// From the first `execve` to the exit: moments in which a thread of the program was ready to
    /// run and none was on a CPU. They are in none of the other phases. Absent where the tier can't
    /// tell.
    WaitingForCpu,
}

/// How long a phase took: the median over the traced runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PhaseTime {
    /// Which.
    pub phase: StartupPhase,
    /// Nanoseconds.
    pub ns: u64,
}

/// A path that was looked for and not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedLookup {
    /// The path; not trustworthy: escape it.
    pub path: String,
    /// The call that asked, such as `openat`.
    pub call: String,
    /// How often.
    pub calls: u64,
}

/// What the traced runs of one program showed. Counts are of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartupTrace {
    /// Index of the program.
    pub program: usize,
    /// How it was observed: `kernel` or `stops`.
    #[serde(deserialize_with = "version1::text")]
    pub tier: String,
    /// Traced runs.
    pub runs: usize,
    /// The phases in order; empty where the tier can't tell.
    pub phases: Vec<PhaseTime>,
    /// Shared libraries that were opened, the loader first; not trustworthy: escape them.
    pub libraries: Vec<String>,
    /// Other files that were opened; not trustworthy: escape them.
    pub files: Vec<String>,
    /// Calls that asked for a path and did not get it.
    pub failed_lookups: u64,
    /// Which paths, most calls first, at most 50.
    #[serde(rename = "failed_lookup_paths", alias = "missing")]
    pub missing: Vec<FailedLookup>,
    /// Bytes that read calls returned.
    pub bytes_read: u64,
    /// Page faults served without the storage device.
    pub minor_faults: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// Median time of the traced runs, divided by that of the timed ones.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub slowdown: Option<f64>,
    /// Which stretch `slowdown` compares: the exit where a run wrote nothing.
    #[serde(default)]
    pub slowdown_metric: Option<StartupMetric>,
    /// Times of the traced runs, observed from both sides at once.
    pub agreement: Option<Agreement>,
    /// What this tier could not see, one sentence each.
    pub not_visible: Vec<String>,
}

/// The same stretch of the same traced runs, as the parent saw it and as the kernel did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Agreement {
    /// One for each traced run, in nanoseconds: (parent side, kernel side).
    pub pairs: Vec<(u64, u64)>,
    /// Median of parent side less kernel side, in nanoseconds.
    pub median_difference_ns: i64,
    /// The largest difference either way, in nanoseconds.
    pub largest_difference_ns: u64,
}

/// One file of a program and what eviction left of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvictedFile {
    /// The file; not trustworthy: escape it.
    pub path: String,
    /// Its pages.
    pub pages: u64,
    /// Pages still in memory after the last eviction; absent where the kernel doesn't tell the
    /// truth (files of others).
    pub pages_left: Option<u64>,
    /// Why it could not be evicted at all, if so.
    pub refused: Option<String>,
    /// Names of running programs that map it, as far as they are visible, at most 20.
    pub mapped_by: Vec<String>,
}

/// What was done to make one program cold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColdEvidence {
    /// Index of the program.
    pub program: usize,
    /// How the files were found: `kernel`, `stops`, or `none` for the program and its interpreter
    /// only.
    #[serde(deserialize_with = "version1::text")]
    pub found_by: String,
    /// The files.
    pub files: Vec<EvictedFile>,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// What `--budget` asked and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Budget {
    /// Seconds allowed.
    pub seconds: f64,
    /// The quantile that is held: `p50`, `p90`, `p99` or `max`.
    pub quantile: String,
    /// One for each program and cache state.
    pub results: Vec<BudgetResult>,
    /// All hold.
    #[serde(rename = "met", alias = "held")]
    pub held: bool,
}

/// The budget against one program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BudgetResult {
    /// Index of the program.
    pub program: usize,
    /// Warm or cold.
    pub cache: Cache,
    /// Which stretch: the exit where nothing was written.
    pub metric: StartupMetric,
    /// The quantile in seconds; absent where all runs were void.
    pub seconds: Option<f64>,
    /// It is within the budget.
    #[serde(rename = "met", alias = "held")]
    pub held: bool,
}

/// Everything that `fathom startup` says.
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
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Where.
    pub environment: Environment,
    /// What holds for all runs.
    pub conditions: StartupConditions,
    /// The programs, in the order in which they were given.
    pub programs: Vec<StartupProgram>,
    /// Every run, in the order in which they were done.
    pub runs: Vec<StartupRun>,
    /// False while measuring is going on, or when it was cut short.
    pub complete: bool,
    /// Why measuring ended.
    pub stop: StopReason,
    /// Distributions by program, cache and stretch.
    pub summaries: Vec<StartupSummary>,
    /// Each program against the first.
    pub comparisons: Vec<StartupComparison>,
    /// Median time of the empty program from the call of `execve` to its exit, in seconds.
    pub floor: Option<Estimate>,
    /// What was observed of each program; empty where nothing may observe.
    pub traces: Vec<StartupTrace>,
    /// What cold means here; empty without cold runs.
    pub cold: Vec<ColdEvidence>,
    /// Whether `--budget` holds; absent if it wasn't asked.
    pub budget: Option<Budget>,
    /// What must be known to trust the numbers.
    pub warnings: Vec<Warning>,
}
