//! Why could a command not be traced?

use std::io;

use crate::kernel::btf::BtfError;

/// What went wrong; nothing was left running.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The command has no program.
    #[error("no command was given to trace")]
    NoCommand,
    /// An argument, a variable or the directory holds a zero byte.
    #[error("a zero byte in {0:?}, which no program can be given")]
    ZeroByte(String),
    /// The program is not there.
    #[error("`{0}` was not found in PATH")]
    NotFound(String),
    /// The program could not be started.
    #[error("`{program}` could not be started: {stage}: {error}")]
    NotStarted {
        /// What was to be run.
        program: String,
        /// The step that failed.
        stage: &'static str,
        /// The system's reason.
        error: io::Error,
    },
    /// The tier needs what this process may not do.
    #[error(
        "in-kernel tracing is not allowed: {0}; run as root, or once: \
         sudo setcap cap_bpf,cap_perfmon+ep <this program>"
    )]
    NotAllowed(&'static str),
    /// The kernel does not have what the tier needs.
    #[error("in-kernel tracing does not work on this kernel: {0}")]
    Kernel(String),
    /// The kernel's process numbers are others than those that this process sees.
    #[error(
        "in-kernel tracing sees the host's process numbers, and this container has numbers of its own: \
         run it on the host"
    )]
    Namespace,
    /// The kernel's type information is missing or of no use.
    #[error("in-kernel tracing does not work on this kernel: {0}")]
    Btf(#[from] BtfError),
    /// The tier can't observe several commands at once.
    #[error("several commands at once can't be observed by stopping them at every call")]
    Group,
    /// A process that runs already can't be observed.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// A system call of the tracer failed.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's reason.
        error: io::Error,
    },
}

/// Puts what was tried before a system error.
pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> TraceError {
    move |error| TraceError::System { what, error }
}

/// Why a process can't be observed.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// Nobody has the number.
    #[error("there is no process {0}: it has ended, or it never was; `ps -e` lists those that run")]
    Gone(u32),
    /// It has ended, and nobody has asked how.
    #[error("process {pid} ({name}) has ended already: only its parent hasn't taken note of that")]
    Ended {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The number is that of a thread.
    #[error("{tid} is a thread of process {pid} ({name}): observe that one, with --pid {pid}")]
    Thread {
        /// The number.
        tid: u32,
        /// Whose it is.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The kernel's own.
    #[error(
        "process {pid} ({name}) is a thread of the kernel: it has no program that could be observed"
    )]
    Kernel {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// This process.
    #[error("process {0} is this Fathom itself, which has nothing to do but to observe")]
    Itself(u32),
    /// The user may not.
    #[error("process {pid} ({name}) belongs to {owner}, and you may not trace it: {why}")]
    NotAllowed {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
        /// The user.
        owner: String,
        /// The reason, and what helps.
        why: String,
    },
    /// The tier stops what it observes.
    #[error(
        "the ptrace tier stops a program at every call, which is not for one that has work to do: take the tier kernel, \
         perf or sample"
    )]
    Stops,
    /// A system call failed.
    #[error("{what} of process {pid}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// On which process.
        pid: u32,
        /// The system's reason.
        error: io::Error,
    },
}

impl AttachError {
    /// Whether no rights would help: there is nothing to observe by this number, or in this way.
    pub fn is_no_such(&self) -> bool {
        !matches!(self, Self::NotAllowed { .. } | Self::System { .. })
    }
}
