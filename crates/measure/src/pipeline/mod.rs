//! Pipelines: all stages at once, and each one alone.
//!
//! [`conduct`] stages the inputs ([`Staging`]), then runs rounds: the live pipeline, the live pipeline with a
//! stage that starts late, and each stage alone on its staged input, in a random order in each round.
//! [`trace_round`] traces an additional round.

mod outcome;
mod plan;
mod rounds;
mod runner;
mod staging;
mod tails;
mod trace_round;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The maximum number of stages of a pipeline.
pub const MOST_STAGES: usize = crate::launcher::MOST_STAGES;
pub use outcome::{failed, failing, is_sigpipe};
pub use plan::{HowMany, Kind, PipePlan, PipeSession, SoFar, Watcher};
pub use rounds::conduct;
pub use staging::Staging;
pub use trace_round::{TracedRound, trace_round};

/// Returns the capacity in bytes of a new pipe of this user: 65,536, or less once the user has many of them.
pub fn capacity() -> u64 {
    let read = || -> io::Result<u64> {
        let (end, _other) = pipe()?;
        // SAFETY: takes only numbers.
        let bytes = unsafe { libc::fcntl(end.as_raw_fd(), libc::F_GETPIPE_SZ) };
        u64::try_from(bytes).map_err(|_| io::Error::last_os_error())
    };
    // The default in Linux since 2.6.11.
    read().unwrap_or(65_536)
}

/// Creates a close-on-exec pipe; returns the read end and the write end.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((read.into(), write.into()))
}
