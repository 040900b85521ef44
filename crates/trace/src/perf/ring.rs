//! Reads a CPU's records.
//!
//! The buffer has a page with the two positions, followed by the data; a record may wrap. Layout: `struct
//! perf_event_mmap_page` of `include/uapi/linux/perf_event.h`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use super::event;

const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;
const HEADER: usize = 8;

/// Maximum time, in ns, from when a CPU reads the clock for a record until it has written the record.
pub(crate) const WRITING_NS: u64 = 500_000;

/// Maximum number of pages of a buffer with copies of stacks: 32 KiB 250 times a second are 8 MiB, and the
/// reader may have to wait for a CPU. If a user may lock no more than the usual 516 KiB per CPU, the buffer
/// has 128 pages.
const MOST_OF_STACKS: usize = 512;
/// Maximum number of pages of the buffers of all CPUs together.
const MOST_OF_ALL: usize = 4_096;

/// An event's buffer, mapped into this process.
#[derive(Debug)]
pub(crate) struct Ring {
    base: *mut u8,
    page: usize,
    size: usize,
    /// One record, copied to be contiguous.
    record: Vec<u8>,
}

impl Ring {
    /// Maps a buffer of `pages` (a power of 2) for the event.
    ///
    /// # Errors
    /// The kernel's: `EPERM` if the user's limit of locked memory is exhausted.
    pub(crate) fn map(event: &OwnedFd, pages: usize) -> io::Result<Self> {
        // SAFETY: queries a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // SAFETY: creates a new mapping at an address chosen by the kernel.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page * (pages + 1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            base: base.cast(),
            page,
            size: page * pages,
            record: Vec::new(),
        })
    }

    /// Maps a buffer of `most` pages. If there isn't enough memory, halves the number repeatedly, but not
    /// below `least`. May use more than `most` for records with `stacks`.
    ///
    /// # Errors
    /// Those of [`Ring::map`] with the smallest size.
    pub(crate) fn map_most(
        event: &OwnedFd,
        most: usize,
        least: usize,
        stacks: bool,
    ) -> io::Result<Self> {
        let cpus = event::cpus().len().next_power_of_two();
        let mut pages = match stacks {
            true => (MOST_OF_ALL / cpus).clamp(most, MOST_OF_STACKS.max(most)),
            false => most,
        };
        loop {
            match Self::map(event, pages) {
                Err(_) if pages > least => pages /= 2,
                outcome => return outcome,
            }
        }
    }

    /// Passes every complete record to `take`, oldest first.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        // SAFETY: the first page is mapped, and both positions are aligned 64-bit numbers in it.
        let (head, tail) = unsafe {
            (
                &*self.base.add(HEAD_AT).cast::<AtomicU64>(),
                &*self.base.add(TAIL_AT).cast::<AtomicU64>(),
            )
        };
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        while at < end {
            let mut header = [0; HEADER];
            self.copy(at, &mut header);
            let length = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            if length < HEADER {
                // No valid record is that short, so the rest can't be trusted.
                at = end;
                break;
            }
            let mut record = std::mem::take(&mut self.record);
            record.resize(length, 0);
            self.copy(at, &mut record);
            take(&record);
            self.record = record;
            at += length as u64;
        }
        tail.store(at, Ordering::Release);
    }

    /// Copies bytes from this position of the stream, wrapping at the end of the buffer if necessary.
    fn copy(&self, at: u64, to: &mut [u8]) {
        let from = at as usize & (self.size - 1);
        let first = to.len().min(self.size - from);
        let (before, after) = to.split_at_mut(first);
        // SAFETY: the data follows the first page and is `size` bytes long; both parts are within it.
        unsafe {
            let data = self.base.add(self.page);
            std::ptr::copy_nonoverlapping(data.add(from), before.as_mut_ptr(), before.len());
            std::ptr::copy_nonoverlapping(data, after.as_mut_ptr(), after.len());
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped in `map` with this length.
        unsafe { libc::munmap(self.base.cast(), self.page + self.size) };
    }
}
