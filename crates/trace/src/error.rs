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
    Attach(#[from] crate::attach::AttachError),
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
