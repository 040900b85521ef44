//! Ctrl-C and its kin: remembered, and answered between runs or by ending the run that is on.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// Readable once a signal came, so that a wait can't miss one that comes just before it; -1 if
/// there is none.
static WAKES: AtomicI32 = AtomicI32::new(-1);

extern "C" fn remember(signal: libc::c_int) {
    RECEIVED.store(signal, Ordering::Relaxed);
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

/// Makes SIGINT, SIGTERM and SIGHUP be remembered instead of ending Fathom, and wake whoever waits
/// for a run, so that it can be ended.
pub fn catch() {
    // SAFETY: takes numbers, returns a new descriptor or -1.
    WAKES.store(
        unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) },
        Ordering::Relaxed,
    );
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the action is initialised whole; the handler only stores to an atomic.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = remember as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// A descriptor that is readable once a signal came; -1, which `poll` passes over, before
/// [`catch`].
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

/// A flag that becomes true when a signal comes, for work that looks at a flag. [`catch`] first.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // It sleeps until a signal comes, or until the process ends.
    std::thread::spawn(move || {
        loop {
            let mut polled = libc::pollfd {
                fd: descriptor(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one entry.
            let ready = unsafe { libc::poll(&raw mut polled, 1, -1) };
            if ready > 0 || received().is_some() {
                raised.store(true, Ordering::Relaxed);
                return;
            }
        }
    });
    flag
}
