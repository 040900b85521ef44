//! What does a trace say?
//!
//! One result for all tiers. Times are nanoseconds; points in time count from [`Trace`]'s start,
//! when the held child was let go, right before its `execve`. Texts that come from the traced
//! programs (paths, arguments, names) are made valid UTF-8 with U+FFFD and are not trustworthy:
//! escape them before showing them.

mod rows;
mod stacks;

use serde::{Deserialize, Serialize};

pub use rows::{
    Cause, DescriptorRow, FileRow, Limited, Lines, LookupRow, OffCpuRow, PathRow, PollEnds,
    SIZE_LIMITS, SyscallRow,
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
    /// The kernel's records of switches, forks and ends (any user, `kernel.perf_event_paranoid` up
    /// to 2), and threads sampled as in the sampling tier: exact times of waits, no calls.
    Perf,
    /// Threads sampled about 1000 times a second through `/proc` (any user): shares, no counts.
    Sample,
    /// Every call stopped and read through `ptrace`, up to a budget (any user): exact and slow.
    #[serde(rename = "ptrace", alias = "stops")]
    Ptrace,
}

impl Tier {
    /// Its name, as users type it and records hold it.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Kernel => "kernel",
            Tier::Perf => "perf",
            Tier::Sample => "sample",
            Tier::Ptrace => "ptrace",
        }
    }

    /// Whether calls are not seen, and what was waited for is known from samples of threads.
    pub fn only_samples(self) -> bool {
        matches!(self, Tier::Perf | Tier::Sample)
    }
}

impl Trace {
    /// Whether what was observed may have gone on: Fathom's end of it is no end of its own.
    pub fn is_cut_off(&self) -> bool {
        let goes_on = self.attached.as_ref().is_some_and(|one| !one.ended);
        self.end.cut_short || goes_on
    }

    /// One sentence, as in [`Trace::not_visible`], on each program that ran without its rights.
    pub fn rights_not_visible(&self) -> Vec<String> {
        let sentence = |path: &String| {
            format!(
                "what {path} does with the rights that its set-uid or set-gid bit or its capabilities give: \
                 {WITHOUT_THEM}"
            )
        };
        self.without_rights.iter().map(sentence).collect()
    }

    /// How many calls came through the 32-bit entry of x86.
    pub fn calls_by_32_bit_entry(&self) -> u64 {
        let rows = self.syscalls.iter().filter(|row| row.by_32_bit_entry());
        rows.map(|row| row.calls).sum()
    }
}

/// How a sentence of [`Trace::rights_not_visible`] ends.
const WITHOUT_THEM: &str = "observed it runs without them, unless root observes";

/// Whether a sentence of [`Trace::not_visible`] says that a program ran without its rights: another
/// run than one that nobody observes.
pub fn is_of_withheld_rights(sentence: &str) -> bool {
    sentence.ends_with(WITHOUT_THEM)
}

/// A sentence, as in [`Trace::not_visible`], on so many processes that outlived the command.
pub(crate) fn not_seen_to_end(processes: usize) -> Option<String> {
    let who = match processes {
        0 => return None,
        1 => "a process".to_owned(),
        several => format!("{several} processes"),
    };
    Some(format!(
        "what {who} that outlived the command would have done after it: Fathom ended them"
    ))
}

/// Everything that one traced run showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// How it was made; `None` only in a default value.
    pub tier: Option<Tier>,
    /// How the calls were seen, if in another run whose calls were added to this one.
    #[serde(default)]
    pub calls_from: Option<Tier>,
    /// Whether calls were traced only until a budget was spent, and the command went on after that.
    #[serde(default)]
    pub calls_cut: bool,
    /// How often the ptrace tier stopped a thread.
    #[serde(default)]
    pub stops: u64,
    /// How far processes were, once in a while, by their CPU time: with it times of this run become
    /// those of another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_readings: Vec<StopReading>,
    /// From the start to the end of the command as its parent saw it.
    pub duration_ns: u64,
    /// The start by the kernel's monotonic clock, ns; 0 in a default value.
    #[serde(default)]
    pub started_clock_ns: u64,
    /// When the child itself, right before it called `execve`, read the same clock.
    #[serde(default)]
    pub exec_called_clock_ns: Option<u64>,
    /// How long the command was held at milestones (ptrace tier, `only_milestones`); all times of
    /// this trace are less that. 0 in all other traces.
    #[serde(default)]
    pub held_ns: u64,
    /// CPU time that its threads were held back for, so that what they did could be read, and where
    /// they were in the code be kept (kernel tier): waits for a CPU in this trace, and part of [`Trace::accounts`].
    #[serde(default)]
    pub held_back_ns: u64,
    /// How the command ended.
    pub end: End,
    /// The command and all descendants it waited for, from `wait4`.
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
    /// What each descriptor number was, in the order of process and number.
    pub descriptors: Vec<DescriptorRow>,
    /// What was waited for through numbers that were several things: [`OffCpuRow::object`] and
    /// [`Interval::object`] are places in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<DescriptorKind>,
    /// Files, pipes and sockets that were opened or used; most bytes first.
    pub files: Vec<FileRow>,
    /// What went through each descriptor number while it was one thing, in the order of process and
    /// number, most calls first.
    #[serde(default)]
    pub uses: Vec<UseRow>,
    /// On which paths calls spent their time, if [`TraceOptions::call_stacks`] asked for it (kernel
    /// tier) or as far as calls were stopped at (ptrace tier); most time first.
    ///
    /// [`TraceOptions::call_stacks`]: crate::TraceOptions::call_stacks
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathRow>,
    /// Paths that were asked for and not there (or not allowed); most calls first.
    pub failed_lookups: Vec<LookupRow>,
    /// Signals that processes of the tree sent, in the order in which each kind was first sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRow>,
    /// Connections that were asked for and not had, in the order in which each was first asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedRow>,
    /// Single off-CPU intervals in the order in which they ended, if they were asked for (not in
    /// the ptrace tier).
    pub timeline: Option<Vec<Interval>>,
    /// In which functions the tree's own code was (kernel and perf tier), if it was asked for;
    /// `None` where that isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<crate::Profile>,
    /// Where threads were in the code with what led there, if [`Trace::profile`] was asked for;
    /// `None` where that isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacks: Option<Stacks>,
    /// How goroutines waited for mutexes (kernel tier), if that was asked for; by process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutexes: Vec<MutexRow>,
    /// How the sampler fared; only in the perf and the sampling tier.
    pub sampling: Option<Sampling>,
    /// What a page fault takes beside [`Thread::fault_ns`]; `None` where they are not timed.
    #[serde(default)]
    pub fault_overhead: Option<FaultOverhead>,
    /// What a call takes beside its [`SyscallRow::total_ns`]; `None` where that isn't known.
    #[serde(default)]
    pub call_overhead: Option<CallOverhead>,
    /// What was seen and could not be kept.
    pub lost: Losses,
    /// Set-uid and set-gid programs that ran without their rights because they were observed: what
    /// they did is not what they do otherwise. [`Trace::not_visible`] has a sentence on each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_rights: Vec<String>,
    /// What this tier could not see in this run, one sentence each.
    pub not_visible: Vec<String>,
    /// Files that the command was asked to write for its observer: [`Trace::leave_out_what_was_asked_for`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_for: Vec<String>,
    /// Of a process that ran already: it was observed for a while, not from its start, and may have
    /// gone on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Attached>,
}

/// A process that ran before it was observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// Its number.
    pub pid: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// It ended while it was observed.
    pub ended: bool,
    /// Processes of its tree that listened for connections at the beginning.
    pub listening: Vec<u32>,
}

/// What was seen of several commands that ran at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupTrace {
    /// All of them together; processes without a parent are the commands. Its end and its accounts
    /// are not filled.
    pub trace: Trace,
    /// How each of them ended, in their order.
    pub members: Vec<MemberEnd>,
}

/// How one of several commands ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberEnd {
    /// Its process number.
    pub pid: u32,
    /// When it was let go, from the start of the trace.
    pub started_ns: u64,
    /// When the tracer saw its end, likewise.
    pub ended_ns: u64,
    /// How it ended.
    pub end: End,
    /// It and the descendants that it waited for.
    pub accounts: Accounts,
}

impl GroupTrace {
    /// The trace of a group of one.
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
    /// Killed by the tracer because its time was up or the caller asked to stop.
    pub cut_short: bool,
}

/// Totals of the command and its waited-for descendants from `wait4` (`struct rusage`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    /// CPU time in user code. The sum with `system_ns` is exact; the split is by 4 ms ticks.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Largest resident set of any one process, bytes.
    pub peak_memory_bytes: u64,
    /// Page faults served without a disk.
    pub minor_faults: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// Switches because a thread waited.
    pub voluntary_switches: u64,
    /// Switches because the scheduler took the CPU away.
    pub involuntary_switches: u64,
}

/// A process of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process number.
    pub pid: u32,
    /// The process that made it; `None` for the command itself.
    pub parent: Option<u32>,
    /// When it was made.
    pub started_ns: u64,
    /// When it ended; `None` if it outlived the trace or its end was not seen.
    pub ended_ns: Option<u64>,
    /// How it ended, likewise.
    pub end: Option<End>,
    /// The programs it ran, in order: a script's interpreter is what really ran.
    pub execs: Vec<Exec>,
    /// When its first write to descriptor 1 was called.
    pub first_output_ns: Option<u64>,
}

/// A program reached its first own instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered {
    /// When.
    pub at_ns: u64,
    /// A loader came first, and was done then.
    pub loaded: bool,
}

/// A successful `execve`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exec {
    /// When the `execve` was called; `None` where the tier does not know.
    #[serde(default)]
    pub called_ns: Option<u64>,
    /// When the new program was in place.
    pub at_ns: u64,
    /// When it reached its first own instruction (ptrace tier; kernel tier on x86-64); `None` where
    /// that wasn't seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered: Option<Entered>,
    /// The file as it was named, at most 255 bytes; in the tiers that sample processes the one that
    /// really runs, a script's interpreter.
    pub path: String,
    /// The file as it was named, such as a script, where `path` is the one that really runs (ptrace
    /// tier).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Its arguments, at most 512 bytes of them.
    pub arguments: Vec<String>,
    /// There were more bytes of arguments than are kept.
    pub arguments_cut: bool,
}

/// A thread of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its process.
    pub pid: u32,
    /// Its number; the process's own for the first thread.
    pub tid: u32,
    /// Its name when it ended, at most 15 bytes.
    pub name: String,
    /// When it was made.
    pub started_ns: u64,
    /// When it ended; `None` if it outlived the trace or its end was not seen.
    pub ended_ns: Option<u64>,
    /// Wall time on a CPU, stolen time included (kernel and perf tier) or CPU time (sampling tier).
    pub on_cpu_ns: Option<u64>,
    /// Time in which it could run and had no CPU, as the kernel's scheduler counts it; `None` where
    /// it doesn't, or where the end of the thread was not seen. In the kernel tier the rows off the
    /// CPU say more where a CPU was idle: it takes up a thread some microseconds before that can be
    /// seen.
    #[serde(default)]
    pub ready_ns: Option<u64>,
    /// Page faults served without a disk; `None` where the tier does not know.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a disk.
    pub major_faults: Option<u64>,
    /// Page faults of its own code (not of the kernel within a call) that were timed; `None` where
    /// the tier does not know.
    #[serde(default)]
    pub timed_faults: Option<u64>,
    /// Of `on_cpu_ns`: the kernel served those. Waits are not in it.
    #[serde(default)]
    pub fault_ns: Option<u64>,
    /// Switches because it waited.
    pub voluntary_switches: Option<u64>,
    /// Switches because the scheduler took the CPU away.
    pub involuntary_switches: Option<u64>,
}

/// What each page fault takes beside the time between its first sight and its last, measured on
/// first touches of memory right before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultOverhead {
    /// The processor's exception and return (the hypervisor's in a virtual machine), and what the
    /// tracer does before and after its readings of the clock, ns.
    pub outside_ns: f64,
    /// By how much the tracer makes a fault longer in all, part of it in `outside_ns`, ns.
    pub tracer_ns: f64,
    /// Part of a fault, 0 to 1, for which the kernel's ticks are charged to the program's own code.
    /// Measured after a run of many faults only.
    #[serde(default)]
    pub tick_skid_share: Option<f64>,
}

/// What each call takes beside the time in which the tracer sees it, measured on cheap calls right
/// before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallOverhead {
    /// What a call takes when nobody traces, less what is seen of it, ns: the way into the kernel
    /// and out of it, without the part of the tracer that is seen. Negative where that is more.
    pub outside_ns: f64,
    /// By how much the tracer makes a call longer in all, ns.
    pub tracer_ns: f64,
    /// What of a call the kernel's ticks charge to the program's own code, ns. Measured after a run
    /// of many calls only.
    #[serde(default)]
    pub tick_skid_ns: Option<f64>,
}

/// How far a process was that is stopped at its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReading {
    /// Process.
    pub pid: u32,
    /// When, ns from the start.
    pub at_ns: u64,
    /// Its stops so far.
    pub stops: u64,
    /// CPU time of all its threads so far, that of the stops with it, ns.
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
    /// When it was woken; `None` if it was able to run all the time.
    pub woken_ns: Option<u64>,
    /// When it was back on a CPU.
    pub to_ns: u64,
    /// Why it left.
    pub cause: Cause,
    /// Name of the call it was in.
    pub call: Option<String>,
    /// The call's descriptor.
    pub fd: Option<i32>,
    /// The thread that ran where the wake-up came from. It caused it if it is of this tree and not
    /// waked by a timer that struck in the middle of a call; one of this tree that was in no call
    /// is left out. Of another program's thread it may be the victim.
    pub woken_by: Option<u32>,
    /// What the descriptor was then, as [`OffCpuRow::object`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
}

/// How the sampler fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Rounds of samples.
    pub ticks: u64,
    /// Wanted distance of rounds.
    pub period_ns: u64,
    /// Rounds that began more than half a period late. Beyond 5 % the shares lean towards waiting.
    pub late_ticks: u64,
    /// The latest one.
    pub worst_lateness_ns: u64,
}

/// What could not be kept; all zero in a complete trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Calls that found the call table full.
    pub calls: u64,
    /// Off-CPU intervals that found their table full.
    pub off_cpu: u64,
    /// Records (opens, closes, forks, execs, exits, intervals) that found the ring full.
    pub records: u64,
    /// Threads that could not be followed because too many were alive.
    pub threads: u64,
    /// File names and failed lookups beyond what is kept.
    pub names: u64,
    /// Timeline intervals beyond what is kept.
    pub intervals: u64,
    /// Stacks of calls, waits and faults that found their ring full.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stacks: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Losses {
    /// Whether nothing was lost.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether every call and every wait was counted: lost names and stretches of the timeline
    /// change no number.
    pub fn counts_are_whole(&self) -> bool {
        [self.calls, self.off_cpu, self.records, self.threads] == [0; 4]
    }
}
