//! Ctrl-C and its kin, and the end of the time: remembered, and answered between runs or by ending the
//! run that is on.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// Whether the time of an [`Until`] is up.
static TIME_IS_UP: AtomicBool = AtomicBool::new(false);
/// What [`flag`] hands out.
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Readable once there is a reason to stop, so that a wait can't miss one that comes just before it; -1
/// if there is none.
static WAKES: AtomicI32 = AtomicI32::new(-1);

extern "C" fn remember(signal: libc::c_int) {
    RECEIVED.store(signal, Ordering::Relaxed);
    raise();
}

/// Stops whoever waits or looks at the flag. May be called in a signal handler.
fn raise() {
    if let Some(flag) = FLAG.get() {
        flag.store(true, Ordering::Relaxed);
    }
    let one = 1u64.to_ne_bytes();
    // SAFETY: write is allowed in a handler; eight bytes. The descriptor is -1 or ours for good.
    unsafe {
        libc::write(
            WAKES.load(Ordering::Relaxed),
            one.as_ptr().cast(),
            one.len(),
        )
    };
}

/// Makes SIGINT, SIGTERM and SIGHUP be remembered instead of ending Fathom, and wake whoever waits for
/// a run, so that it can be ended.
pub fn catch() {
    prepare();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the action is initialised whole; the handler only stores to atomics and writes.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = remember as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Makes what [`raise`] stores to, once.
fn prepare() {
    FLAG.get_or_init(|| {
        // SAFETY: takes numbers, returns a new descriptor or -1.
        let wakes = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        WAKES.store(wakes, Ordering::Relaxed);
        Arc::default()
    });
}

/// A descriptor that is readable once there is a reason to stop; -1, which `poll` passes over, before
/// [`catch`] and [`until`].
pub(crate) fn descriptor() -> RawFd {
    WAKES.load(Ordering::Relaxed)
}

/// The signal that came, if one did.
pub fn received() -> Option<i32> {
    match RECEIVED.load(Ordering::Relaxed) {
        0 => None,
        signal => Some(signal),
    }
}

/// Whether to stop: a signal came, or the time is up.
pub fn stopped() -> bool {
    received().is_some() || TIME_IS_UP.load(Ordering::Relaxed)
}

/// A flag that is true while [`stopped`] is, for work that looks at a flag.
pub fn flag() -> Arc<AtomicBool> {
    prepare();
    FLAG.get().cloned().unwrap_or_default()
}

/// Ends the time at its deadline, and takes the limit away when it is dropped.
#[must_use]
#[derive(Debug)]
pub struct Until {
    /// Dropped to end the thread, which sleeps until the deadline.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

/// From the deadline on everything is stopped as by a signal, until the value is dropped. Without one
/// nothing is done. One at a time.
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
        // It does nothing that panics.
        let _ = thread.join();
        if !TIME_IS_UP.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut count = [0u8; 8];
        // SAFETY: eight bytes; the descriptor does not block.
        unsafe { libc::read(descriptor(), count.as_mut_ptr().cast(), count.len()) };
        if let Some(flag) = FLAG.get() {
            flag.store(false, Ordering::Relaxed);
        }
        // One that came meanwhile holds.
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
            // SAFETY: one entry.
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
