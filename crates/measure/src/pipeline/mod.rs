//! Pipelines: all stages at once, and each one alone.
//!
//! [`conduct`] stages the inputs ([`Staging`]), then makes rounds: the live pipeline, the live
//! pipeline with a stage that starts late, and each stage alone on its staged input, in a random
//! order in each round. [`trace_round`] traces a further round.

mod outcome;
mod plan;
mod rounds;
mod runner;
mod staging;
mod tails;
mod trace_round;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Most stages that a pipeline may have.
pub const MOST_STAGES: usize = crate::launcher::MOST_STAGES;
pub use outcome::{failed, failing, is_sigpipe};
pub use plan::{HowMany, Kind, PipePlan, PipeSession, SoFar, Watcher};
pub use rounds::conduct;
pub use staging::Staging;
pub use trace_round::{TracedRound, trace_round};

/// Bytes that a pipe of this user holds now: 65,536, or less once he has many of them.
pub fn capacity() -> u64 {
    let read = || -> io::Result<u64> {
        let (end, _other) = pipe()?;
        // SAFETY: takes a number.
        let bytes = unsafe { libc::fcntl(end.as_raw_fd(), libc::F_GETPIPE_SZ) };
        u64::try_from(bytes).map_err(|_| io::Error::last_os_error())
    };
    // What Linux has had since 2.6.11.
    read().unwrap_or(65_536)
}

/// Closed on exec; read end, write end.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, owned by nobody else.
    let [read, write] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    Ok((read, write))
}
