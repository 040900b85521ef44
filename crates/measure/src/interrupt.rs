//! Signals such as Ctrl-C, and deadlines. They are recorded, and then handled between runs or by ending the
//! current run.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// Whether the deadline of an [`Until`] has passed.
static TIME_IS_UP: AtomicBool = AtomicBool::new(false);
/// The flag that [`flag`] returns.
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// An eventfd that is readable once there is a reason to stop, so that a wait can't miss a signal that
/// arrives just before it; -1 before it is created.
static WAKES: AtomicI32 = AtomicI32::new(-1);

extern "C" fn remember(signal: libc::c_int) {
    RECEIVED.store(signal, Ordering::Relaxed);
    raise();
}

/// Wakes all waits and sets the flag. May be called in a signal handler.
fn raise() {
    if let Some(flag) = FLAG.get() {
        flag.store(true, Ordering::Relaxed);
    }
    let one = 1u64.to_ne_bytes();
    // SAFETY: `write` is async-signal-safe and gets eight bytes. The descriptor is -1, or ours and never
    // closed.
    unsafe {
        libc::write(
            WAKES.load(Ordering::Relaxed),
            one.as_ptr().cast(),
            one.len(),
        )
    };
}

/// Records SIGINT, SIGTERM and SIGHUP instead of letting them end Fathom. They wake any wait for a run, so
/// that the run can be ended.
pub fn catch() {
    prepare();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the action is completely initialized; the handler only stores to atomics and writes.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = remember as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Creates the flag and the eventfd for [`raise`], once.
fn prepare() {
    FLAG.get_or_init(|| {
        // SAFETY: takes only numbers, and returns a new descriptor or -1.
        let wakes = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        WAKES.store(wakes, Ordering::Relaxed);
        Arc::default()
    });
}

/// Returns a descriptor that is readable once there is a reason to stop; before [`catch`] and [`until`] it is
/// -1, which `poll` skips.
pub(crate) fn descriptor() -> RawFd {
    WAKES.load(Ordering::Relaxed)
}

/// Returns the signal that arrived, if any.
pub fn received() -> Option<i32> {
    match RECEIVED.load(Ordering::Relaxed) {
        0 => None,
        signal => Some(signal),
    }
}

/// Reports whether to stop: a signal arrived, or the deadline passed.
pub fn stopped() -> bool {
    received().is_some() || TIME_IS_UP.load(Ordering::Relaxed)
}

/// Returns a flag that is true while [`stopped`] is, for code that polls a flag.
pub fn flag() -> Arc<AtomicBool> {
    prepare();
    FLAG.get().cloned().unwrap_or_default()
}

/// Stops everything at the deadline, and removes the limit when dropped.
#[must_use]
#[derive(Debug)]
pub struct Until {
    /// Dropped to end the thread, which sleeps until the deadline.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Stops everything at the deadline, as a signal would, until the value is dropped. Does nothing without a
/// deadline. Only one may exist at a time.
pub fn until(deadline: Option<Instant>) -> Until {
    prepare();
    let running = deadline.map(|deadline| {
        let (running, ended) = channel();
        let thread = std::thread::spawn(move || {
            let left = deadline.saturating_duration_since(Instant::now());
            if ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                TIME_IS_UP.store(true, Ordering::Relaxed);
                raise();
            }
        });
        (running, thread)
    });
    Until { running }
}

impl Drop for Until {
    fn drop(&mut self) {
        let Some((running, thread)) = self.running.take() else {
            return;
        };
        drop(running);
        // The thread doesn't panic.
        let _ = thread.join();
        if !TIME_IS_UP.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut count = [0u8; 8];
        // SAFETY: reads eight bytes; the descriptor is non-blocking.
        unsafe { libc::read(descriptor(), count.as_mut_ptr().cast(), count.len()) };
        if let Some(flag) = FLAG.get() {
            flag.store(false, Ordering::Relaxed);
        }
        // A signal that arrived in the meantime remains valid.
        if received().is_some() {
            raise();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_end_of_the_time_stops_until_it_is_taken_away() {
        let flag = flag();
        let wait = |patience| {
            let mut polled = libc::pollfd {
                fd: descriptor(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: passes one entry.
            unsafe { libc::poll(&raw mut polled, 1, patience) }
        };
        let far = until(Some(Instant::now() + Duration::from_secs(3600)));
        assert!(!stopped());
        drop(far);
        let over = until(Some(Instant::now()));
        assert_eq!(wait(-1), 1);
        assert!(stopped() && received().is_none());
        assert!(flag.load(Ordering::Relaxed));
        drop(over);
        assert_eq!(wait(0), 0);
        assert!(!stopped() && !flag.load(Ordering::Relaxed));
    }
}
