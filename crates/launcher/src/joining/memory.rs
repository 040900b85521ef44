//! Memory that the program gets from the system and gives back.
//!
//! In one mode, large areas get huge pages. In the other, an area that the program gives back is kept, and the
//! next request for one of the same size gets it, filled with zeros: so the kernel need not map and fill new
//! pages. Only areas that this library itself got for the program are kept, and it forgets each one that
//! another call may have changed.

use core::sync::atomic::{AtomicUsize, Ordering};

use super::hold::settle;
use super::kernel::{give_way, returned};
use super::mode::{self, Mode};
use crate::system::{call, call3, number};

const PROT_READ_WRITE: i32 = 3;
const MAP_PRIVATE_ANONYMOUS: i32 = 0x22;
/// Flags that don't change what the area is: `MAP_NORESERVE`, `MAP_POPULATE`, `MAP_STACK`.
const HARMLESS: i32 = 0x4000 | 0x8000 | 0x2_0000;
const MADV_DONTNEED: i32 = 4;
const MADV_HUGEPAGE: usize = 14;
/// Smaller areas have no huge page.
const LEAST_HUGE: usize = 2 << 20;
/// The maximum number of known areas, and of bytes that are kept.
const ROOM: usize = 256;
const MOST_KEPT: usize = 1 << 30;

/// An area of memory; `length` is 0 if there is none.
#[derive(Clone, Copy)]
struct Area {
    start: usize,
    length: usize,
    /// Whether the program has given it back.
    kept: bool,
}

impl Area {
    const NONE: Area = Area {
        start: 0,
        length: 0,
        kept: false,
    };

    fn overlaps(&self, start: usize, length: usize) -> bool {
        self.start < start.saturating_add(length) && start < self.start + self.length
    }
}

struct Areas {
    all: [Area; ROOM],
    kept: usize,
}

struct Shared(core::cell::UnsafeCell<Areas>);
// SAFETY: accessed only with the lock held.
unsafe impl Sync for Shared {}

static AREAS: Shared = Shared(core::cell::UnsafeCell::new(Areas {
    all: [Area::NONE; ROOM],
    kept: 0,
}));
/// 1 while a thread uses the areas.
static LOCK: AtomicUsize = AtomicUsize::new(0);
/// The lock's value once nothing is kept any more.
const GONE: usize = 2;
/// After this many attempts, the lock's holder is assumed to be gone: a forked process has only one thread.
const PATIENCE: usize = 1 << 20;

/// Does something with the areas; `None` if nothing is kept any more.
fn with_areas<T>(what: impl FnOnce(&mut Areas) -> T) -> Option<T> {
    let mut turns = 0;
    while let Err(other) = LOCK.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed) {
        turns += 1;
        if turns == PATIENCE {
            LOCK.store(GONE, Ordering::Relaxed);
        }
        if other == GONE {
            return None;
        }
        give_way();
    }
    // SAFETY: one thread holds the lock.
    let done = what(unsafe { &mut *AREAS.0.get() });
    LOCK.store(0, Ordering::Release);
    Some(done)
}

impl Areas {
    /// Forgets what overlaps. What was kept stays mapped.
    fn forget(&mut self, start: usize, length: usize) {
        for area in &mut self.all {
            if area.length > 0 && area.overlaps(start, length) {
                if area.kept {
                    self.kept -= area.length;
                }
                *area = Area::NONE;
            }
        }
    }

    fn find(&mut self, is_meant: impl Fn(&Area) -> bool) -> Option<&mut Area> {
        self.all
            .iter_mut()
            .find(|area| area.length > 0 && is_meant(area))
    }

    /// Keeps an area that the program gives back; returns `false` if it isn't known.
    fn keep(&mut self, start: usize, length: usize) -> bool {
        if self.kept + length > MOST_KEPT {
            return false;
        }
        let known = self.find(|area| !area.kept && area.start == start && area.length == length);
        let Some(area) = known else { return false };
        area.kept = true;
        self.kept += length;
        true
    }

    /// Returns a kept area of this size for another use.
    fn reuse(&mut self, length: usize) -> Option<usize> {
        let area = self.find(|area| area.kept && area.length == length)?;
        area.kept = false;
        let start = area.start;
        self.kept -= length;
        Some(start)
    }

    fn add(&mut self, start: usize, length: usize) {
        if let Some(place) = self.all.iter_mut().find(|area| area.length == 0) {
            *place = Area {
                start,
                length,
                kept: false,
            };
        }
    }
}

/// Fills memory with zeros.
fn clear(start: usize, length: usize) {
    // SAFETY: mapped for reading and writing.
    unsafe { core::ptr::write_bytes(start as *mut u8, 0, length) };
}

/// # Safety
/// Same as the C library's `mmap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    start: usize,
    length: usize,
    protection: i32,
    flags: i32,
    file: i32,
    offset: usize,
) -> isize {
    settle();
    let is_usual = start == 0
        && length > 0
        && protection == PROT_READ_WRITE
        && flags & !HARMLESS == MAP_PRIVATE_ANONYMOUS;
    let keeps = mode::is(Mode::Memory);
    let length = length.checked_next_multiple_of(4096).unwrap_or(length);
    if keeps && is_usual {
        let reused = with_areas(|areas| areas.reuse(length)).flatten();
        if let Some(start) = reused {
            clear(start, length);
            return start as isize;
        }
    }
    let arguments = [
        start,
        length,
        protection as usize,
        flags as usize,
        file as usize,
        offset,
    ];
    // SAFETY: guaranteed by the caller.
    let got = unsafe { call(number::MMAP, arguments) };
    if (-4095..0).contains(&got) {
        return returned(got);
    }
    if is_usual && length >= LEAST_HUGE && mode::is(Mode::HugePages) {
        // SAFETY: the area was just mapped.
        unsafe { call3(number::MADVISE, got as usize, length, MADV_HUGEPAGE) };
    }
    if keeps {
        with_areas(|areas| {
            areas.forget(got as usize, length);
            if is_usual {
                areas.add(got as usize, length);
            }
        });
    }
    got
}

/// # Safety
/// Same as the C library's `mmap64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    start: usize,
    length: usize,
    protection: i32,
    flags: i32,
    file: i32,
    offset: usize,
) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { mmap(start, length, protection, flags, file, offset) }
}

/// # Safety
/// Same as the C library's `munmap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(start: usize, length: usize) -> isize {
    if mode::is(Mode::Memory) {
        let length = length.checked_next_multiple_of(4096).unwrap_or(length);
        let is_kept = with_areas(|areas| {
            let is_kept = areas.keep(start, length);
            if !is_kept {
                areas.forget(start, length);
            }
            is_kept
        });
        if is_kept == Some(true) {
            return 0;
        }
    }
    // SAFETY: guaranteed by the caller.
    returned(unsafe { call3(number::MUNMAP, start, length, 0) })
}

/// # Safety
/// Same as the C library's `madvise`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn madvise(start: usize, length: usize, advice: i32) -> isize {
    if advice == MADV_DONTNEED && start.is_multiple_of(4096) && mode::is(Mode::Memory) {
        let length = length.checked_next_multiple_of(4096).unwrap_or(length);
        let is_within = |area: &Area| {
            !area.kept && area.start <= start && start + length <= area.start + area.length
        };
        let is_known = with_areas(|areas| areas.find(is_within).is_some());
        if is_known == Some(true) {
            clear(start, length);
            return 0;
        }
    }
    // SAFETY: guaranteed by the caller.
    returned(unsafe { call3(number::MADVISE, start, length, advice as usize) })
}

macro_rules! changes {
    ($($name:ident: $number:ident)*) => { $(
        /// Forgets the area, then does the same as the C library's function.
        ///
        /// # Safety
        /// Same as that function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            start: usize,
            length: usize,
            third: usize,
            fourth: usize,
            fifth: usize,
        ) -> isize {
            if mode::is(Mode::Memory) {
                with_areas(|areas| areas.forget(start, length));
            }
            let arguments = [start, length, third, fourth, fifth, 0];
            // SAFETY: guaranteed by the caller.
            returned(unsafe { call(number::$number, arguments) })
        }
    )* };
}

changes! { mprotect: MPROTECT mremap: MREMAP mbind: MBIND }
