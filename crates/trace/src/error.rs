//! Errors of tracing a command.

use std::io;

use crate::kernel::btf::BtfError;

/// What went wrong; no process is left running.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The command has no program.
    #[error("no command was given to trace")]
    NoCommand,
    /// An argument, a variable or the directory contains a zero byte.
    #[error("a zero byte in {0:?}, which no program can be given")]
    ZeroByte(String),
    /// The program doesn't exist.
    #[error("`{0}` was not found in PATH")]
    NotFound(String),
    /// The program could not be started.
    #[error("`{program}` could not be started: {stage}: {error}")]
    NotStarted {
        /// The program to run.
        program: String,
        /// The step that failed.
        stage: &'static str,
        /// The system's reason.
        error: io::Error,
    },
    /// The tier needs privileges that this process doesn't have.
    #[error(
        "in-kernel tracing is not allowed: {0}; run as root, or once: \
         sudo setcap cap_bpf,cap_perfmon+ep <this program>"
    )]
    NotAllowed(&'static str),
    /// The kernel lacks something that the tier needs.
    #[error("in-kernel tracing does not work on this kernel: {0}")]
    Kernel(String),
    /// The kernel's process ids differ from those that this process sees.
    #[error(
        "in-kernel tracing sees the host's process IDs, but this container has its own: run Fathom on the host"
    )]
    Namespace,
    /// The kernel's type information is missing or unusable.
    #[error("in-kernel tracing does not work on this kernel: {0}")]
    Btf(#[from] BtfError),
    /// The tier can't observe several commands at once.
    #[error("several commands at once can't be observed by stopping them at every call")]
    Group,
    /// A running process can't be observed.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// A system call of the tracer failed.
    #[error("{what}: {error}")]
    System {
        /// The operation that was tried.
        what: &'static str,
        /// The system's reason.
        error: io::Error,
    },
}

/// Adds the operation that was tried to a system error.
pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> TraceError {
    move |error| TraceError::System { what, error }
}

/// Why a process can't be observed.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// No process has this id.
    #[error("there is no process {0}: it has ended, or it never was; `ps -e` lists those that run")]
    Gone(u32),
    /// The process has ended, but has not been reaped.
    #[error("process {pid} ({name}) has ended already: only its parent hasn't taken note of that")]
    Ended {
        /// Its process id.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The id is that of a thread.
    #[error("{tid} is a thread of process {pid} ({name}): observe that one, with --pid {pid}")]
    Thread {
        /// The thread id.
        tid: u32,
        /// The process of the thread.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The process is a kernel thread.
    #[error("process {pid} ({name}) is a kernel thread, which has no program to observe")]
    Kernel {
        /// Its process id.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The process is this one.
    #[error("process {0} is this Fathom itself, which has nothing to do but to observe")]
    Itself(u32),
    /// The user isn't allowed to trace the process.
    #[error("process {pid} ({name}) belongs to {owner}, and you may not trace it: {why}")]
    NotAllowed {
        /// Its process id.
        pid: u32,
        /// Its name.
        name: String,
        /// The owner of the process.
        owner: String,
        /// The reason, and a remedy.
        why: String,
    },
    /// The tier stops the processes that it observes.
    #[error(
        "the ptrace tier stops a program at every call, which is too slow for a process that is already at work: \
         use tier kernel, perf or sample"
    )]
    Stops,
    /// A system call failed.
    #[error("{what} of process {pid}: {error}")]
    System {
        /// The operation that was tried.
        what: &'static str,
        /// The process concerned.
        pid: u32,
        /// The system's reason.
        error: io::Error,
    },
}

impl AttachError {
    /// Returns true if more privileges wouldn't help, because there is nothing to observe with this id, or in
    /// this way.
    pub fn is_no_such(&self) -> bool {
        !matches!(self, Self::NotAllowed { .. } | Self::System { .. })
    }
}
