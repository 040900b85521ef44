//! Streams of the C library. With this library, data stays in them for a while, even if the program wants it
//! written at once.

use super::forward;
use super::hold::{forget, is_noted, joins, note, settle};
use super::kernel::{Use, use_of};

/// The modes of `setvbuf`.
const BY_BLOCKS: i32 = 0;
/// A stream buffer smaller than this causes too many calls.
const SMALL: usize = 4_096;

fn is_joined(stream: usize) -> bool {
    let of_file = |descriptor| matches!(use_of(descriptor), Use::Writes);
    stream != 0 && joins() && of_file(forward::descriptor_of(stream))
}

/// # Safety
/// Same as the C library's `fflush`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fflush(stream: usize) -> i32 {
    // A stream whose flush was held needs no system calls to find out what it is.
    if (is_noted(stream) || is_joined(stream)) && note(stream, false) {
        return 0;
    }
    settle();
    forward::flush(stream)
}

/// # Safety
/// Same as the C library's `setvbuf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setvbuf(stream: usize, buffer: usize, mode: i32, size: usize) -> i32 {
    let by_blocks = mode == BY_BLOCKS && size >= SMALL;
    // By default, the stream is fully buffered.
    let is_held = !by_blocks && is_joined(stream) && note(stream, true);
    if is_held || (!by_blocks && is_read(stream)) {
        return 0;
    }
    forward::set_buffer(stream, buffer, mode, size)
}

fn is_read(stream: usize) -> bool {
    stream != 0 && joins() && use_of(forward::descriptor_of(stream)) == Use::Reads
}

/// # Safety
/// Same as the C library's `fclose`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fclose(stream: usize) -> i32 {
    forget(stream);
    forward::close_stream(stream)
}

/// # Safety
/// Same as the C library's `setbuf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setbuf(stream: usize, buffer: usize) {
    const USUAL: usize = 8_192;
    const AT_ONCE: i32 = 2;
    let mode = if buffer == 0 { AT_ONCE } else { BY_BLOCKS };
    // SAFETY: guaranteed by the caller.
    unsafe { setvbuf(stream, buffer, mode, USUAL) };
}

/// # Safety
/// Same as the C library's `setlinebuf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setlinebuf(stream: usize) {
    const BY_LINES: i32 = 1;
    // SAFETY: guaranteed by the caller.
    unsafe { setvbuf(stream, 0, BY_LINES, 0) };
}
