//! Data held for a file that is being written, and data read ahead from another file.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::forward::{self, Name};
use super::kernel::{self, Use, give_way, returned, use_of};
use super::lookups;
use super::mode::{self, Mode};

/// Capacity for held or read-ahead bytes.
const ROOM: usize = 65_536;
/// Calls that are larger than this are passed on, because they are efficient enough.
const SMALL: usize = 4_096;
/// Maximum number of C library streams with data that the program wants written.
const STREAMS: usize = 16;
/// After this many attempts, the holder of the lock is assumed to be gone: a forked process has only one
/// thread.
const PATIENCE: usize = 1 << 20;

/// Data held for a descriptor. It is all zeros at first, so that it takes no space in the library's file;
/// `of` is therefore the descriptor plus one.
struct Held {
    of: i32,
    length: usize,
    bytes: [u8; ROOM],
}

struct Ahead {
    of: i32,
    from: usize,
    to: usize,
    /// Whether what was read ahead is still in its pipe.
    stays: bool,
    bytes: [u8; ROOM],
}

struct State {
    held: Held,
    ahead: Ahead,
    streams: [Stream; STREAMS],
    count: usize,
}

/// A stream of the C library.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stream {
    address: usize,
    /// Without this library, the stream would be unbuffered, so everything written to it must be passed on.
    always: bool,
}

impl Stream {
    const NONE: Stream = Stream {
        address: 0,
        always: false,
    };
}

struct Shared(core::cell::UnsafeCell<State>);
// SAFETY: accessed only with the lock held.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(core::cell::UnsafeCell::new(State {
    held: Held {
        of: 0,
        length: 0,
        bytes: [0; ROOM],
    },
    ahead: Ahead {
        of: 0,
        from: 0,
        to: 0,
        stays: false,
        bytes: [0; ROOM],
    },
    streams: [Stream::NONE; STREAMS],
    count: 0,
}));
/// The address that identifies the thread that holds the state; 0 if none.
static LOCK: AtomicUsize = AtomicUsize::new(0);
/// Whether there is data to write or a position to move back.
static HOLDS: AtomicBool = AtomicBool::new(false);
/// Whether the program is exiting.
static ENDED: AtomicBool = AtomicBool::new(false);

/// A guard that gives access to the state.
struct Lock;

impl Lock {
    /// Takes the lock; `None` in a signal handler that interrupted this thread while it held the lock.
    fn take() -> Option<Lock> {
        let me = forward::thread();
        let mut turns = 0;
        while let Err(other) =
            LOCK.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed)
        {
            if other == me {
                return None;
            }
            turns += 1;
            if turns == PATIENCE {
                LOCK.store(me, Ordering::Relaxed);
                break;
            }
            give_way();
        }
        Some(Lock)
    }

    #[expect(clippy::mut_from_ref, reason = "one lock, one state")]
    fn state(&self) -> &mut State {
        // SAFETY: one thread holds the lock, and takes the state once while it does.
        unsafe { &mut *STATE.0.get() }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        LOCK.store(0, Ordering::Release);
    }
}

/// Writes all held data and moves the file position back to the program's, before any other process could
/// observe it.
pub(super) fn settle() {
    if !HOLDS.load(Ordering::Acquire) {
        return;
    }
    let Some(lock) = Lock::take() else { return };
    let state = lock.state();
    state.write_held();
    state.go_back();
    let (streams, count) = (state.streams, state.count);
    state.forget(|stream| !stream.always);
    HOLDS.store(state.count > 0, Ordering::Release);
    drop(lock);
    // The C library itself writes the data of its streams.
    for stream in streams.iter().take(count) {
        forward::flush(stream.address);
    }
}

/// Reports whether calls are joined.
pub(super) fn joins() -> bool {
    !ENDED.load(Ordering::Acquire) && mode::is(Mode::Joins)
}

/// Reports whether a flush of this stream is held. After any call that could replace its descriptor, none is.
pub(super) fn is_noted(stream: usize) -> bool {
    let Some(lock) = Lock::take() else {
        return false;
    };
    let state = lock.state();
    let noted = state.streams.get(..state.count).unwrap_or_default();
    noted
        .iter()
        .any(|known| known.address == stream && !known.always)
}

/// Forgets a stream that is closed or replaced.
pub(super) fn forget(stream: usize) {
    settle();
    if let Some(lock) = Lock::take() {
        lock.state().forget(|known| known.address == stream);
    }
}

/// Settles at the program's exit; nothing is held from then on.
pub(super) fn end() {
    ENDED.store(true, Ordering::Release);
    settle();
}

/// Notes that a stream of the C library holds data that the program wants written, `always` or now. Returns
/// `false` if there is no room to note it.
pub(super) fn note(stream: usize, always: bool) -> bool {
    let Some(lock) = Lock::take() else {
        return false;
    };
    let state = lock.state();
    // The data held so far is older, so write it first.
    state.write_held();
    let noted = state.streams.get_mut(..state.count).unwrap_or_default();
    if let Some(known) = noted.iter_mut().find(|known| known.address == stream) {
        known.always |= always;
        return true;
    }
    let Some(place) = state.streams.get_mut(state.count) else {
        return false;
    };
    *place = Stream {
        address: stream,
        always,
    };
    state.count += 1;
    HOLDS.store(true, Ordering::Release);
    true
}

impl State {
    fn forget(&mut self, is_meant: impl Fn(&Stream) -> bool) {
        let mut kept = 0;
        for at in 0..self.count.min(STREAMS) {
            let stream = self.streams[at];
            if !is_meant(&stream) {
                self.streams[kept] = stream;
                kept += 1;
            }
        }
        self.count = kept;
    }

    fn write_held(&mut self) {
        let held = &mut self.held;
        let mut done = 0;
        while done < held.length {
            let from = held.bytes.as_ptr() as usize + done;
            // SAFETY: within the buffer.
            match unsafe { kernel::write(held.of - 1, from, held.length - done) } {
                // There is no caller to report the error to.
                error if error <= 0 && error != -4 => break,
                error if error < 0 => {}
                written => done += written as usize,
            }
        }
        held.length = 0;
        held.of = 0;
    }

    fn go_back(&mut self) {
        let ahead = &mut self.ahead;
        if ahead.stays {
            let mut left = ahead.from;
            while left > 0 {
                // SAFETY: our own buffer, whose first bytes the program already has.
                let taken =
                    unsafe { kernel::read(ahead.of - 1, ahead.bytes.as_mut_ptr() as usize, left) };
                match taken {
                    -4 => {}
                    error if error <= 0 => break,
                    taken => left = left.saturating_sub(taken as usize),
                }
            }
        } else if ahead.from < ahead.to {
            kernel::go_back(ahead.of - 1, ahead.to - ahead.from);
        }
        ahead.from = 0;
        ahead.to = 0;
        ahead.of = 0;
    }
}

/// # Safety
/// Same as the C library's `write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(descriptor: i32, bytes: usize, length: usize) -> isize {
    let is_small = length > 0 && length <= SMALL && joins();
    if is_small && let Some(lock) = Lock::take() {
        let state = lock.state();
        let streams_hold = state
            .streams
            .iter()
            .take(state.count)
            .any(|stream| !stream.always);
        if state.held.of != descriptor + 1 {
            state.write_held();
        }
        let is_meant = || use_of(descriptor) == Use::Writes;
        if !streams_hold && (state.held.of == descriptor + 1 || is_meant()) {
            if state.held.length + length > ROOM {
                state.write_held();
            }
            let held = &mut state.held;
            // SAFETY: the caller guarantees the bytes, and the buffer has room for them.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    bytes as *const u8,
                    held.bytes.as_mut_ptr().add(held.length),
                    length,
                );
            }
            held.of = descriptor + 1;
            held.length += length;
            HOLDS.store(true, Ordering::Release);
            return length as isize;
        }
    }
    settle();
    // SAFETY: the caller guarantees the bytes.
    returned(unsafe { kernel::write(descriptor, bytes, length) })
}

/// `struct iovec`.
#[repr(C)]
struct Piece {
    bytes: usize,
    length: usize,
}

/// # Safety
/// Same as the C library's `writev`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(descriptor: i32, pieces: usize, count: i32) -> isize {
    let all = match usize::try_from(count) {
        // SAFETY: the caller guarantees an array of this length.
        Ok(count @ 1..=16) => unsafe { core::slice::from_raw_parts(pieces as *const Piece, count) },
        _ => &[],
    };
    let length: usize = all.iter().map(|piece| piece.length).sum();
    if length > 0 && length <= SMALL && joins() && use_of(descriptor) == Use::Writes {
        // SAFETY: the caller guarantees the bytes.
        let written = all
            .iter()
            .map(|piece| unsafe { write(descriptor, piece.bytes, piece.length) });
        return written.sum();
    }
    settle();
    let arguments = [descriptor as usize, pieces, count as usize, 0, 0, 0];
    // SAFETY: guaranteed by the caller.
    returned(unsafe { crate::system::call(crate::system::number::WRITEV, arguments) })
}

/// # Safety
/// Same as the C library's `read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(descriptor: i32, bytes: usize, length: usize) -> isize {
    let is_small = length > 0 && length < SMALL && joins();
    if is_small && let Some(lock) = Lock::take() {
        let state = lock.state();
        let is_known = state.ahead.of == descriptor + 1 && state.ahead.from < state.ahead.to;
        if !is_known {
            state.go_back();
        }
        let usual = if is_known {
            Use::Other
        } else {
            use_of(descriptor)
        };
        let ahead = &mut state.ahead;
        let place = ahead.bytes.as_mut_ptr() as usize;
        // SAFETY: our own buffer.
        let got = unsafe {
            match usual {
                Use::Reads => kernel::read(descriptor, place, ROOM),
                Use::ReadsPipe => kernel::look_ahead(descriptor, place, ROOM),
                _ => 0,
            }
        };
        if usual == Use::Reads && got <= 0 {
            return returned(got);
        }
        if got > 0 {
            ahead.of = descriptor + 1;
            ahead.to = got as usize;
            ahead.stays = usual == Use::ReadsPipe;
        }
        // If a pipe is empty, the call waits below, without the lock.
        if is_known || got > 0 {
            let taken = length.min(ahead.to - ahead.from);
            // SAFETY: within the bytes read, into the caller's buffer.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    ahead.bytes.as_ptr().add(ahead.from),
                    bytes as *mut u8,
                    taken,
                );
            }
            ahead.from += taken;
            HOLDS.store(true, Ordering::Release);
            return taken as isize;
        }
    }
    settle();
    // SAFETY: guaranteed by the caller.
    unsafe { forward::read(descriptor, bytes, length) }
}

/// Writes all held data, then returns the address of the real function with this name.
pub(super) extern "C" fn before(name: usize) -> usize {
    settle();
    if name >= Name::recv as usize {
        lookups::forget_missing();
    }
    Name::real(name)
}
