//! A word shared by a child and its parent.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::watch::now;

/// A point in time that a forked child writes and its parent reads, in ns of the monotonic clock.
#[derive(Debug)]
pub(super) struct Stamp(NonNull<AtomicU64>);

impl Stamp {
    /// Creates an empty stamp; call this before the fork.
    pub(super) fn new() -> io::Result<Self> {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
        );
        // SAFETY: creates a new anonymous mapping; the result is checked below.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<u64>(), access, kind, -1, 0) };
        match NonNull::new(at.cast::<AtomicU64>()) {
            Some(word) if at != libc::MAP_FAILED => Ok(Self(word)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: the word is mapped and zeroed in `new`, and unmapped only in `drop`.
        unsafe { self.0.as_ref() }
    }

    /// Stores the current time. Allowed in a forked child.
    pub(super) fn set(&self) {
        self.word().store(now(), Ordering::Release);
    }

    /// Returns the stored time, if any.
    pub(super) fn get(&self) -> Option<u64> {
        match self.word().load(Ordering::Acquire) {
            0 => None,
            at => Some(at),
        }
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        // SAFETY: the word is mapped in `new` with this size; no references remain.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<u64>()) };
    }
}
