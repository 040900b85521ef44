//! Lookups of files that were made a moment ago, which are answered here if the program was started with
//! `FATHOM_PRELOAD=lookups`: that a file is missing, and what `stat` says about one that nobody changed for a
//! while.
//!
//! An answer is forgotten when the program could learn that it is wrong by now: after it or a process that it
//! waits for creates something, after any call that waits, and by itself after some time.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::forward::Name;
use super::hold::settle;
use super::kernel::{error, returned};
use super::mode::{self, Mode};

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;
const AT_FDCWD: i32 = -100;
const O_CREAT: usize = 0o100;
/// Read without a system call; as precise as the kernel's tick.
const CLOCK_MONOTONIC_COARSE: i32 = 6;
const CLOCK_REALTIME_COARSE: i32 = 5;
/// How long a missing file is remembered, as a power of two in nanoseconds: 0.27 s.
const LASTS: u32 = 28;
/// The number of remembered lookups. Another one takes the place of an earlier one.
const ROOM: usize = 65_536;

/// A file that was changed within these seconds is looked up each time.
const UNCHANGED: i64 = 2;
/// The number of remembered answers of `stat`, and the largest size of one.
const ANSWERS: usize = 512;
const ANSWER: usize = 256;

/// An answer of `stat` with its key; 0 if there is none.
#[derive(Clone, Copy)]
struct Answer {
    key: u64,
    bytes: [u8; ANSWER],
}

struct Shared(core::cell::UnsafeCell<[Answer; ANSWERS]>);
// SAFETY: accessed only with the lock held.
unsafe impl Sync for Shared {}

static FOUND: Shared = Shared(core::cell::UnsafeCell::new(
    [Answer {
        key: 0,
        bytes: [0; ANSWER],
    }; ANSWERS],
));
/// Whether a thread uses the answers. Others don't wait for it, but ask the kernel.
static USED: AtomicBool = AtomicBool::new(false);

/// Does something with the answer for a key, unless another thread uses the answers.
fn with_answer(key: u64, what: impl FnOnce(&mut Answer) -> bool) -> bool {
    if USED.swap(true, Ordering::Acquire) {
        return false;
    }
    // SAFETY: one thread uses them at a time.
    let all = unsafe { &mut *FOUND.0.get() };
    let done = what(&mut all[(key >> 40) as usize % ANSWERS]);
    USED.store(false, Ordering::Release);
    done
}

/// The form of an answer: the argument with its address, its size, and where it says when the file was last
/// changed.
#[derive(Clone, Copy)]
struct Form {
    at: usize,
    size: usize,
    changed: usize,
}

fn form_of(name: Name) -> Option<Form> {
    let (at, size, changed) = match name {
        Name::stat | Name::stat64 | Name::lstat | Name::lstat64 => (1, 144, 104),
        Name::fstatat | Name::fstatat64 => (2, 144, 104),
        Name::statx => (4, 256, 96),
        _ => return None,
    };
    let size = match cfg!(target_arch = "aarch64") && size == 144 {
        true => 128,
        false => size,
    };
    Some(Form { at, size, changed })
}

/// Remembers an answer, unless the file was changed a moment ago.
fn remember(key: u64, form: Form, answer: usize) {
    let mut now = [0i64; 2];
    // SAFETY: there is room for the time, and the kernel has filled in the answer.
    let changed = unsafe {
        clock_gettime(CLOCK_REALTIME_COARSE, &raw mut now);
        core::ptr::read_unaligned((answer + form.changed) as *const i64)
    };
    if changed + UNCHANGED > now[0] {
        return;
    }
    with_answer(key, |known| {
        known.key = key;
        // SAFETY: the answer has this size.
        unsafe {
            core::ptr::copy_nonoverlapping(
                answer as *const u8,
                known.bytes.as_mut_ptr(),
                form.size,
            );
        }
        true
    });
}

/// Gives the program a remembered answer; returns `false` if there is none.
fn recall(key: u64, form: Form, answer: usize) -> bool {
    with_answer(key, |known| {
        if known.key != key || answer < 4096 {
            return false;
        }
        // SAFETY: the program's structure has this size.
        unsafe {
            core::ptr::copy_nonoverlapping(known.bytes.as_ptr(), answer as *mut u8, form.size);
        }
        true
    })
}

/// The keys of missing files; the lowest bit says which error it was.
static MISSING: [AtomicU64; ROOM] = [const { AtomicU64::new(0) }; ROOM];
/// The number of times that everything was forgotten.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// Forgets what was missing.
pub(super) fn forget_missing() {
    FORGOTTEN.fetch_add(1, Ordering::Relaxed);
}

const fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}

/// Returns the key of a lookup at this time; `None` if it can't be remembered.
fn key(name: Name, folder: i32, path: usize, flags: usize) -> Option<u64> {
    // The first page is never mapped: the kernel reports such a pointer.
    if path < 4096 {
        return None;
    }
    let mut hash = mix(name as u64, flags as u64);
    let mut at = path as *const u8;
    // SAFETY: the caller's string, which ends with zero.
    unsafe {
        let is_absolute = *at == b'/';
        if *at == 0 || !(is_absolute || folder == AT_FDCWD) {
            return None;
        }
        while *at != 0 {
            hash = mix(hash, u64::from(*at));
            at = at.add(1);
        }
    }
    let mut time = [0i64; 2];
    // SAFETY: there is room for the time.
    unsafe { clock_gettime(CLOCK_MONOTONIC_COARSE, &raw mut time) };
    let now = (time[0] as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time[1] as u64);
    hash = mix(hash, now >> LASTS);
    Some(mix(hash, FORGOTTEN.load(Ordering::Relaxed)) | 1)
}

fn place(key: u64) -> &'static AtomicU64 {
    &MISSING[(key >> 40) as usize % ROOM]
}

/// Makes a lookup. `at` is the position of the path in the arguments, and `flags` that of a number that
/// changes what is found.
fn look_up(name: Name, arguments: [usize; 5], at: usize, flags: usize) -> isize {
    settle();
    let of = |at: usize| arguments.get(at).copied().unwrap_or(0);
    let folder = if at == 0 { AT_FDCWD } else { of(0) as i32 };
    let key = match mode::is(Mode::Lookups) {
        true => key(name, folder, of(at), of(flags)),
        false => None,
    };
    if let Some(key) = key {
        match place(key).load(Ordering::Relaxed) {
            known if known == key => return returned(-(ENOENT as isize)),
            known if known == key & !1 => return returned(-(ENOTDIR as isize)),
            _ => {}
        }
    }
    let form = form_of(name);
    let asked = key.zip(form).map(|(key, form)| {
        // What `statx` is asked for changes its answer.
        let mask = if form.at == 4 { of(3) as u64 } else { 0 };
        (mix(key, mask) | 1, form)
    });
    if let Some((key, form)) = asked
        && recall(key, form, of(form.at))
    {
        return 0;
    }
    // SAFETY: the function takes at most these arguments.
    let result = unsafe {
        let real: extern "C" fn(usize, usize, usize, usize, usize) -> i32 =
            core::mem::transmute(Name::real(name as usize));
        let [a, b, c, d, e] = arguments;
        real(a, b, c, d, e)
    };
    if let (Some((key, form)), 0) = (asked, result) {
        remember(key, form, of(form.at));
    }
    if let (Some(key), -1) = (key, result) {
        match error() {
            ENOENT => place(key).store(key, Ordering::Relaxed),
            ENOTDIR => place(key).store(key & !1, Ordering::Relaxed),
            _ => {}
        }
    }
    result as isize
}

/// Opens a file, and forgets what was missing if it may create the file.
fn open_file(name: Name, arguments: [usize; 5], at: usize) -> isize {
    if arguments
        .get(at + 1)
        .is_none_or(|flags| flags & O_CREAT != 0)
    {
        forget_missing();
        // A file that is created isn't looked up.
        let result = look_up(name, arguments, usize::MAX, usize::MAX);
        forget_missing();
        return result;
    }
    look_up(name, arguments, at, at + 1)
}

/// The position of an argument that a function doesn't have.
const NONE: usize = 9;

macro_rules! lookups {
    ($does:ident: $($name:ident($($argument:expr),*))*) => { $(
        /// # Safety
        /// Same as the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
            $does(Name::$name, [a, b, c, d, e], $($argument),*)
        }
    )* };
}

lookups! { look_up:
    stat(0, NONE) stat64(0, NONE) lstat(0, NONE) lstat64(0, NONE)
    fstatat(1, 3) fstatat64(1, 3) statx(1, 2)
    access(0, NONE) faccessat(1, 3) eaccess(0, NONE) euidaccess(0, NONE) readlink(0, NONE)
}

lookups! { open_file: open(0) open64(0) openat(1) openat64(1) }
