//! Lookups of files that were missing a moment ago, which are answered here if the program was started with
//! `FATHOM_PRELOAD=lookups`.
//!
//! What was missing is forgotten when the program could learn that the file exists by now: after it or a
//! process that it waits for creates something, after any call that waits, and by itself after some time.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::forward::Name;
use super::hold::settle;
use super::kernel::{error, returned};

unsafe extern "C" {
    fn getenv(name: *const core::ffi::c_char) -> *const core::ffi::c_char;
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;
const AT_FDCWD: i32 = -100;
const O_CREAT: usize = 0o100;
/// Read without a system call; as precise as the kernel's tick.
const CLOCK_MONOTONIC_COARSE: i32 = 6;
/// How long a missing file is remembered, as a power of two in nanoseconds: 0.27 s.
const LASTS: u32 = 28;
/// The number of remembered lookups. Another one takes the place of an earlier one.
const ROOM: usize = 65_536;

/// What the library does; 0 if it isn't known yet.
static MODE: AtomicU8 = AtomicU8::new(0);
const JOINS: u8 = 1;
const REMEMBERS: u8 = 2;

/// The keys of missing files; the lowest bit says which error it was.
static MISSING: [AtomicU64; ROOM] = [const { AtomicU64::new(0) }; ROOM];
/// The number of times that everything was forgotten.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// Reports whether the library remembers lookups; otherwise it joins calls.
pub(super) fn remembers() -> bool {
    let mode = match MODE.load(Ordering::Relaxed) {
        0 => {
            // SAFETY: a string that ends with zero.
            let is_set = unsafe { !getenv(c"FATHOM_PRELOAD".as_ptr()).is_null() };
            let mode = if is_set { REMEMBERS } else { JOINS };
            MODE.store(mode, Ordering::Relaxed);
            mode
        }
        known => known,
    };
    mode == REMEMBERS
}

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
    let key = match remembers() {
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
    // SAFETY: the function takes at most these arguments.
    let result = unsafe {
        let real: extern "C" fn(usize, usize, usize, usize, usize) -> i32 =
            core::mem::transmute(Name::real(name as usize));
        let [a, b, c, d, e] = arguments;
        real(a, b, c, d, e)
    };
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
