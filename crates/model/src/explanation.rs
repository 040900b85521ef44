//! The complete answer of `fathom why`, as written by its `--json`.

use serde::{Deserialize, Serialize};

use crate::{
    CodePaths, Environment, Estimate, Finding, ThreadAccount, TimeAccount, WhereRow, version1,
};

/// The runs that were timed and not traced; all reported times are from these runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimedRuns {
    /// The number of runs.
    pub runs: usize,
    /// The median wall time in seconds.
    pub wall: Estimate,
    /// The median CPU time in seconds.
    pub cpu: Estimate,
    /// The median peak memory in bytes.
    pub peak_memory: Estimate,
    /// The median wall time of the empty program in seconds.
    pub floor: Option<Estimate>,
}

/// How the observed run was made, and how far it can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explaining {
    /// `kernel`, `perf`, `sample` or `stops`.
    #[serde(deserialize_with = "version1::text")]
    pub tier: String,
    /// The wall time of the observed run in nanoseconds.
    pub wall_ns: u64,
    /// Its wall time divided by the median wall time of the timed runs, including waits for a CPU in both.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub slowdown: f64,
    /// False if `slowdown` is over 1.1: then observed times are only quoted as modelled, and shares are those
    /// of an untraced run.
    #[serde(rename = "times_are_measured", alias = "times_are_quoted")]
    pub times_are_quoted: bool,
    /// Options that the observed run was given in addition to those of the timed runs, to name the code that
    /// its runtime generates; absent if there were none. Not trustworthy: escape it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
    /// A command that would give names to functions of generated code, if they have none here; absent if they
    /// have names, or if no command would help. Not trustworthy: escape it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_by: Option<String>,
    /// What this tier could not see, one sentence each.
    pub not_visible: Vec<String>,
    /// Descriptions of observed events that could not be stored; empty if nothing was lost.
    pub lost: Vec<String>,
}

/// A descriptor or path, and the traffic through it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IoRow {
    /// The process id.
    pub pid: u32,
    /// The descriptor; absent if several calls on a path are summed.
    pub fd: Option<i32>,
    /// The path, or `pipe`, `socket` and the like; not trustworthy: escape it.
    pub name: String,
    /// The number of read calls.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// The number of write calls.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// The time in all calls on it, over all threads: on a CPU and asleep, without waits for a CPU. Absent if
    /// the observer can't determine it.
    pub total_ns: Option<u64>,
    /// The part of `total_ns` spent asleep.
    pub blocked_ns: Option<u64>,
    /// The number of calls that returned an error.
    pub errors: u64,
    /// The number of seeks.
    pub seeks: u64,
}

/// A system call and its cost, over all threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallRow {
    /// The name.
    pub name: String,
    /// The number of calls, including those that didn't return.
    pub calls: u64,
    /// The number of calls that returned an error.
    pub errors: u64,
    /// The time from entry to return, without waits for a CPU. Absent if the observer can't determine it.
    pub total_ns: Option<u64>,
    /// The part of `total_ns` spent asleep.
    pub blocked_ns: Option<u64>,
    /// The number of bytes moved.
    pub bytes: u64,
}

/// The functions in which the time of the program's own code was spent, over all threads, from samples at
/// equal intervals of CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OwnCode {
    /// The CPU time between two samples in nanoseconds.
    pub period_ns: u64,
    /// The number of samples in own code.
    pub samples: u64,
    /// The innermost functions, most samples first, at most 60.
    pub functions: Vec<FunctionShare>,
}

/// A function of the program's own code or of a library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionShare {
    /// Its name in the notation of its language; null if its file has no symbol for it. Not trustworthy:
    /// escape it.
    pub function: Option<String>,
    /// The file it is from: a path, `[vdso]`, `//anon` and the like for code generated at run time, or empty
    /// if unknown. Not trustworthy: escape it.
    pub file: String,
    /// The number of samples in it.
    pub samples: u64,
    /// The part of all own code, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
}

/// A process of the tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessRow {
    /// The process id.
    pub pid: u32,
    /// The process id of its parent in the tree.
    pub parent: Option<u32>,
    /// The programs it executed, in order, with arguments; not trustworthy: escape them.
    pub programs: Vec<Vec<String>>,
    /// When it began, in nanoseconds from the start of the run.
    pub from_ns: u64,
    /// When it ended, in nanoseconds from the start of the run.
    pub to_ns: u64,
    /// A description of how it ended.
    pub end: String,
    /// The number of its threads.
    pub threads: usize,
}

/// A milestone in the start of the command, relative to the start of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Phase {
    /// `exec`, `loader_done` (both followed by the program's name if there were several), `first_output`,
    /// `exit`.
    pub name: String,
    /// When it was reached, in nanoseconds.
    pub at_ns: u64,
    /// Whether it was estimated rather than observed. The estimate is the time at which the observed run had
    /// computed as much as a second run had at the milestone; the second run was stopped at its calls.
    #[serde(default)]
    pub modelled: bool,
}

/// One interval of a thread's life, for the chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stretch {
    /// The process id.
    pub pid: u32,
    /// The thread id.
    pub tid: u32,
    /// The start, in nanoseconds.
    pub from_ns: u64,
    /// The end, in nanoseconds.
    pub to_ns: u64,
    /// What the time was spent on.
    #[serde(rename = "category", alias = "spent")]
    pub spent: crate::TimeCategory,
    /// A description of the call and its descriptor, if it was in one; not trustworthy: escape it.
    pub detail: Option<String>,
}

/// A process that was already running: the explanation covers the time in which it was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ObservedProcess {
    /// The process id.
    pub pid: u32,
    /// The name, at most 15 bytes. Not trustworthy: escape it.
    pub name: String,
    /// Whether it ended during the observation.
    pub ended: bool,
    /// Whether it, or a process it created, listens for connections.
    pub listens: bool,
}

/// The complete record of `fathom why`.
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
    /// The start, RFC 3339, UTC.
    pub started_at: String,
    /// The environment.
    pub environment: Environment,
    /// The command as given.
    pub command: String,
    /// Its arguments, starting with the program.
    pub arguments: Vec<String>,
    /// The observed process, if it was already running; null for a command.
    #[serde(default)]
    pub process: Option<ObservedProcess>,
    /// A description of how the observed run ended; empty for success.
    pub end: String,
    /// The timed runs.
    pub timed: TimedRuns,
    /// How it was observed.
    #[serde(rename = "observation", alias = "explaining")]
    pub explaining: Explaining,
    /// Where the median wall time of the untraced runs went, along the critical path of the observed run:
    /// waits as observed, and CPU time without what tracing added.
    pub account: TimeAccount,
    /// The largest pieces of the account, each with its object and its location in the code, most time first,
    /// at most 100.
    #[serde(default, rename = "where")]
    pub whereabouts: Vec<WhereRow>,
    /// The call paths in which the time was spent; empty if no stacks are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<CodePaths>,
    /// The account of each thread.
    pub threads: Vec<ThreadAccount>,
    /// Input and output by descriptor and path, most time first.
    pub io: Vec<IoRow>,
    /// System calls, most time first.
    pub calls: Vec<CallRow>,
    /// The functions in which the time of the program's own code was spent; null if the tier doesn't sample,
    /// or if there were none.
    #[serde(default)]
    pub own_code: Option<OwnCode>,
    /// The process tree, parents first.
    pub processes: Vec<ProcessRow>,
    /// The milestones in the start of the command.
    pub phases: Vec<Phase>,
    /// Causes, ordered by the time that could be saved, most first.
    pub findings: Vec<Finding>,
    /// What the threads did over time, for the chart.
    pub timeline: Vec<Stretch>,
    /// Warnings about how far the numbers can be trusted.
    pub warnings: Vec<String>,
}
