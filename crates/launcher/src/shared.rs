//! The memory that Fathom and its launcher share: jobs in, answers out.
//!
//! Both are compiled with it. All pointers in [`Job`] are addresses in the launcher, where the
//! memory is mapped at [`BASE`]; Fathom maps it anywhere and converts.

/// Address of the shared memory in the launcher. Far from where the kernel places a static program,
/// its stack and its vDSO, on x86-64 and AArch64 alike.
pub const BASE: u64 = 0x1000_0000_0000;

/// Size of the shared memory. The kernel takes at most 6 MiB of arguments and environment; pages
/// that aren't touched cost nothing.
pub const SIZE: usize = 8 << 20;

/// Most jobs that are handed over at once. The launcher's memory is the least peak memory that a
/// program can be reported with, so it is kept small.
pub const SLOTS: usize = 128;

/// Most stages that a pipeline may have.
pub const MOST_STAGES: usize = 16;

/// Offset of the [`Pipeline`].
pub const PIPELINE: usize = 131072;

/// Offset of the strings and pointer arrays of all jobs.
pub const STRINGS: usize = 151552;

/// What closes the JSON record after the last of its runs, while there may be more.
pub const OPEN_END: &str = "\n],\n\"complete\":false,\n\"outcome\":null}\n";

/// File descriptors that the launcher starts with.
pub mod fd {
    /// Commands come in here, one byte each.
    pub const COMMANDS: i32 = 3;
    /// One byte goes out here for each command done.
    pub const DONE: i32 = 4;
    /// The shared memory.
    pub const MEMORY: i32 = 5;
    /// Fathom's own standard output, for `OutputTo::Inherit`.
    pub const OUTPUT: i32 = 6;
    /// Fathom's own standard error.
    pub const ERROR: i32 = 7;
    /// Write end of the pipe that takes standard output.
    pub const OUTPUT_PIPE: i32 = 8;
    /// Write end of the pipe that takes standard error.
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
    /// A socket through which a process sends the other end of its filter, if its filter has one.
    pub const HANDOVER: i32 = 15;
    /// The first that the caller may place for himself.
    pub const EXTRA: i32 = 16;
    /// They end before this one.
    pub const EXTRA_END: i32 = 64;
    /// In a pipeline: the pipe from the stage before, or to the next.
    pub const NEIGHBOUR: i32 = -1;
}

/// Commands.
pub mod command {
    /// Make the jobs, each once, one after the other.
    pub const RUN: u8 = b'r';
    /// Run the pipeline once.
    pub const PIPELINE: u8 = b'p';
    /// End and reap every process that runs have left behind.
    pub const SWEEP: u8 = b's';
}

/// Which step of starting a program failed.
pub mod step {
    /// None.
    pub const NONE: u32 = 0;
    /// Opening standard input.
    pub const INPUT: u32 = 1;
    /// Opening standard output.
    pub const OUTPUT: u32 = 2;
    /// Changing the working directory.
    pub const DIRECTORY: u32 = 3;
    /// Creating the process.
    pub const CLONE: u32 = 4;
    /// Pinning it to its CPUs.
    pub const PIN: u32 = 5;
    /// Executing the program.
    pub const EXEC: u32 = 6;
    /// A stage of a pipeline that was never begun, because the run was ended before.
    pub const NOT_STARTED: u32 = 7;
    /// Making the pipe to the next stage.
    pub const PIPE: u32 = 8;
    /// Putting a filter of calls in place.
    pub const FILTER: u32 = 9;
}

/// The command to run. Strings end with a zero byte; 0 stands for 'not given'.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Job {
    /// Path of the program.
    pub path: u64,
    /// Array of pointers to the arguments, 0 at its end.
    pub argv: u64,
    /// Array of pointers to `NAME=value` strings, 0 at its end.
    pub envp: u64,
    /// Working directory, if it is another than that of the job before.
    pub directory: u64,
    /// How the run's object in the JSON record begins; 0: it is not written there.
    pub record_head: u64,
    /// File for standard input; `/dev/null` if 0.
    pub input: u64,
    /// File for standard output, emptied first; else `output_fd` is used.
    pub output: u64,
    /// CPU mask for `sched_setaffinity`.
    pub cpu_mask: u64,
    /// Length of the mask in bytes.
    pub cpu_mask_length: u64,
    /// Instructions of a filter of calls (`struct sock_filter`).
    pub filter: u64,
    /// Descriptor for standard output, when `output` is 0.
    pub output_fd: i32,
    /// Descriptor for standard error.
    pub error_fd: i32,
    /// 1: the next job belongs to another round.
    pub ends_round: u32,
    /// How many instructions the filter has.
    pub filter_length: u32,
    /// How often the filter is put in place.
    pub filter_times: u32,
    /// 1: the kernel asks by the filter, whose other end is sent through [`fd::HANDOVER`].
    pub filter_asks: u32,
}

/// What holds for all jobs of a hand-over.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Control {
    /// Number of jobs.
    pub jobs: u32,
    /// Number of answers, counted up by the launcher; when it is done, the jobs that were made.
    pub answers: u32,
    /// No further round is begun when this much time has passed.
    pub budget_ns: u64,
    /// No further job is begun when this much time has passed.
    pub longest_ns: u64,
    /// Moment that the record counts from, by `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// Set by Fathom while a run is on: the number of the job, from 1, whose whole tree is to end.
    /// No job after it is begun.
    pub kill_tree: u32,
    /// 1: the kernel lets us open `/proc/PID/io` only while the process lives.
    pub early_io: u32,
    /// Processes left behind by runs that were made before.
    pub left_before: u32,
    /// Process id of Fathom, to notice that it died before the launcher was set up.
    pub parent: i32,
    /// Written by the launcher: processes that could not be ended.
    pub immortal: u32,
    /// When the launcher starts: the highest descriptor that the caller has placed for himself.
    pub highest_fd: i32,
    /// 1: report on which CPU each process ran last, and how long it had waited for one before its
    /// program.
    pub wants_cpu: u32,
    /// Keeps the layout the same on all targets.
    pub reserved: u32,
}

/// The largest `/proc/PID/io`: seven lines of a name of at most 23 letters and a number of 20
/// digits.
pub const IO_TEXT: usize = 320;
/// The largest `schedstat`: three numbers of 20 digits.
pub const SCHEDSTAT_TEXT: usize = 64;

/// What the kernel said in `/proc`, as text.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    /// Bytes used; negative: the error number.
    pub length: i64,
    /// The text.
    pub bytes: [u8; N],
}

/// What came of it. Times are nanoseconds of `CLOCK_MONOTONIC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Answer {
    /// Process id of the child, 0 while there is none.
    pub child: i32,
    /// One of [`step`].
    pub failed_step: u32,
    /// Error number of the failed step.
    pub error: i32,
    /// Wait status as `wait4` gives it.
    pub status: i32,
    /// Before the process is created.
    pub start_ns: u64,
    /// In the child, before it executes the program.
    pub exec_ns: u64,
    /// After its exit was seen.
    pub end_ns: u64,
    /// `struct rusage` as `wait4` gives it: 2 timevals, then 14 longs.
    pub usage: [i64; 18],
    /// `/proc/PID/schedstat` of the dead process.
    pub schedstat: Text<SCHEDSTAT_TEXT>,
    /// `/proc/PID/io` of the dead process.
    pub io: Text<IO_TEXT>,
    /// The process's own `schedstat` right before it called `execve`, where its CPU is asked for as
    /// well.
    pub before_exec: Text<SCHEDSTAT_TEXT>,
    /// `/proc/self/schedstat` of the launcher before it began to wait.
    pub own_before: Text<SCHEDSTAT_TEXT>,
    /// The same after it saw the exit.
    pub own_after: Text<SCHEDSTAT_TEXT>,
    /// Processes that are still there.
    pub left_behind: u32,
    /// CPU on which the dead process ran last; negative if nobody asked or the kernel did not say.
    pub cpu: i32,
}

/// The shared memory's begin, up to [`PIPELINE`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shared {
    /// Written by Fathom, but for what it says.
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
    /// What it runs.
    pub job: Job,
    /// What came of it.
    pub answer: Answer,
    /// Start it this long after the pipeline's start.
    pub delay_ns: u64,
    /// Descriptor for standard input, when the job names no file.
    pub input_fd: i32,
    /// 1: the launcher closes the two descriptors for good once the stage has them.
    pub close_after: u32,
}

/// Commands that run at once, each writing to the next.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pipeline {
    /// Stages in use; 0 while no pipeline runs.
    pub count: u32,
    /// Processes that are still there.
    pub left_behind: u32,
    /// Before the first stage is created; nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// The stages, in the order of the pipeline.
    pub stages: [Stage; MOST_STAGES],
}

const _: () = assert!(PIPELINE + size_of::<Pipeline>() <= STRINGS);
