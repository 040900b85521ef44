//! What the threads that watch a pipe share.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Condvar, Mutex, MutexGuard};

/// As much as a pipe holds by default.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
/// More than the largest pipe that a user may make (1 MiB) holds.
const CHUNKS_AT_ONCE: usize = 32;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) pipe: OwnedFd,
    /// When a polling thread saw a byte; until then the [`mark`] of the run, so that a thread that
    /// was held up since an earlier run can't stamp this one.
    pub(super) polled_ns: AtomicU64,
    /// When the pipe was last seen empty, and nothing had been taken out of it.
    pub(super) empty_ns: AtomicU64,
    /// The reader takes something out of it: from here on it is empty for another reason.
    pub(super) taken: AtomicBool,
    pub(super) reading: Mutex<Reading>,
    /// The reader has noted its stamp.
    pub(super) noted: Condvar,
    /// The run that is watched, 0 for none; each has another number.
    pub(super) watched_run: AtomicU64,
    pub(super) order: Mutex<Order>,
    pub(super) changed: Condvar,
}

#[derive(Debug)]
pub(super) struct Reading {
    pub(super) bytes: u64,
    pub(super) buffer: Vec<u8>,
    /// When the run began: what the reader was woken by before is no part of it.
    pub(super) began: u64,
    pub(super) stamp: Option<Stamp>,
}

impl Reading {
    /// Keeps the first stamp of a run. A wait from before its beginning was another's.
    pub(super) fn note(&mut self, at: u64, waited_ns: Option<u64>) {
        if self.stamp.is_none() && at >= self.began {
            let since_began = at - self.began;
            self.stamp = Some(Stamp {
                at,
                waited_ns: waited_ns.filter(|waited| *waited <= since_began),
            });
        }
    }
}

/// What stands for 'not seen yet' in this run. No time has this bit for 292 years.
pub(super) fn mark(run: u64) -> u64 {
    run | 1 << 63
}

pub(super) fn is_mark(stamp: u64) -> bool {
    stamp >> 63 == 1
}

/// When the reader was woken by the first byte of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub(super) at: u64,
    /// How long it was ready before and had no CPU; `None` if that can't be known.
    pub(super) waited_ns: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) run: u64,
    pub(super) last: u64,
    pub(super) over: bool,
}

impl Shared {
    /// Reads until there is nothing more; true if anything came.
    pub(super) fn empty(&self, reading: &mut Reading) -> bool {
        let before = reading.bytes;
        for _ in 0..CHUNKS_AT_ONCE {
            // SAFETY: at most the length of the buffer.
            let got = unsafe {
                libc::read(
                    self.pipe.as_raw_fd(),
                    reading.buffer.as_mut_ptr().cast(),
                    reading.buffer.len(),
                )
            };
            if got <= 0 {
                break;
            }
            reading.bytes += got as u64;
        }
        reading.bytes != before
    }

    pub(super) fn has_bytes(&self) -> bool {
        let mut polled = libc::pollfd {
            fd: self.pipe.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry; returns at once.
        unsafe { libc::poll(&raw mut polled, 1, 0) > 0 && polled.revents & libc::POLLIN != 0 }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
