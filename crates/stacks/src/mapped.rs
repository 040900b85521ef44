//! A file's bytes, without a copy of them, also while others change it.
//!
//! Who truncates a file takes away the pages that lie behind its new end, and who reads them then
//! gets SIGBUS. That must not end us: the handler puts a page of zeros where the other one was, as
//! Wayland's compositors do for their clients' memory.

use std::fs::File;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that are mapped at a time.
const MOST: usize = 4_096;

/// From where to where each lies; both 0 where there is none.
static RANGES: [(AtomicUsize, AtomicUsize); MOST] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; MOST];

/// What was to be done about the signal before.
static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

/// A file that is mapped.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: memmap2::Mmap,
    slot: usize,
}

impl Mapped {
    /// `None` for what can't be mapped: nothing, or one file too many.
    pub(crate) fn of(file: &File) -> Option<Self> {
        BEFORE.get_or_init(handle).as_ref()?;
        // SAFETY: others may write into the file meanwhile: its bytes are only ever read as numbers
        // that anything may be. Pages that are taken away are replaced.
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

/// Takes the signal from whoever had it; `None` if that is refused.
fn handle() -> Option<libc::sigaction> {
    // SAFETY: the structures are whole, and the handler calls nothing that may not be called in one.
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
    // SAFETY: the kernel hands over a whole structure, with the address that was read.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = RANGES.iter().any(|(from, to)| {
        (from.load(Ordering::SeqCst)..to.load(Ordering::SeqCst)).contains(&address)
    });
    // SAFETY: system calls; the page that is replaced is one of a mapping of this file alone.
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
        // Somebody else's: what reads there once more meets the one who had the signal before.
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
