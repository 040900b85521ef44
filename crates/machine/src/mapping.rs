//! Anonymous memory with a known page size.

use std::io;

/// Which pages are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Huge pages (`MADV_HUGEPAGE`), if the system grants them.
    Huge,
    /// Only small pages (`MADV_NOHUGEPAGE`).
    Small,
    /// The system's default pages.
    Given,
}

/// Alignment of mappings and the size of a huge page on the common systems, in bytes.
pub(crate) const HUGE: usize = 2 << 20;

/// A private mapping, unmapped when dropped. It is not touched yet: until the first write, every page is the
/// shared zero page, and reading that says nothing about memory.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: *mut u8,
    whole: *mut u8,
    whole_bytes: usize,
    bytes: usize,
}

// SAFETY: a mapping is plain memory with a single owner.
unsafe impl Send for Mapping {}
// SAFETY: sharing only exposes a raw pointer; code that dereferences it is responsible for the access.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes`, rounded up to whole huge pages and aligned to one.
    pub(crate) fn new(bytes: usize, pages: Pages) -> io::Result<Mapping> {
        let bytes = bytes.max(1).next_multiple_of(HUGE);
        let whole_bytes = bytes + HUGE;
        // SAFETY: a new anonymous mapping doesn't touch existing memory.
        let whole = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                whole_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if whole == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let whole: *mut u8 = whole.cast();
        let base = whole.wrapping_add(whole.align_offset(HUGE));
        let advice = match pages {
            Pages::Huge => Some(libc::MADV_HUGEPAGE),
            Pages::Small => Some(libc::MADV_NOHUGEPAGE),
            Pages::Given => None,
        };
        if let Some(advice) = advice {
            // SAFETY: the range lies inside the mapping; refusal leaves the default.
            unsafe { libc::madvise(base.cast(), bytes, advice) };
        }
        Ok(Mapping {
            base,
            whole,
            whole_bytes,
            bytes,
        })
    }

    /// Maps `bytes` and writes to every page; returns an error of kind `TimedOut` if the deadline passed.
    pub(crate) fn touched(bytes: usize, pages: Pages) -> io::Result<Mapping> {
        let mapping = Mapping::new(bytes, pages)?;
        for at in (0..mapping.bytes).step_by(4096) {
            // Under load the first touch of 256 MiB takes seconds.
            if at % HUGE == 0 && crate::deadline::passed() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // SAFETY: `at` lies inside the mapping.
            unsafe { mapping.base.add(at).write_volatile(1) };
        }
        Ok(mapping)
    }

    /// Returns the start of the memory, aligned to [`HUGE`].
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Returns the length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns all pages to the system, so that the next touch faults again.
    pub(crate) fn forget(&self) {
        // SAFETY: the range is ours; its content is no longer needed.
        unsafe { libc::madvise(self.base.cast(), self.bytes, libc::MADV_DONTNEED) };
    }

    /// Returns the bytes that the kernel backs by huge pages (`AnonHugePages` in smaps); `None` if the kernel
    /// doesn't report it. A hypervisor may still map them in small pieces underneath.
    pub(crate) fn huge_bytes(&self) -> Option<usize> {
        let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        huge_bytes_in(&smaps, self.base as usize, self.base as usize + self.bytes)
    }
}

/// Returns the sum of `AnonHugePages` over the mappings in `smaps` that overlap `from..to`.
fn huge_bytes_in(smaps: &str, from: usize, to: usize) -> Option<usize> {
    let mut inside = false;
    let mut sum = None;
    for line in smaps.lines() {
        let range = line
            .split_whitespace()
            .next()
            .and_then(|word| word.split_once('-'));
        if let Some((low, high)) = range
            && let (Ok(low), Ok(high)) = (
                usize::from_str_radix(low, 16),
                usize::from_str_radix(high, 16),
            )
        {
            inside = low < to && high > from;
        } else if inside && let Some(rest) = line.strip_prefix("AnonHugePages:") {
            let kb: usize = rest.trim().trim_end_matches("kB").trim().parse().ok()?;
            sum = Some(sum.unwrap_or(0) + kb * 1024);
        }
    }
    sum
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `new` mapped; no pointers into it remain.
        unsafe { libc::munmap(self.whole.cast(), self.whole_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_aligned_and_as_long_as_asked() {
        let mapping = Mapping::touched(3 << 20, Pages::Small).unwrap();
        assert_eq!(mapping.base() as usize % HUGE, 0);
        assert_eq!(mapping.bytes(), 4 << 20);
        // SAFETY: the last byte lies inside the mapping.
        unsafe {
            assert_eq!(
                mapping.base().add(mapping.bytes() - 4096).read_volatile(),
                1
            );
        };
    }

    #[test]
    fn huge_pages_are_summed_over_the_range_only() {
        let smaps = "7f00-7f10 rw-p 0 00:00 0\nSize: 4 kB\nAnonHugePages:      2048 kB\n\
                     8000-9000 rw-p 0 00:00 0\nAnonHugePages:      4096 kB\n";
        assert_eq!(huge_bytes_in(smaps, 0x8000, 0x9000), Some(4096 * 1024));
        assert_eq!(huge_bytes_in(smaps, 0xa000, 0xb000), None);
    }
}
