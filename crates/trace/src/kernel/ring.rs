//! Reads the records of the ring.
//!
//! The kernel's ring buffer consists of one page with our position, one page with the producer's position,
//! and the data. The data is mapped twice in a row, so a record never wraps. Layout: the kernel's
//! `Documentation/bpf/ringbuf.rst`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER: u64 = 8;

/// A ring mapped into this process.
#[derive(Debug)]
pub(crate) struct Ring {
    consumer: *mut libc::c_void,
    producer: *mut libc::c_void,
    page: usize,
    size: usize,
}

impl Ring {
    /// Maps the ring behind `fd`, which has `size` bytes.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn map(fd: BorrowedFd<'_>, size: u32) -> io::Result<Self> {
        // SAFETY: queries a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let size = size as usize;
        let consumer = map(fd, page, libc::PROT_READ | libc::PROT_WRITE, 0)?;
        match map(fd, page + 2 * size, libc::PROT_READ, page) {
            Ok(producer) => Ok(Self {
                consumer,
                producer,
                page,
                size,
            }),
            Err(error) => {
                // SAFETY: mapped just above with this length.
                unsafe { libc::munmap(consumer, page) };
                Err(error)
            }
        }
    }

    /// Passes every complete record that is currently present to `take`, oldest first. Returns the fraction
    /// of the ring that these filled, 0 to 1. Records that arrive in the meantime are left for the next call:
    /// otherwise a tree that produces records as fast as they are taken would keep the reader from the
    /// tables.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(&[u8])) -> f64 {
        // SAFETY: both mappings are live, page-aligned, and begin with the 64-bit positions.
        let (ours, theirs) = unsafe {
            (
                &*self.consumer.cast::<AtomicU64>(),
                &*self.producer.cast::<AtomicU64>(),
            )
        };
        let mut at = ours.load(Ordering::Relaxed);
        let end = theirs.load(Ordering::Acquire);
        let part = (end - at) as f64 / self.size as f64;
        while at < end {
            let offset = at as usize & (self.size - 1);
            // SAFETY: the data is mapped twice after the producer's page, so the header and a whole record
            // are inside the mapping; headers are 8-byte aligned.
            let header = unsafe {
                let base = self.producer.cast::<u8>().add(self.page + offset);
                &*base.cast::<AtomicU32>()
            };
            let head = header.load(Ordering::Acquire);
            if head & BUSY != 0 {
                break;
            }
            let len = (head & !(BUSY | DISCARDED)) as usize;
            if head & DISCARDED == 0 {
                // SAFETY: as above; a record that is not busy is not written again until the position below
                // has moved past it.
                let record = unsafe {
                    let base = self.producer.cast::<u8>().add(self.page + offset);
                    std::slice::from_raw_parts(base.add(HEADER as usize), len)
                };
                take(record);
            }
            at += (HEADER + len as u64).next_multiple_of(8);
            ours.store(at, Ordering::Release);
        }
        part
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with these lengths.
        unsafe {
            libc::munmap(self.consumer, self.page);
            libc::munmap(self.producer, self.page + 2 * self.size);
        }
    }
}

fn map(fd: BorrowedFd<'_>, len: usize, prot: i32, off: usize) -> io::Result<*mut libc::c_void> {
    let fd = fd.as_raw_fd();
    // SAFETY: creates a new shared mapping, placed by the kernel.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            prot,
            libc::MAP_SHARED,
            fd,
            off as libc::off_t,
        )
    };
    match at {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        at => Ok(at),
    }
}
