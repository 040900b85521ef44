//! Totals of the calls and the waits of a trace, and of descriptors, files and names.

use serde::{Deserialize, Serialize};

use crate::descriptor::DescriptorKind;

/// Upper limits in bytes of the first seven of eight size classes; the last class has no limit.
pub const SIZE_LIMITS: [u64; 7] = [0, 1, 15, 511, 4095, 65_535, 1_048_575];

/// How the polls of a row ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollEnds {
    /// Number of polls that returned 0, because their timeout expired before anything that they waited for
    /// happened.
    pub by_limit: u64,
    /// Duration of these polls, ns. If calls were stopped, it includes the stops.
    pub by_limit_ns: u64,
    /// Duration of all polls, ns, including those that a signal or the end of the trace cut off. If calls
    /// were stopped, it includes the stops.
    pub total_ns: u64,
}

/// Whether the writes of a row ended lines; only some of the first writes are examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// Number of writes whose last byte was examined.
    pub examined: u64,
    /// Number of these whose last byte was a newline.
    pub ended: u64,
}

/// Calls of one kind by one thread on one descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// The call's number on this architecture. 65536 is added for a call through the 32-bit entry of x86. If
    /// only the 32-bit table has such a call, another 131072 is added, and the number is the one in that
    /// table.
    pub number: u32,
    /// The call's name.
    pub name: String,
    /// The descriptor in its first argument; `None` for calls without one.
    pub fd: Option<i32>,
    /// Number of calls that returned a result.
    pub calls: u64,
    /// Number of [`calls`](Self::calls) in the second half of the budget, if calls are only traced until a
    /// budget is spent: an estimate of what the program did after that. Otherwise 0.
    #[serde(default)]
    pub late_calls: u64,
    /// Number of calls that didn't return: they were interrupted by a signal (and perhaps restarted, which
    /// counts as another call), or cut off by the end of the thread or of the trace.
    pub unfinished: u64,
    /// Number of calls that returned an error.
    pub errors: u64,
    /// Number of errors that were `EAGAIN`: no data yet.
    pub would_block: u64,
    /// Sum of positive results of calls that move bytes.
    pub bytes: u64,
    /// Total time between entry and return.
    pub total_ns: u64,
    /// Part of `total_ns` during which the thread was asleep, waiting for something. `None` if the tier
    /// doesn't know it.
    pub blocked_ns: Option<u64>,
    /// Part of `total_ns` during which the thread was able to run but waited for a CPU. `None` if the tier
    /// doesn't know it.
    pub ready_ns: Option<u64>,
    /// Numbers of calls that move bytes, by the number of bytes moved: see [`SIZE_LIMITS`].
    pub sizes: [u64; 8],
    /// How calls that wait for one of several things with a timeout ended; `None` for other calls.
    #[serde(default)]
    pub polls: Option<PollEnds>,
    /// For writes, whether they ended lines. `None` for other calls, and if no write was examined.
    #[serde(default)]
    pub lines: Option<Lines>,
    /// For calls at an offset of a file (`pread64`, `pwrite64`), the number that began where the previous
    /// call of this row ended, or less than 4096 bytes after that; the first call counts if it began at
    /// offset 0. `None` for other calls.
    #[serde(default)]
    pub went_on: Option<u64>,
    /// When the first of these calls was entered.
    pub first_ns: u64,
    /// When the first call that moved bytes returned; `None` if none did or the tier doesn't know it.
    #[serde(default)]
    pub first_moved_ns: Option<u64>,
    /// When the last call that moved bytes returned; `None` if none did or the tier doesn't know it.
    #[serde(default)]
    pub last_moved_ns: Option<u64>,
}

impl SyscallRow {
    /// Returns whether the calls came through the 32-bit entry of x86.
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
    /// Waiting for something that no signal interrupts and that isn't a disk: `vfork`, page locks.
    Uninterruptible,
    /// Waiting for a disk (the task's `in_iowait`).
    Disk,
    /// Stopped by a signal or a debugger.
    Stopped,
    /// Preempted by the scheduler, or yielded the CPU.
    Preempted,
    /// Woken or just created, and not yet on a CPU.
    Ready,
    /// Running or ready, which this tier cannot distinguish (sampling tier).
    Running,
    /// Unknown, because the thread's records ended when it gained other privileges (perf tier).
    Unseen,
}

/// Time that one thread spent off the CPU for one reason; in the sampling tier, the reason may also be
/// `Running`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffCpuRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Name of the call that it was in; `None` outside calls (a page fault, or computation).
    pub call: Option<String>,
    /// The call's descriptor.
    pub fd: Option<i32>,
    /// Why it was off the CPU.
    pub cause: Cause,
    /// Number of intervals (kernel and perf tier) or samples (sampling tier).
    pub count: u64,
    /// Total time. In the kernel tier it is measured; in the perf tier too, but waits too short for the
    /// samples are distributed. In the sampling tier it is the number of samples times their interval.
    pub total_ns: u64,
    /// The longest interval; `None` in the sampling tier.
    pub longest_ns: Option<u64>,
    /// Number of intervals by length: entry 0 counts those below 1.024 us, entry `n` those from `2^(n-1)` to
    /// `2^n` times 1.024 us, and the last has no upper limit. Empty in the sampling tier.
    pub by_length: Vec<u32>,
    /// The descriptor's target at that time, as an index into [`Trace::objects`]. Present if its number had
    /// several targets in sequence (kernel tier).
    ///
    /// [`Trace::objects`]: crate::Trace::objects
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
    /// Calls that ended because of a timeout of at least a millisecond (kernel tier).
    #[serde(default, skip_serializing_if = "Limited::is_none")]
    pub limited: Limited,
}

/// The waits of a process for answers of peers, and the requests in flight meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlightRow {
    /// Process.
    pub pid: u32,
    /// Time asleep, of all threads, in polls and in reads of connections to peers, ns.
    pub waited_ns: u64,
    /// The same time, each part of it multiplied by the number of connections on which an answer was awaited
    /// at its end.
    pub requests_ns: u64,
    /// The same time by peer. If answers of several peers were awaited in a poll, it is divided among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<AwaitedPeer>,
}

/// A peer for whose answers a process waited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedPeer {
    /// Its address.
    pub peer: String,
    /// Time asleep, of all threads, ns.
    pub waited_ns: u64,
}

/// How much a process had read by when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressRow {
    /// Process.
    pub pid: u32,
    /// Points in the order of time, at most 128.
    pub points: Vec<Progress>,
}

/// What a process had done at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The time.
    pub at_ns: u64,
    /// CPU time of its threads until then.
    pub cpu_ns: u64,
    /// Bytes that its reads had returned, from files, pipes and sockets.
    pub read: u64,
}

/// Calls that waited until their timeout expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limited {
    /// Number of calls.
    pub calls: u64,
    /// Total duration of these calls, ns.
    pub ns: u64,
}

impl Limited {
    fn is_none(&self) -> bool {
        self.calls == 0
    }
}

/// The targets of a process's descriptor number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorRow {
    /// Process.
    pub pid: u32,
    /// Descriptor.
    pub fd: i32,
    /// The first distinct targets, in order; at most eight.
    pub names: Vec<DescriptorKind>,
    /// Number of further targets.
    pub more_names: u64,
}

/// A process's use of a file, pipe or socket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// Process.
    pub pid: u32,
    /// The object.
    pub name: DescriptorKind,
    /// Number of times it was opened (or created).
    pub opens: u64,
    /// Number of read calls up to when it was closed, or to the end of the trace.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Number of write calls.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// When it was first opened.
    pub first_ns: u64,
    /// The descriptor through which it was last read or written; `None` if no data was moved.
    #[serde(default)]
    pub fd: Option<i32>,
    /// Its size in bytes after the run, if it is a file that still existed.
    #[serde(default)]
    pub size_bytes: Option<u64>,
}

/// The path arguments of calls, whether the calls succeeded or not. Covers all calls except `execve`, which
/// is in [`crate::Process::execs`].
///
/// The paths are known for some of a process's calls, chosen by their time (kernel tier), or for all calls
/// that were seen (ptrace tier). If enough paths are known, the rows of one process and call add up to all of
/// these calls. The numbers are exact if all calls have the same path, and estimated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRow {
    /// Process.
    pub pid: u32,
    /// The call.
    pub call: String,
    /// The file or folder as it was named; a relative path is prefixed with its directory, if known, and `..`
    /// is resolved by name. Beyond 1,000 rows, one row covers several paths: `#` is any number, `*` any name,
    /// and `**` any path. Empty if the path could not be read.
    pub path: String,
    /// Number of calls; estimated unless all calls of the process had this path.
    pub calls: u64,
    /// Time between entry and return. It includes waits, except those for a CPU if these are known. Estimated
    /// in the same cases as `calls`.
    pub ns: u64,
    /// Number of calls whose path was read.
    pub samples: u64,
}

/// A path that could not be opened or found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupRow {
    /// The first process that looked it up; the row counts the whole tree.
    pub pid: u32,
    /// The call that had this path as its argument.
    pub call: String,
    /// The path as it was named.
    pub path: String,
    /// The error number, such as 2 for `ENOENT`.
    pub errno: i32,
    /// Number of calls.
    pub calls: u64,
    /// When it was first looked up.
    pub first_ns: u64,
}
