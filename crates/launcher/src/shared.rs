//! The memory shared by Fathom and its launcher: jobs in, answers out.
//!
//! Both programs are compiled with this module. All pointers in [`Job`] are addresses in the launcher, where
//! the memory is mapped at [`BASE`]; Fathom maps it anywhere and converts them.

/// Address of the shared memory in the launcher. Far from where the kernel places a static program,
/// its stack and its vDSO, on x86-64 and AArch64 alike.
pub const BASE: u64 = 0x1000_0000_0000;

/// Size of the shared memory. The kernel accepts at most 6 MiB of arguments and environment; untouched pages
/// cost nothing.
pub const SIZE: usize = 8 << 20;

/// Maximum number of jobs in one hand-over. The launcher's memory is the smallest peak memory that can be
/// reported for a program, so it is kept small.
pub const SLOTS: usize = 128;

/// Maximum number of stages in a pipeline.
pub const MOST_STAGES: usize = 16;

/// Offset of the [`Pipeline`].
pub const PIPELINE: usize = 131072;

/// Offset of the strings and pointer arrays of all jobs.
pub const STRINGS: usize = 151552;

/// Text that closes the JSON record while more runs may follow.
pub const OPEN_END: &str = "\n],\n\"complete\":false,\n\"outcome\":null}\n";

/// File descriptors that the launcher starts with.
pub mod fd {
    /// Incoming commands, one byte each.
    pub const COMMANDS: i32 = 3;
    /// Receives one byte for each completed command.
    pub const DONE: i32 = 4;
    /// The shared memory.
    pub const MEMORY: i32 = 5;
    /// Fathom's own standard output, for `OutputTo::Inherit`.
    pub const OUTPUT: i32 = 6;
    /// Fathom's own standard error.
    pub const ERROR: i32 = 7;
    /// Write end of the pipe for standard output.
    pub const OUTPUT_PIPE: i32 = 8;
    /// Write end of the pipe for standard error.
    pub const ERROR_PIPE: i32 = 9;
    /// The empty program.
    pub const FLOOR: i32 = 10;
    /// `/proc`, opened by the launcher.
    pub const PROC: i32 = 11;
    /// `/proc/self/schedstat`, opened by the launcher.
    pub const OWN_SCHEDSTAT: i32 = 12;
    /// `/dev/null`, opened by the launcher.
    pub const NULL: i32 = 13;
    /// The JSON record, if there is one; its file position is where the next run goes.
    pub const RECORD: i32 = 14;
    /// A socket through which a process sends the listener of its filter, if the filter has one.
    pub const HANDOVER: i32 = 15;
    /// The first descriptor that the caller may place.
    pub const EXTRA: i32 = 16;
    /// End of the caller's descriptors, exclusive.
    pub const EXTRA_END: i32 = 64;
    /// In a pipeline: the pipe from the previous stage, or to the next.
    pub const NEIGHBOUR: i32 = -1;
}

/// Commands.
pub mod command {
    /// Run the jobs in sequence, each once.
    pub const RUN: u8 = b'r';
    /// Run the pipeline once.
    pub const PIPELINE: u8 = b'p';
    /// End and reap every process that runs have left behind.
    pub const SWEEP: u8 = b's';
}

/// Which step of starting a program failed.
pub mod step {
    /// No step failed.
    pub const NONE: u32 = 0;
    /// Opening standard input.
    pub const INPUT: u32 = 1;
    /// Opening standard output.
    pub const OUTPUT: u32 = 2;
    /// Changing the working directory.
    pub const DIRECTORY: u32 = 3;
    /// Creating the process.
    pub const CLONE: u32 = 4;
    /// Pinning the process to its CPUs.
    pub const PIN: u32 = 5;
    /// Executing the program.
    pub const EXEC: u32 = 6;
    /// Starting the stage of a pipeline: it was never started, because the run ended earlier.
    pub const NOT_STARTED: u32 = 7;
    /// Creating the pipe to the next stage.
    pub const PIPE: u32 = 8;
    /// Installing the system call filter.
    pub const FILTER: u32 = 9;
    /// Making the process's own mounts.
    pub const MOUNT: u32 = 10;
    /// Moving the process to another control group.
    pub const GROUP: u32 = 11;
}

/// The command to run. Strings end with a zero byte; 0 means 'not given'.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Job {
    /// Path of the program.
    pub path: u64,
    /// Array of pointers to the arguments, 0 at its end.
    pub argv: u64,
    /// Array of pointers to `NAME=value` strings, 0 at its end.
    pub envp: u64,
    /// Working directory, if it differs from that of the previous job.
    pub directory: u64,
    /// Start of the run's object in the JSON record; if 0, the run is not written there.
    pub record_head: u64,
    /// File for standard input; `/dev/null` if 0.
    pub input: u64,
    /// File for standard output, truncated first; if 0, `output_fd` is used.
    pub output: u64,
    /// CPU mask for `sched_setaffinity`.
    pub cpu_mask: u64,
    /// Length of the mask in bytes.
    pub cpu_mask_length: u64,
    /// Instructions of a system call filter (`struct sock_filter`).
    pub filter: u64,
    /// Consecutive strings about the process's own mounts: what to write to `uid_map` and `gid_map` (empty if
    /// the process may mount without a user namespace), the working directory, and four strings for each
    /// mount (source, target, type, options). The type is empty for a bind mount. An empty string ends them.
    pub mounts: u64,
    /// Consecutive paths: the `cgroup.procs` of the control groups to which the process moves. An empty string
    /// ends them.
    pub groups: u64,
    /// Descriptor for standard output if `output` is 0.
    pub output_fd: i32,
    /// Descriptor for standard error.
    pub error_fd: i32,
    /// 1: the next job belongs to another round.
    pub ends_round: u32,
    /// Number of instructions of the filter.
    pub filter_length: u32,
    /// How many times the filter is installed.
    pub filter_times: u32,
    /// 1: the kernel notifies Fathom of the filtered calls; the listener is sent through [`fd::HANDOVER`].
    pub filter_asks: u32,
}

/// Settings for all jobs of a hand-over.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Control {
    /// Number of jobs.
    pub jobs: u32,
    /// Number of answers, incremented by the launcher; when it is done, the number of completed jobs.
    pub answers: u32,
    /// No new round begins after this time.
    pub budget_ns: u64,
    /// No new job begins after this time.
    pub longest_ns: u64,
    /// Start of the record's clock, in nanoseconds of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// Set by Fathom during a run: the number of the job, from 1, whose whole process tree must end. No later
    /// job begins.
    pub kill_tree: u32,
    /// 1: the kernel allows opening `/proc/PID/io` only while the process lives.
    pub early_io: u32,
    /// Processes left behind by earlier runs.
    pub left_before: u32,
    /// Process id of Fathom, to notice if it died before the launcher was set up.
    pub parent: i32,
    /// Written by the launcher: processes that could not be ended.
    pub immortal: u32,
    /// Set before the launcher starts: the highest descriptor that the caller has placed.
    pub highest_fd: i32,
    /// 1: report on which CPU each process last ran, and how long it had waited for one before its program.
    pub wants_cpu: u32,
    /// Keeps the layout the same on all targets.
    pub reserved: u32,
}

/// The largest `/proc/PID/io`: seven lines of a name of at most 23 letters and a number of 20 digits.
pub const IO_TEXT: usize = 320;
/// The largest `schedstat`: three numbers of 20 digits.
pub const SCHEDSTAT_TEXT: usize = 64;

/// The content of a `/proc` file, as text.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    /// Bytes used; if negative, the error number.
    pub length: i64,
    /// The text.
    pub bytes: [u8; N],
}

/// The outcome of a job. Times are nanoseconds of `CLOCK_MONOTONIC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Answer {
    /// Process id of the child, 0 while there is none.
    pub child: i32,
    /// One of [`step`].
    pub failed_step: u32,
    /// Error number of the failed step.
    pub error: i32,
    /// Wait status as returned by `wait4`.
    pub status: i32,
    /// Taken before the process is created.
    pub start_ns: u64,
    /// Taken in the child, before it executes the program.
    pub exec_ns: u64,
    /// Taken after its exit was seen.
    pub end_ns: u64,
    /// `struct rusage` as returned by `wait4`: 2 timevals, then 14 longs.
    pub usage: [i64; 18],
    /// `/proc/PID/schedstat` of the dead process.
    pub schedstat: Text<SCHEDSTAT_TEXT>,
    /// `/proc/PID/io` of the dead process.
    pub io: Text<IO_TEXT>,
    /// The process's own `schedstat` right before it called `execve`, if its CPU is requested.
    pub before_exec: Text<SCHEDSTAT_TEXT>,
    /// `/proc/self/schedstat` of the launcher before it began to wait.
    pub own_before: Text<SCHEDSTAT_TEXT>,
    /// The same after it saw the exit.
    pub own_after: Text<SCHEDSTAT_TEXT>,
    /// Number of processes that still exist.
    pub left_behind: u32,
    /// CPU on which the dead process last ran; negative if not requested or not reported by the kernel.
    pub cpu: i32,
}

/// The beginning of the shared memory, up to [`PIPELINE`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shared {
    /// Written by Fathom, except where noted.
    pub control: Control,
    /// Written by Fathom.
    pub jobs: [Job; SLOTS],
    /// Written by the launcher.
    pub answers: [Answer; SLOTS],
}

const _: () = assert!(core::mem::size_of::<Shared>() <= PIPELINE);

/// One stage of a pipeline.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stage {
    /// The command of the stage.
    pub job: Job,
    /// The outcome of the stage.
    pub answer: Answer,
    /// Delay of its start after the pipeline's start.
    pub delay_ns: u64,
    /// Descriptor for standard input, if the job names no file.
    pub input_fd: i32,
    /// 1: the launcher closes the two descriptors for good once the stage has them.
    pub close_after: u32,
}

/// Commands that run concurrently, each writing to the next.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pipeline {
    /// Stages in use; 0 while no pipeline runs.
    pub count: u32,
    /// Number of processes that still exist.
    pub left_behind: u32,
    /// Taken before the first stage is created; nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// The stages, in the order of the pipeline.
    pub stages: [Stage; MOST_STAGES],
}

const _: () = assert!(PIPELINE + size_of::<Pipeline>() <= STRINGS);
