//! What is traced, and within which limits.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::name_maps::NameMaps;
use crate::stacks::StackPool;

/// The target of a command's standard descriptor.
#[derive(Debug, Default)]
pub enum Io {
    /// Inherited from the tracer.
    #[default]
    Inherit,
    /// `/dev/null`.
    Null,
    /// This open file, pipe or socket.
    Fd(OwnedFd),
}

/// A command to trace.
#[derive(Debug, Default)]
pub struct TraceCommand {
    /// Program and arguments; a program without `/` is searched for in `PATH`.
    pub argv: Vec<OsString>,
    /// The whole environment; `None` for the tracer's own.
    pub env: Option<Vec<(OsString, OsString)>>,
    /// Working directory; `None` for the tracer's own.
    pub cwd: Option<PathBuf>,
    /// Standard input.
    pub stdin: Io,
    /// Standard output.
    pub stdout: Io,
    /// Standard error.
    pub stderr: Io,
    /// Kill the command and its process group after this duration.
    pub timeout: Option<Duration>,
    /// Where the command's runtime writes the names of generated code. The files are read if
    /// [`TraceOptions::stacks`] is set, and removed when the last clone of this is dropped.
    pub name_maps: Option<Arc<NameMaps>>,
}

impl TraceCommand {
    /// Returns an empty command, for a held child that is never run.
    pub(crate) fn nothing() -> Self {
        Self::new(["/"])
    }

    /// Creates a command that inherits everything else from the tracer.
    pub fn new<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

/// One of several commands that are traced together, such as the stages of a pipeline.
#[derive(Debug, Default)]
pub struct Member {
    /// The command to run. The shortest timeout of all members applies to all.
    pub command: TraceCommand,
    /// Delay between the release of the first member and that of this one.
    pub delay: Duration,
}

/// What is traced, and how much of it is kept.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// Individual off-CPU intervals, if wanted (not in the ptrace tier).
    pub timeline: Option<TimelineOptions>,
    /// Maximum number of simultaneous threads that can be followed (kernel tier).
    pub most_threads: u32,
    /// Maximum number of (thread, call, descriptor) rows (kernel tier).
    pub most_rows: u32,
    /// Whether to report when a program reaches its own first instruction (kernel tier, x86-64). Costs 0.1 to
    /// 0.2 us per page fault, almost nothing if those are timed.
    pub entries: bool,
    /// Whether to time page faults of the tree's own code (kernel tier). Costs 0.5 to 0.7 us for each, and
    /// less for those of other processes.
    pub fault_times: bool,
    /// CPU time between two samples of the tree's own code, which attribute it to functions (kernel and perf
    /// tier). Each takes 1 to 3 us, and 25 to 50 in a nested virtual machine.
    pub profile: Option<Duration>,
    /// The pool that collects stacks of the samples for [`TraceOptions::profile`] and, in the kernel and
    /// ptrace tier, of calls; if absent, no stacks are copied.
    pub stacks: Option<StackPool>,
    /// The time after which a stack is recorded, to show where in the code the program was. Calls, waits and
    /// page faults each have their own count of time. For calls with a path argument, paths are also
    /// recorded, four times as often (kernel tier). Each record takes 1 to 3 us. The distance doubles after
    /// every 512 stacks or 2,048 paths.
    pub call_stacks: Option<Duration>,
    /// A Go program whose goroutines' mutex waits are recorded (kernel tier). Costs 1 to 2 us per wait.
    pub mutexes_of: Option<PathBuf>,
    /// Size of the ring of records in bytes, a power of 2 of at least a page (kernel tier).
    pub ring_bytes: u32,
    /// Size of the ring of stacks in bytes, with the same constraints as `ring_bytes`.
    pub stack_ring_bytes: u32,
    /// Interval between samples (perf and sampling tier).
    pub sample_period: Duration,
    /// Number of calls that are traced before the command runs freely (ptrace tier).
    pub most_stops: u64,
    /// Time that the stops may take before the command runs freely (ptrace tier). Of the time between two
    /// stops, one millisecond counts at most.
    pub stops_time: Duration,
    /// Stop the command only when it executes a program, when that program reaches its own first instruction,
    /// and when it forks (ptrace tier). Calls and files aren't seen, and times are accurate. See
    /// [`Trace::held_ns`](crate::Trace::held_ns).
    pub only_milestones: bool,
    /// Pairs of a link target in `/proc/PID/fd`, such as `pipe:[4711]`, and the name that such a descriptor
    /// gets instead of `pipe`, to distinguish one pipe from others.
    pub labels: Vec<(String, String)>,
    /// Kill the command when this becomes true; the trace so far is returned.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            timeline: None,
            most_threads: 8192,
            most_rows: 32_768,
            entries: true,
            fault_times: true,
            profile: None,
            stacks: None,
            call_stacks: None,
            mutexes_of: None,
            // Enough for 10,000 to 50,000 records between two readings 10 ms apart.
            ring_bytes: 4 << 20,
            // Enough for 500 stacks of 8 KiB; at half of this, the program is held back.
            stack_ring_bytes: 4 << 20,
            sample_period: Duration::from_millis(1),
            most_stops: 20_000,
            stops_time: Duration::from_secs(2),
            only_milestones: false,
            labels: Vec::new(),
            stop: None,
        }
    }
}

/// Which off-CPU intervals are kept individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Minimum length of an interval; up to 2 s.
    pub shortest: Duration,
    /// Maximum number of intervals; more are counted as lost.
    pub most: usize,
    /// Whether to include waits whose call no sample saw (perf tier).
    pub unnamed: bool,
}

impl Default for TimelineOptions {
    fn default() -> Self {
        Self {
            shortest: Duration::from_micros(20),
            most: 100_000,
            unnamed: false,
        }
    }
}
