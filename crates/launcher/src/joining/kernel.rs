//! The system calls that the library makes itself, with `errno` set as by the C library.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::system::{call, call3, number};

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// Converts a result to the convention of the C library's functions.
pub(super) fn returned(result: isize) -> isize {
    if (-4095..0).contains(&result) {
        // SAFETY: the address of the thread's `errno`.
        unsafe { *__errno_location() = -result as i32 };
        return -1;
    }
    result
}

/// Returns the error of the C library's last call in this thread.
pub(super) fn error() -> i32 {
    // SAFETY: the address of the thread's `errno`.
    unsafe { *__errno_location() }
}

/// # Safety
/// `bytes` must point to `length` readable bytes.
pub(super) unsafe fn write(descriptor: i32, bytes: usize, length: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { call3(number::WRITE, descriptor as usize, bytes, length) }
}

/// # Safety
/// `bytes` must point to `length` writable bytes.
pub(super) unsafe fn read(descriptor: i32, bytes: usize, length: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { call3(number::READ, descriptor as usize, bytes, length) }
}

const SEEK_CUR: usize = 1;

/// Moves the file position back by this many bytes.
pub(super) fn go_back(descriptor: i32, bytes: usize) {
    let by = (bytes as isize).wrapping_neg() as usize;
    // SAFETY: takes numbers.
    unsafe { call3(number::LSEEK, descriptor as usize, by, SEEK_CUR) };
}

const F_DUPFD_CLOEXEC: usize = 1030;
const O_CLOEXEC: usize = 0o2000000;
const SPLICE_F_NONBLOCK: usize = 2;
/// The library's own descriptors begin here, where programs hardly expect to get one.
const HIGH: usize = 700;

/// The library's own pipe, each end plus one; 0 if there is none.
static COPIES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Returns the ends of the library's own pipe; `None` if there can't be one.
fn own_pipe() -> Option<[usize; 2]> {
    if COPIES[1].load(Ordering::Relaxed) == 0 {
        let mut ends = [0i32; 2];
        // SAFETY: room for two descriptors, which are then copied and closed.
        unsafe {
            if call3(number::PIPE2, ends.as_mut_ptr() as usize, O_CLOEXEC, 0) < 0 {
                return None;
            }
            for (end, known) in ends.iter().zip(&COPIES) {
                let copy = call3(number::FCNTL, *end as usize, F_DUPFD_CLOEXEC, HIGH);
                call3(number::CLOSE, *end as usize, 0, 0);
                known.store((copy + 1).max(0) as usize, Ordering::Relaxed);
            }
        }
    }
    let [from, to] = [0, 1].map(|end: usize| COPIES[end].load(Ordering::Relaxed));
    Some([from.checked_sub(1)?, to.checked_sub(1)?])
}

/// Copies what a pipe contains, up to `length` bytes; it stays in the pipe. Returns 0 or an error if there is
/// nothing or it can't be copied.
///
/// # Safety
/// `bytes` must point to `length` writable bytes.
pub(super) unsafe fn look_ahead(descriptor: i32, bytes: usize, length: usize) -> isize {
    let Some([from, to]) = own_pipe() else {
        return 0;
    };
    // SAFETY: takes numbers, and the caller's bytes.
    unsafe {
        let arguments = [descriptor as usize, to, length, SPLICE_F_NONBLOCK, 0, 0];
        match call(number::TEE, arguments) {
            copied if copied > 0 => call3(number::READ, from, bytes, copied as usize),
            other => other,
        }
    }
}

/// Lets another thread run.
pub(super) fn give_way() {
    // SAFETY: takes nothing.
    unsafe { call(number::SCHED_YIELD, [0; 6]) };
}

const AT_EMPTY_PATH: usize = 0x1000;
const STATX_TYPE: usize = 1;
const S_IFMT: u16 = 0o170000;
const S_IFREG: u16 = 0o100000;
const S_IFIFO: u16 = 0o010000;
const S_IFCHR: u16 = 0o020000;
const F_GETFL: usize = 3;
const O_ACCMODE: isize = 3;

/// How a descriptor is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// A regular file opened only for reading.
    Reads,
    /// A pipe opened only for reading.
    ReadsPipe,
    /// A regular file opened only for writing, or `/dev/null`.
    Writes,
    /// Anything else.
    Other,
}

/// Asks the kernel; preserves `errno`.
pub(super) fn use_of(descriptor: i32) -> Use {
    // The first 256 bytes are `struct statx`: the mode at 28, the device's numbers at 128.
    let mut about = [0u32; 64];
    // SAFETY: an empty path, and room for the structure.
    let (asked, flags) = unsafe {
        (
            call(
                number::STATX,
                [
                    descriptor as usize,
                    c"".as_ptr() as usize,
                    AT_EMPTY_PATH,
                    STATX_TYPE,
                    about.as_mut_ptr() as usize,
                    0,
                ],
            ),
            call3(number::FCNTL, descriptor as usize, F_GETFL, 0),
        )
    };
    if asked < 0 || flags < 0 {
        return Use::Other;
    }
    let kind = (about[7] & 0xffff) as u16 & S_IFMT;
    let is_null = kind == S_IFCHR && about[32] == 1 && about[33] == 3;
    match (kind == S_IFREG, flags & O_ACCMODE) {
        (true, 0) => Use::Reads,
        (true, 1) => Use::Writes,
        (false, 0) if kind == S_IFIFO => Use::ReadsPipe,
        (false, 1 | 2) if is_null => Use::Writes,
        _ => Use::Other,
    }
}
