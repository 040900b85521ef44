//! The state shared by the threads that watch a pipe.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Condvar, Mutex};

/// The default capacity of a pipe.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
/// Enough for more than the largest pipe that a user may create (1 MiB).
const CHUNKS_AT_ONCE: usize = 32;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) pipe: OwnedFd,
    /// When a polling thread saw a byte; before that, the [`mark`] of the run, so that a thread delayed since
    /// an earlier run can't set the timestamp of this one.
    pub(super) polled_ns: AtomicU64,
    /// When the pipe was last seen empty, before anything had been read from it.
    pub(super) empty_ns: AtomicU64,
    /// Set when the reader starts reading. From then on, an empty pipe doesn't show that no byte has arrived.
    pub(super) taken: AtomicBool,
    pub(super) reading: Mutex<Reading>,
    /// Signals that the reader has recorded its timestamp.
    pub(super) noted: Condvar,
    /// The number of the watched run, 0 for none; each has a different number.
    pub(super) watched_run: AtomicU64,
    pub(super) order: Mutex<Order>,
    pub(super) changed: Condvar,
}

#[derive(Debug)]
pub(super) struct Reading {
    pub(super) bytes: u64,
    pub(super) buffer: Vec<u8>,
    /// When the run began: earlier wake-ups of the reader don't belong to it.
    pub(super) began: u64,
    pub(super) stamp: Option<Stamp>,
}

impl Reading {
    /// Keeps the first timestamp of a run. A wait that began earlier belonged to another run.
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

/// Returns the value that means 'not seen yet' in this run. It has a bit that no time has set for 292 years.
pub(super) fn mark(run: u64) -> u64 {
    run | 1 << 63
}

pub(super) fn is_mark(stamp: u64) -> bool {
    stamp >> 63 == 1
}

/// The reader's wake-up by the first byte of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub(super) at: u64,
    /// How long the reader was ready without a CPU before that; `None` if unknown.
    pub(super) waited_ns: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) run: u64,
    pub(super) last: u64,
    pub(super) over: bool,
}

impl Shared {
    /// Reads until there is nothing more; returns true if anything arrived.
    pub(super) fn empty(&self, reading: &mut Reading) -> bool {
        let before = reading.bytes;
        for _ in 0..CHUNKS_AT_ONCE {
            // SAFETY: reads at most the length of the buffer.
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
        // SAFETY: one entry; returns immediately.
        unsafe { libc::poll(&raw mut polled, 1, 0) > 0 && polled.revents & libc::POLLIN != 0 }
    }
}
