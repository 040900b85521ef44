//! A file's bytes without copying them, safe even if others change the file.
//!
//! If a process truncates the file, the pages beyond its new end vanish, and reading them raises SIGBUS. That
//! must not end this process: the handler maps a page of zeros in their place, as Wayland compositors do for
//! their clients' memory.

use std::fs::File;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of files that are mapped at a time.
const MOST: usize = 4_096;

/// The start and the end of each mapping; both are 0 if the entry is unused.
static RANGES: [(AtomicUsize, AtomicUsize); MOST] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; MOST];

/// The signal's previous action.
static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

/// A mapped file.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: memmap2::Mmap,
    slot: usize,
}

impl Mapped {
    /// Maps a file. `None` if it can't be mapped, because it is empty or too many files are mapped.
    pub(crate) fn of(file: &File) -> Option<Self> {
        BEFORE.get_or_init(handle).as_ref()?;
        // SAFETY: others may write to the file meanwhile, but its bytes are only read as numbers for which
        // every value is valid. Pages that vanish are replaced.
        let map = unsafe { memmap2::Mmap::map(file) }.ok()?;
        let (from, to) = range(&map);
        let is_free = |(at, _): &(AtomicUsize, AtomicUsize)| {
            at.compare_exchange(0, from, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
        };
        let slot = RANGES.iter().position(is_free)?;
        RANGES[slot].1.store(to, Ordering::SeqCst);
        Some(Self { map, slot })
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let (from, to) = &RANGES[self.slot];
        to.store(0, Ordering::SeqCst);
        from.store(0, Ordering::SeqCst);
    }
}

fn range(map: &memmap2::Mmap) -> (usize, usize) {
    let from = map.as_ptr() as usize;
    (from, from.saturating_add(map.len()))
}

/// Installs the signal handler and returns the previous action; `None` if refused.
fn handle() -> Option<libc::sigaction> {
    // SAFETY: the structures are complete, and the handler only calls functions that are allowed in handlers.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = taken_away as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let set = libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before);
        (set == 0).then_some(before)
    }
}

extern "C" fn taken_away(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a complete structure, with the address that was read.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = RANGES.iter().any(|(from, to)| {
        (from.load(Ordering::SeqCst)..to.load(Ordering::SeqCst)).contains(&address)
    });
    // SAFETY: only system calls; the replaced page belongs to a mapping of this file alone.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        if ours {
            let put = libc::mmap(
                (address / page * page) as *mut libc::c_void,
                page,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            );
            if put != libc::MAP_FAILED {
                return;
            }
        }
        // The address isn't in one of our mappings: repeating the read invokes the previous handler.
        if let Some(Some(before)) = BEFORE.get() {
            libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_from_a_file_reads_as_zeros() {
        let file = tempfile::tempfile().expect("a file");
        std::os::unix::fs::FileExt::write_all_at(&file, &[7; 20_000], 0).expect("written");
        let mapped = Mapped::of(&file).expect("it can be mapped");
        assert_eq!((mapped[0], mapped[19_999]), (7, 7));
        file.set_len(100).expect("cut off");
        assert_eq!((mapped[0], mapped[19_999], mapped.len()), (7, 0, 20_000));
        assert!(mapped.iter().all(|byte| [0, 7].contains(byte)));
    }
}
