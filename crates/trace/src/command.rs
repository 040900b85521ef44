//! What is traced, and within which limits?

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::name_maps::NameMaps;
use crate::stacks::StackPool;

/// Where a standard descriptor of the command leads.
#[derive(Debug, Default)]
pub enum Io {
    /// To where the tracer's own leads.
    #[default]
    Inherit,
    /// To `/dev/null`.
    Null,
    /// To this open file, pipe or socket.
    Fd(OwnedFd),
}

/// A command to trace.
#[derive(Debug, Default)]
pub struct TraceCommand {
    /// Program and arguments; a program without `/` is searched in `PATH`.
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
    /// Kill the command and its process group after this long.
    pub timeout: Option<Duration>,
    /// Where its runtime is asked to write names of the code that it makes. They are read, where
    /// [`TraceOptions::stacks`] are wanted, and removed when the last clone of this is dropped.
    pub name_maps: Option<Arc<NameMaps>>,
}

impl TraceCommand {
    /// One that a held child is made for and that is never run.
    pub(crate) fn nothing() -> Self {
        Self::new(["/"])
    }

    /// The command with everything else inherited.
    pub fn new<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

/// One of several commands that are traced at once, such as the stages of a pipeline.
#[derive(Debug, Default)]
pub struct Member {
    /// What is run. The shortest time limit of all members holds for all.
    pub command: TraceCommand,
    /// It is let go this long after the first.
    pub delay: Duration,
}

/// How much is traced and kept.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// Single off-CPU intervals, if wanted (not in the ptrace tier).
    pub timeline: Option<TimelineOptions>,
    /// Threads alive at once that can be followed (kernel tier).
    pub most_threads: u32,
    /// Rows of (thread, call, descriptor) that are kept (kernel tier).
    pub most_rows: u32,
    /// Whether it is reported when a program reaches its first own instruction (kernel tier,
    /// x86-64): 0.1 to 0.2 us for each page fault, next to nothing where those are timed.
    pub entries: bool,
    /// Whether page faults of the tree's own code are timed (kernel tier): 0.5 to 0.7 us for each,
    /// and less for those of others.
    pub fault_times: bool,
    /// CPU time between two samples of the own code of the tree, to know in which functions it is
    /// (kernel and perf tier): each takes 1 to 3 us, and 25 to 50 in a virtual machine within
    /// another.
    pub profile: Option<Duration>,
    /// Where stacks come together of what is sampled for [`TraceOptions::profile`], and in the kernel
    /// and ptrace tier of calls; none are copied where this is absent.
    pub stacks: Option<StackPool>,
    /// Time of calls, of waits and of page faults, each by itself, between two of which it is kept
    /// where in the code they were; of calls that take a path that path, too, four times as often
    /// (kernel tier). Each takes 1 to 3 us. The distance doubles after every 512 stacks, 2,048 paths.
    pub call_stacks: Option<Duration>,
    /// A Go program whose goroutines' waits for mutexes are recorded (kernel tier): 1 to 2 us for
    /// each wait.
    pub mutexes_of: Option<PathBuf>,
    /// Bytes of the ring of records, a power of 2 of at least a page (kernel tier).
    pub ring_bytes: u32,
    /// Bytes of the ring of stacks, likewise.
    pub stack_ring_bytes: u32,
    /// Distance of samples (perf and sampling tier).
    pub sample_period: Duration,
    /// Calls that are traced before the command is let run freely (ptrace tier).
    pub most_stops: u64,
    /// Time after which it is let run freely (ptrace tier).
    pub stops_time: Duration,
    /// Stop the command only where it executes a program, where that program reaches its first own
    /// instruction, and where it forks (ptrace tier): no calls and no files are seen, and times
    /// hold. See [`Trace::held_ns`](crate::Trace::held_ns).
    pub only_milestones: bool,
    /// What links of `/proc/PID/fd` say, such as `pipe:[4711]`, and the name that such a descriptor
    /// gets instead of `pipe`: so that one pipe can be distinguished from others.
    pub labels: Vec<(String, String)>,
    /// Kill the command when this becomes true; the trace up to then is returned.
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
            // 10 000 to 50 000 records between two readings 10 ms apart.
            ring_bytes: 4 << 20,
            // 500 stacks of 8 KiB between two readings.
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

/// Which off-CPU intervals are kept one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Only those at least this long; up to 2 s.
    pub shortest: Duration,
    /// At most this many; more are counted as lost.
    pub most: usize,
    /// Also waits of which no sample saw what they were for: without a call (perf tier).
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
