//! Determines when a run ends: by itself, by its timeout, or at the request of the caller.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Returns the time of `CLOCK_MONOTONIC`, the clock of the kernel programs, in nanoseconds.
pub(crate) fn now() -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a live timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Limits of one run.
#[derive(Debug)]
pub(crate) struct Limits {
    deadline: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Creates limits that start now.
    pub(crate) fn start(timeout: Option<Duration>, stop: Option<Arc<AtomicBool>>) -> Self {
        Self {
            deadline: timeout.and_then(|t| Instant::now().checked_add(t)),
            stop,
        }
    }

    /// Returns whether the run must be killed now.
    pub(crate) fn reached(&self) -> bool {
        let reported = self.stop.as_ref();
        reported.is_some_and(|s| s.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// Returns `wait`, shortened so that it doesn't exceed the deadline.
    pub(crate) fn shorten(&self, wait: Duration) -> Duration {
        match self.deadline {
            Some(d) => wait.min(d.saturating_duration_since(Instant::now())),
            None => wait,
        }
    }
}

/// Waits up to `wait` for the process behind the descriptor to end; returns `true` if it has.
pub(crate) fn ended(pidfd: &OwnedFd, wait: Duration) -> bool {
    let mut poll = libc::pollfd {
        fd: pidfd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let wait = libc::timespec {
        tv_sec: wait.as_secs() as libc::time_t,
        tv_nsec: wait.subsec_nanos().into(),
    };
    // SAFETY: there is one live pollfd and a live timespec, and no signal mask.
    let ready = unsafe { libc::ppoll(&raw mut poll, 1, &raw const wait, std::ptr::null()) };
    ready == 1
}
