//! What do the calls and the waits of a trace add up to, and on which descriptors, files and names?

use serde::{Deserialize, Serialize};

use crate::descriptor::DescriptorKind;

/// Upper limits in bytes of the first seven of eight size classes; the last has none.
pub const SIZE_LIMITS: [u64; 7] = [0, 1, 15, 511, 4095, 65_535, 1_048_575];

/// How the polls of a row ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollEnds {
    /// Those that returned 0: their time limit came before anything that they waited for.
    pub by_limit: u64,
    /// How long those took, ns. Where calls were stopped at, the stops are in it.
    pub by_limit_ns: u64,
    /// How long all of them took, likewise, those included that a signal or the end cut off.
    pub total_ns: u64,
}

/// Whether the writes of a row ended lines, as far as they were examined: some of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// Writes whose last byte was examined.
    pub examined: u64,
    /// Of these: it was a newline.
    pub ended: u64,
}

/// Calls of one kind by one thread on one descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// The call's number on this architecture; 65536 is added to a call through the 32-bit entry of
    /// x86, and 131072 to that where only the 32-bit table has such a call, whose number it then
    /// is.
    pub number: u32,
    /// The call's name.
    pub name: String,
    /// The descriptor in its first argument; `None` for calls that have none there.
    pub fd: Option<i32>,
    /// Calls that returned a result.
    pub calls: u64,
    /// Of [`calls`](Self::calls): those in the second half of the budget, where calls are traced
    /// only until one is spent: what the program went on with. 0 elsewhere.
    #[serde(default)]
    pub late_calls: u64,
    /// Calls that did not: interrupted by a signal (and perhaps restarted, which is another call),
    /// or cut off by the end of the thread or of the trace.
    pub unfinished: u64,
    /// Calls that returned an error.
    pub errors: u64,
    /// Errors that were `EAGAIN`: nothing there yet.
    pub would_block: u64,
    /// Sum of positive results of calls that move bytes.
    pub bytes: u64,
    /// Time between entry and return.
    pub total_ns: u64,
    /// Of `total_ns`: asleep, waiting for something. `None` where the tier does not know.
    pub blocked_ns: Option<u64>,
    /// Of `total_ns`: able to run, waiting for a CPU. `None` where the tier does not know.
    pub ready_ns: Option<u64>,
    /// Calls that move bytes, by bytes moved: see [`SIZE_LIMITS`].
    pub sizes: [u64; 8],
    /// How they ended, of calls that wait for one of several things with a time limit; `None` of
    /// others.
    #[serde(default)]
    pub polls: Option<PollEnds>,
    /// Of writes: whether they ended lines. `None` of other calls, and where none was examined.
    #[serde(default)]
    pub lines: Option<Lines>,
    /// Of calls at a given place of a file (`pread64`, `pwrite64`): those that began where the one
    /// before of this row had ended, the first at the front, or less than 4096 bytes further on.
    /// `None` of other calls.
    #[serde(default)]
    pub went_on: Option<u64>,
    /// When the first of them was entered.
    pub first_ns: u64,
    /// When the first that moved bytes returned; `None` if none did or the tier does not know.
    #[serde(default)]
    pub first_moved_ns: Option<u64>,
    /// When the last that moved bytes returned, likewise.
    #[serde(default)]
    pub last_moved_ns: Option<u64>,
}

impl SyscallRow {
    /// Whether they came through the 32-bit entry of x86.
    pub fn by_32_bit_entry(&self) -> bool {
        self.number & crate::calls::ENTRY_32 != 0
    }
}

/// Why a thread was not on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Waiting for something that a signal may interrupt: input, a lock, a timer, a child.
    Asleep,
    /// Waiting for something that no signal interrupts and that is not a disk: `vfork`, page locks.
    Uninterruptible,
    /// Waiting for a disk (the task's `in_iowait`).
    Disk,
    /// Stopped by a signal or a debugger.
    Stopped,
    /// The scheduler took the CPU away, or it was yielded.
    Preempted,
    /// Woken or just made, and not yet on a CPU.
    Ready,
    /// Running or ready, which this tier cannot distinguish (sampling tier).
    Running,
    /// Nobody knows: its records ended where it took on other rights (perf tier).
    Unseen,
}

/// Time off the CPU of one thread for one reason; in the sampling tier also `Running`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffCpuRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Name of the call it was in; `None` outside calls (a page fault, or plain computing).
    pub call: Option<String>,
    /// The call's descriptor.
    pub fd: Option<i32>,
    /// Why.
    pub cause: Cause,
    /// Intervals (kernel and perf tier) or samples (sampling tier).
    pub count: u64,
    /// Time: measured (kernel tier, and in the perf tier but for how waits too short for its
    /// samples are shared out), or samples times their distance (sampling tier).
    pub total_ns: u64,
    /// The longest interval; `None` in the sampling tier.
    pub longest_ns: Option<u64>,
    /// Intervals by length: entry 0 is below 1.024 us, entry `n` from `2^(n-1)` to `2^n` times
    /// 1.024 us, the last is open. Empty in the sampling tier.
    pub by_length: Vec<u32>,
    /// What its descriptor was then, by its place in [`Trace::objects`], where its number was several
    /// things one after the other (kernel tier).
    ///
    /// [`Trace::objects`]: crate::Trace::objects
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
    /// Calls that were ended by a time limit of a millisecond at least (kernel tier).
    #[serde(default, skip_serializing_if = "Limited::is_none")]
    pub limited: Limited,
}

/// Calls that waited until their time limit came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limited {
    /// How many.
    pub calls: u64,
    /// How long they took, ns.
    pub ns: u64,
}

impl Limited {
    fn is_none(&self) -> bool {
        self.calls == 0
    }
}

/// What a descriptor number of a process was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorRow {
    /// Process.
    pub pid: u32,
    /// Descriptor.
    pub fd: i32,
    /// The first different things it was, in order, at most eight.
    pub names: Vec<DescriptorKind>,
    /// How many more there were.
    pub more_names: u64,
}

/// What a file, pipe or socket got from a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// Process.
    pub pid: u32,
    /// What it is.
    pub name: DescriptorKind,
    /// Times it was opened (or made).
    pub opens: u64,
    /// Calls of the read family, at the moment when it was closed or the trace ended.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Calls of the write family.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// When it was first opened.
    pub first_ns: u64,
    /// The descriptor that most lately moved something of it; `None` if nothing was moved.
    #[serde(default)]
    pub fd: Option<i32>,
    /// How large it was when the run was over, if it is a file that was there then.
    #[serde(default)]
    pub size_bytes: Option<u64>,
}

/// What calls that take a path were asked for, whether they succeeded or not; all but `execve`, which
/// [`crate::Process::execs`] has.
///
/// Which paths the calls of a process had is known of some of them, chosen by their time (kernel tier)
/// or of all that were seen (ptrace tier). Where that were enough the rows of one process and
/// call add up to all of these calls: a path that they share has exact numbers, others are estimated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRow {
    /// Process.
    pub pid: u32,
    /// The call.
    pub call: String,
    /// The file or folder as it was named; one that is relative with what it is relative to before it,
    /// where that is known, and steps up are taken by name. Beyond 1,000 rows one row is of several paths: `#` is any number, `*` any
    /// name, and `**` is any path. Empty where it could not be read.
    pub path: String,
    /// Calls: estimated unless all calls of the process were for this path.
    pub calls: u64,
    /// Time between entry and return, waiting included, but not for a CPU where that is known; likewise
    /// estimated.
    pub ns: u64,
    /// Calls whose path was read.
    pub samples: u64,
}

/// A path that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupRow {
    /// The first process that asked; the row counts all of the tree.
    pub pid: u32,
    /// The call that asked.
    pub call: String,
    /// The path as it was named.
    pub path: String,
    /// The error number, such as 2 for `ENOENT`.
    pub errno: i32,
    /// How often.
    pub calls: u64,
    /// When first.
    pub first_ns: u64,
}
