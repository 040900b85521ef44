//! The result of a trace.
//!
//! All tiers have the same result type. Durations are in nanoseconds. Points in time are relative to the
//! start of [`Trace`], when the held child was released, right before its `execve`. Texts that come from the
//! traced programs (paths, arguments, names) are converted to valid UTF-8 with U+FFFD and are not
//! trustworthy: escape them before showing them.

mod rows;
mod stacks;

use serde::{Deserialize, Serialize};

pub use rows::{
    AwaitedPeer, Cause, DescriptorRow, FileRow, InFlightRow, Limited, Lines, LookupRow, OffCpuRow,
    PathRow, PollEnds, Progress, ProgressRow, SIZE_LIMITS, SyscallRow,
};
pub use stacks::{Activity, StackRow, Stacks};

use crate::descriptor::DescriptorKind;
use crate::mutexes::MutexRow;
use crate::signals::{RefusedRow, SignalRow};
use crate::uses::UseRow;

/// How a trace was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Programs in the kernel that count and time every call (root, or `CAP_BPF` and
    /// `CAP_PERFMON`).
    Kernel,
    /// The kernel's records of switches, forks and exits (any user, `kernel.perf_event_paranoid` up to 2),
    /// and threads sampled as in the sampling tier: gives exact times of waits, but no calls.
    Perf,
    /// Threads sampled about 1000 times a second through `/proc` (any user): gives shares, but no counts.
    Sample,
    /// Every call is stopped and read through `ptrace`, until a budget is spent (any user): exact but slow.
    #[serde(rename = "ptrace", alias = "stops")]
    Ptrace,
}

impl Tier {
    /// Returns the tier's name, as users type it and as records contain it.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Kernel => "kernel",
            Tier::Perf => "perf",
            Tier::Sample => "sample",
            Tier::Ptrace => "ptrace",
        }
    }

    /// Returns true if this tier doesn't see calls, and knows the objects of waits only from samples of
    /// threads.
    pub fn only_samples(self) -> bool {
        matches!(self, Tier::Perf | Tier::Sample)
    }
}

impl Trace {
    /// Returns whether the observed process may have continued, so that the end of the observation is not its
    /// own end.
    pub fn is_cut_off(&self) -> bool {
        let goes_on = self.attached.as_ref().is_some_and(|one| !one.ended);
        self.end.cut_short || goes_on
    }

    /// Returns one sentence about each program that ran without its privileges, in the form of
    /// [`Trace::not_visible`].
    pub fn rights_not_visible(&self) -> Vec<String> {
        let sentence = |path: &String| {
            format!(
                "the work that {path} does with the privileges of its set-uid or set-gid bit or its capabilities: \
                 {WITHOUT_THEM}"
            )
        };
        self.without_rights.iter().map(sentence).collect()
    }

    /// Returns the number of calls through the 32-bit entry of x86.
    pub fn calls_by_32_bit_entry(&self) -> u64 {
        let rows = self.syscalls.iter().filter(|row| row.by_32_bit_entry());
        rows.map(|row| row.calls).sum()
    }
}

/// The end of each sentence of [`Trace::rights_not_visible`].
const WITHOUT_THEM: &str = "when observed, it runs without them, unless root observes it";

/// Returns whether a sentence of [`Trace::not_visible`] reports that a program ran without the privileges
/// that it has in an unobserved run.
pub fn is_of_withheld_rights(sentence: &str) -> bool {
    sentence.ends_with(WITHOUT_THEM)
}

/// Returns a sentence about the `processes` that outlived the command, in the form of [`Trace::not_visible`];
/// `None` if this is 0.
pub(crate) fn not_seen_to_end(processes: usize) -> Option<String> {
    let who = match processes {
        0 => return None,
        1 => "a process".to_owned(),
        several => format!("{several} processes"),
    };
    Some(format!(
        "the work of {who} after the end of the command: Fathom ended them"
    ))
}

/// All observations of one traced run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// How it was made; `None` only in a default value.
    pub tier: Option<Tier>,
    /// The tier that saw the calls, if they were seen in another run and added to this trace.
    #[serde(default)]
    pub calls_from: Option<Tier>,
    /// Whether calls were traced only until a budget was spent, after which the command continued untraced.
    #[serde(default)]
    pub calls_cut: bool,
    /// Number of times that the ptrace tier stopped a thread.
    #[serde(default)]
    pub stops: u64,
    /// Occasional readings of the processes' CPU time, which allow the times of this run to be converted to
    /// those of another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_readings: Vec<StopReading>,
    /// Time from the start to the end of the command, as seen by its parent.
    pub duration_ns: u64,
    /// The start on the kernel's monotonic clock, ns; 0 in a default value.
    #[serde(default)]
    pub started_clock_ns: u64,
    /// The time on the same clock that the child itself read right before it called `execve`.
    #[serde(default)]
    pub exec_called_clock_ns: Option<u64>,
    /// Total time for which the command was held at milestones (ptrace tier, `only_milestones`). All times of
    /// this trace exclude it. 0 in all other traces.
    #[serde(default)]
    pub held_ns: u64,
    /// CPU time for which the threads were held back so that the reader could keep up, or while stacks were
    /// recorded (kernel tier). It counts as waits for a CPU in this trace, and is part of
    /// [`Trace::accounts`].
    #[serde(default)]
    pub held_back_ns: u64,
    /// The time for which the CPUs that the command could use were busy during the run, with work of any
    /// program or for a hypervisor. `None` if unknown, as when attached to a running process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_cpus_ns: Option<u64>,
    /// How the command ended.
    pub end: End,
    /// Totals of the command and all descendants it waited for, from `wait4`.
    pub accounts: Accounts,
    /// Processes in the order in which they began.
    pub processes: Vec<Process>,
    /// Threads in the order in which they began.
    pub threads: Vec<Thread>,
    /// One row for each thread, call and descriptor; most time first. Empty in the perf and the
    /// sampling tier.
    pub syscalls: Vec<SyscallRow>,
    /// One row for each thread, call, descriptor and cause; most time first.
    pub off_cpu: Vec<OffCpuRow>,
    /// The targets of each descriptor number, ordered by process and number.
    pub descriptors: Vec<DescriptorRow>,
    /// Objects of waits on descriptor numbers that had several targets. [`OffCpuRow::object`] and
    /// [`Interval::object`] are indices into this list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<DescriptorKind>,
    /// Files, pipes and sockets that were opened or used; most bytes first.
    pub files: Vec<FileRow>,
    /// Data moved through each descriptor number for each of its targets, ordered by process and number, most
    /// calls first.
    #[serde(default)]
    pub uses: Vec<UseRow>,
    /// The paths on which calls spent their time, most time first. Present if [`TraceOptions::call_stacks`]
    /// requests them (kernel tier), or as far as calls were stopped (ptrace tier).
    ///
    /// [`TraceOptions::call_stacks`]: crate::TraceOptions::call_stacks
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathRow>,
    /// Paths that were looked up but don't exist (or are not accessible); most calls first.
    pub failed_lookups: Vec<LookupRow>,
    /// Signals that processes of the tree sent, in the order in which each kind was first sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRow>,
    /// Connections that were attempted but failed, ordered by the first attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedRow>,
    /// The requests that processes had sent and that were not answered yet while they waited for answers
    /// (kernel tier, if the timeline was requested), ordered by process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_flight: Vec<InFlightRow>,
    /// How much the processes that read often enough had read by when (kernel tier), ordered by process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<ProgressRow>,
    /// Individual off-CPU intervals in the order in which they ended, if requested (not in the ptrace tier).
    pub timeline: Option<Vec<Interval>>,
    /// The functions in which the tree's own code was sampled (kernel and perf tier), if requested; `None` if
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<crate::Profile>,
    /// Where in the code threads were, with their callers, if [`Trace::profile`] was requested; `None` if
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacks: Option<Stacks>,
    /// How the goroutines of each process waited for mutexes (kernel tier), if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutexes: Vec<MutexRow>,
    /// The quality of the sampling; only in the perf and the sampling tier.
    pub sampling: Option<Sampling>,
    /// The cost of a page fault in addition to [`Thread::fault_ns`]; `None` if faults are not timed.
    #[serde(default)]
    pub fault_overhead: Option<FaultOverhead>,
    /// The cost of a call in addition to its [`SyscallRow::total_ns`]; `None` if unknown.
    #[serde(default)]
    pub call_overhead: Option<CallOverhead>,
    /// Observations that could not be kept.
    pub lost: Losses,
    /// Set-uid and set-gid programs that ran without their privileges because they were observed. They may
    /// behave differently otherwise. [`Trace::not_visible`] has a sentence about each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_rights: Vec<String>,
    /// What this tier could not see in this run, one sentence each.
    pub not_visible: Vec<String>,
    /// Files that the command only wrote because its observer requested it: see
    /// [`Trace::leave_out_what_was_asked_for`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_for: Vec<String>,
    /// Present if a running process was observed: the trace doesn't begin at the process's start, and the
    /// process may have continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Attached>,
}

/// A process that was already running before it was observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// Its process id.
    pub pid: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// Whether it ended during the observation.
    pub ended: bool,
    /// Processes of its tree that listened for connections at the beginning.
    pub listening: Vec<u32>,
}

/// Observations of several commands that ran concurrently.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupTrace {
    /// The trace of all commands; processes without a parent are the commands. Its `end` and `accounts` are
    /// not filled in.
    pub trace: Trace,
    /// How each command ended, in the order of the commands.
    pub members: Vec<MemberEnd>,
}

/// How one of several commands ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberEnd {
    /// Its process id.
    pub pid: u32,
    /// When it was released, in ns from the start of the trace.
    pub started_ns: u64,
    /// When the tracer saw its end, in ns from the start of the trace.
    pub ended_ns: u64,
    /// How it ended.
    pub end: End,
    /// Totals of the command and the descendants that it waited for.
    pub accounts: Accounts,
}

impl GroupTrace {
    /// Returns the trace of a group that consists of one command.
    pub(crate) fn into_single(self) -> Trace {
        let only = self.members.first().copied().unwrap_or_default();
        Trace {
            end: only.end,
            accounts: only.accounts,
            ..self.trace
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Exit code, 0 to 255; `None` if it was killed.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Whether the tracer killed it because of a timeout or a stop request.
    pub cut_short: bool,
}

/// Totals of the command and its waited-for descendants from `wait4` (`struct rusage`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    /// CPU time in user code. The sum with `system_ns` is exact; the split has the resolution of 4 ms ticks.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Largest resident set of any single process, bytes.
    pub peak_memory_bytes: u64,
    /// Page faults served without a disk.
    pub minor_faults: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// Switches because a thread waited.
    pub voluntary_switches: u64,
    /// Switches because the scheduler preempted a thread.
    pub involuntary_switches: u64,
}

/// A process of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// The process that created it; `None` for the command itself.
    pub parent: Option<u32>,
    /// When it was created.
    pub started_ns: u64,
    /// When it ended; `None` if it outlived the trace or its end was not seen.
    pub ended_ns: Option<u64>,
    /// How it ended; `None` if it outlived the trace or its end was not seen.
    pub end: Option<End>,
    /// The programs that it executed, in order. For a script, this is the interpreter that actually ran.
    pub execs: Vec<Exec>,
    /// When it called its first write to descriptor 1.
    pub first_output_ns: Option<u64>,
}

/// The moment at which a program reached its own first instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered {
    /// When it was reached.
    pub at_ns: u64,
    /// Whether a loader ran first, and had finished by that time.
    pub loaded: bool,
}

/// A successful `execve`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exec {
    /// When the `execve` was called; `None` if the tier doesn't know it.
    #[serde(default)]
    pub called_ns: Option<u64>,
    /// When the new program was loaded.
    pub at_ns: u64,
    /// When it reached the first instruction of its own code (ptrace tier; kernel tier on x86-64). `None` if
    /// that wasn't observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered: Option<Entered>,
    /// The file as it was named, at most 255 bytes. In the tiers that sample processes, it is the file that
    /// actually runs, such as a script's interpreter.
    pub path: String,
    /// The file as it was named, such as a script, if `path` is the file that actually runs (ptrace tier).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Its arguments, at most 512 bytes of them.
    pub arguments: Vec<String>,
    /// Whether there were more bytes of arguments than are kept.
    pub arguments_cut: bool,
}

/// A thread of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its process.
    pub pid: u32,
    /// Its thread id; the process's own id for the first thread.
    pub tid: u32,
    /// Its name when it ended, at most 15 bytes.
    pub name: String,
    /// When it was created.
    pub started_ns: u64,
    /// When it ended; `None` if it outlived the trace or its end was not seen.
    pub ended_ns: Option<u64>,
    /// Wall time on a CPU, including stolen time (kernel and perf tier), or CPU time (sampling tier).
    pub on_cpu_ns: Option<u64>,
    /// Time during which it could run but had no CPU, as counted by the kernel's scheduler; `None` if this
    /// isn't counted, or if the end of the thread was not seen. In the kernel tier, the off-CPU rows may be
    /// larger if a CPU was idle: the CPU takes up a thread some microseconds before this becomes visible.
    #[serde(default)]
    pub ready_ns: Option<u64>,
    /// Page faults served without a disk; `None` if the tier doesn't know it.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a disk.
    pub major_faults: Option<u64>,
    /// Number of timed page faults of its own code (not of the kernel within a call); `None` if the tier
    /// doesn't know it.
    #[serde(default)]
    pub timed_faults: Option<u64>,
    /// The part of `on_cpu_ns` during which the kernel served these faults, without waits.
    #[serde(default)]
    pub fault_ns: Option<u64>,
    /// Switches because the thread waited.
    pub voluntary_switches: Option<u64>,
    /// Switches because the scheduler preempted a thread.
    pub involuntary_switches: Option<u64>,
}

/// The cost of each page fault in addition to the time between its first and last visible point, measured on
/// first touches of memory right before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultOverhead {
    /// The time of the processor's exception and return (of the hypervisor's in a virtual machine), and of
    /// the tracer's work before and after its clock readings, ns.
    pub outside_ns: f64,
    /// Total overhead of the tracer per fault, partly included in `outside_ns`, ns.
    pub tracer_ns: f64,
    /// Fraction of a fault, 0 to 1, that the kernel's ticks charge to the program's own code. Only measured
    /// after a run with many faults.
    #[serde(default)]
    pub tick_skid_share: Option<f64>,
}

/// The cost of each call in addition to the time that the tracer sees, measured on cheap calls right before
/// the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallOverhead {
    /// The cost of a call without tracing, minus the part that the tracer sees, ns. This is the way into the
    /// kernel and out of it, minus the visible part of the tracer itself. Negative if the latter is larger.
    pub outside_ns: f64,
    /// Total overhead of the tracer per call, ns.
    pub tracer_ns: f64,
    /// The part of a call that the kernel's ticks charge to the program's own code, ns. Only measured after a
    /// run with many calls.
    #[serde(default)]
    pub tick_skid_ns: Option<f64>,
}

/// The progress of a process that is stopped at its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReading {
    /// Process.
    pub pid: u32,
    /// Time of the reading, in ns from the start.
    pub at_ns: u64,
    /// Number of the process's stops so far.
    pub stops: u64,
    /// CPU time of all threads of the process so far, including the stops, ns.
    pub cpu_ns: u64,
}

/// One interval off the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// When it left the CPU.
    pub from_ns: u64,
    /// When it was woken; `None` if it was able to run the whole time.
    pub woken_ns: Option<u64>,
    /// When it was back on a CPU.
    pub to_ns: u64,
    /// Why it left.
    pub cause: Cause,
    /// Name of the call that it was in.
    pub call: Option<String>,
    /// The call's descriptor.
    pub fd: Option<i32>,
    /// The thread that ran on the CPU from which the wake-up came. It is the cause if it belongs to this
    /// tree, unless it was just interrupted by a timer in the middle of a call. A thread of this tree outside
    /// a call is omitted. A thread of another program may just have been interrupted.
    pub woken_by: Option<u32>,
    /// The descriptor's target at that time, in the form of [`OffCpuRow::object`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
}

/// The quality of the sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Number of sampling rounds.
    pub ticks: u64,
    /// Intended interval between rounds.
    pub period_ns: u64,
    /// Number of rounds that began more than half a period late. Above 5 %, the shares are biased toward
    /// waiting.
    pub late_ticks: u64,
    /// Largest delay of a round.
    pub worst_lateness_ns: u64,
}

/// Observations that could not be kept; all zero in a complete trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Calls for which the call table had no space.
    pub calls: u64,
    /// Off-CPU intervals for which their table had no space.
    pub off_cpu: u64,
    /// Records (opens, closes, forks, execs, exits, intervals) for which the ring had no space.
    pub records: u64,
    /// Threads that could not be followed because too many were alive.
    pub threads: u64,
    /// File names and failed lookups beyond the limit.
    pub names: u64,
    /// Timeline intervals beyond the limit.
    pub intervals: u64,
    /// Stacks of calls, waits and faults for which their ring had no space.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stacks: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Losses {
    /// Returns whether nothing was lost.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether every call and every wait was counted. Lost names and lost parts of the timeline don't
    /// change any count.
    pub fn counts_are_whole(&self) -> bool {
        [self.calls, self.off_cpu, self.records, self.threads] == [0; 4]
    }
}
