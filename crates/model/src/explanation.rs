//! The complete answer of `fathom why`: what its `--json` writes.

use serde::{Deserialize, Serialize};

use crate::{
    CodePaths, Environment, Estimate, Finding, ThreadAccount, TimeAccount, WhereRow, version1,
};

/// The runs that were timed and not traced: their times are the times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimedRuns {
    /// Number of runs.
    pub runs: usize,
    /// Median wall time in seconds.
    pub wall: Estimate,
    /// Median CPU time in seconds.
    pub cpu: Estimate,
    /// Median peak memory in bytes.
    pub peak_memory: Estimate,
    /// Median wall time of the empty program in seconds.
    pub floor: Option<Estimate>,
}

/// How the observed run was done, and what it may be trusted for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explaining {
    /// `kernel`, `perf`, `sample` or `stops`.
    #[serde(deserialize_with = "version1::text")]
    pub tier: String,
    /// Wall time of the observed run in nanoseconds.
    pub wall_ns: u64,
    /// Its wall time divided by the median wall time of the timed runs, waiting for a CPU included
    /// in both.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub slowdown: f64,
    /// False when `slowdown` is over 1.1: then its times are only quoted as modelled, and shares
    /// are those of an untraced run.
    #[serde(rename = "times_are_measured", alias = "times_are_quoted")]
    pub times_are_quoted: bool,
    /// Options that the observed run was given beside what the timed runs were, to name the code
    /// that its runtime makes; absent where there were none. Not trustworthy: escape it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
    /// The command that gives names to functions where code that a runtime makes has none here;
    /// absent where it has, or nothing would. Not trustworthy: escape it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_by: Option<String>,
    /// What this tier could not see, one sentence each.
    pub not_visible: Vec<String>,
    /// What was observed and could not be kept, in words; empty if nothing was lost.
    pub lost: Vec<String>,
}

/// A descriptor or path and what went through it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IoRow {
    /// Process.
    pub pid: u32,
    /// Descriptor; absent where several calls on a path are summed.
    pub fd: Option<i32>,
    /// Path, or `pipe`, `socket` and the like; not trustworthy: escape it.
    pub name: String,
    /// Read calls.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write calls.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time in all calls on it, of all threads: on a CPU and asleep, without waiting for a CPU.
    /// Absent where the observer can't tell it.
    pub total_ns: Option<u64>,
    /// Of `total_ns`: asleep.
    pub blocked_ns: Option<u64>,
    /// Calls that returned an error.
    pub errors: u64,
    /// Seeks.
    pub seeks: u64,
}

/// A system call and what it cost, over all threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallRow {
    /// Name.
    pub name: String,
    /// Calls that were made, also those that didn't return.
    pub calls: u64,
    /// Calls that returned an error.
    pub errors: u64,
    /// Time from entry to return, without waiting for a CPU. Absent where the observer can't tell
    /// it.
    pub total_ns: Option<u64>,
    /// Of `total_ns`: asleep.
    pub blocked_ns: Option<u64>,
    /// Bytes moved.
    pub bytes: u64,
}

/// In which functions the program's own code was, over all threads, by samples at equal distances
/// of CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OwnCode {
    /// CPU time between two samples in nanoseconds.
    pub period_ns: u64,
    /// Samples in own code.
    pub samples: u64,
    /// Innermost functions, most samples first, at most 60.
    pub functions: Vec<FunctionShare>,
}

/// A function of the program's own code or of a library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionShare {
    /// Its name in the words of its language; null where its file has no symbol for it. Not
    /// trustworthy: escape it.
    pub function: Option<String>,
    /// The file that it is from: a path, `[vdso]`, `//anon` and the like for code that was
    /// generated at run time, or nothing where it isn't known. Not trustworthy: escape it.
    pub file: String,
    /// Samples in it.
    pub samples: u64,
    /// Part of all own code, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
}

/// A process of the tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessRow {
    /// Process.
    pub pid: u32,
    /// Its parent in the tree.
    pub parent: Option<u32>,
    /// What it executed, in order, with arguments; not trustworthy: escape it.
    pub programs: Vec<Vec<String>>,
    /// When it began, from the start of the run.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// How it ended, in words.
    pub end: String,
    /// Threads that it had.
    pub threads: usize,
}

/// A point in the start of the command, from the start of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Phase {
    /// `exec`, `loader_done` (both with the program's name behind it where there were several),
    /// `first_output`, `exit`.
    pub name: String,
    /// When it was reached.
    pub at_ns: u64,
    /// Not observed: it is when the observed run had computed as much as a second one that was
    /// stopped at its calls.
    #[serde(default)]
    pub modelled: bool,
}

/// One stretch of a thread's life for the picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stretch {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// From.
    pub from_ns: u64,
    /// To.
    pub to_ns: u64,
    /// On what.
    #[serde(rename = "category", alias = "spent")]
    pub spent: crate::TimeCategory,
    /// The call and its descriptor in words, if it was in one; not trustworthy: escape it.
    pub detail: Option<String>,
}

/// A process that ran already: what is explained of it is the time in which it was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ObservedProcess {
    /// Its number.
    pub pid: u32,
    /// Its name, at most 15 bytes. Not trustworthy: escape it.
    pub name: String,
    /// It ended while it was observed.
    pub ended: bool,
    /// It, or a process that it made, listens for connections.
    pub listens: bool,
}

/// Everything that `fathom why` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `why`.
    #[cfg_attr(test, schemars(extend("const" = "why")))]
    pub kind: String,
    /// Version of Fathom.
    pub fathom_version: String,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Where.
    pub environment: Environment,
    /// The command as it was given.
    pub command: String,
    /// Its arguments, program first.
    pub arguments: Vec<String>,
    /// The process that was observed, where it ran already; null for a command.
    #[serde(default)]
    pub process: Option<ObservedProcess>,
    /// How the observed run ended, in words; empty for success.
    pub end: String,
    /// The runs that were timed.
    pub timed: TimedRuns,
    /// How it was observed.
    #[serde(rename = "observation", alias = "explaining")]
    pub explaining: Explaining,
    /// Where the median wall time of the untraced runs went, along the critical path of the
    /// observed run: its waits as they were, its CPU time without what tracing added.
    pub account: TimeAccount,
    /// The largest pieces of the account, each with its object and its place in the code, most time
    /// first, at most 100.
    #[serde(default, rename = "where")]
    pub whereabouts: Vec<WhereRow>,
    /// The ways through the code that the time went; none where no stacks are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<CodePaths>,
    /// The account of each thread.
    pub threads: Vec<ThreadAccount>,
    /// By descriptor and path, most time first.
    pub io: Vec<IoRow>,
    /// By call, most time first.
    pub calls: Vec<CallRow>,
    /// In which functions the program's own code was; null where the tier doesn't sample, or none
    /// was found.
    #[serde(default)]
    pub own_code: Option<OwnCode>,
    /// The process tree, parents first.
    pub processes: Vec<ProcessRow>,
    /// The start of the command.
    pub phases: Vec<Phase>,
    /// Causes, by the time that could be saved, most first.
    pub findings: Vec<Finding>,
    /// What the threads did when, for the picture.
    pub timeline: Vec<Stretch>,
    /// What must be known to trust the numbers.
    pub warnings: Vec<String>,
}
