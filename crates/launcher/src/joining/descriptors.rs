//! Sockets that send small messages at once, and larger pipes.

use super::forward::{self, Name};
use super::mode::{self, Mode};
use crate::system::{call, call3, number};

const AF_INET: i32 = 2;
const AF_INET6: i32 = 10;
const SOCK_STREAM: i32 = 1;
/// The bits of a socket's type that aren't flags.
const KIND: i32 = 0xf;
const IPPROTO_TCP: i32 = 6;
const TCP_NODELAY: i32 = 1;
const F_SETPIPE_SZ: usize = 1031;
/// The largest size that a user without privileges may ask for, by default.
const LARGE: usize = 1 << 20;

/// Same as the C library's `socket`. Sockets that it accepts later have the same setting.
///
/// # Safety
/// Same as that function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn socket(family: i32, kind: i32, protocol: i32) -> i32 {
    let made = forward::socket(family, kind, protocol);
    let is_tcp = matches!(family, AF_INET | AF_INET6) && kind & KIND == SOCK_STREAM;
    if made >= 0 && is_tcp && mode::is(Mode::NoDelay) {
        let at_once = 1i32;
        let arguments = [
            made as usize,
            IPPROTO_TCP as usize,
            TCP_NODELAY as usize,
            &raw const at_once as usize,
            size_of::<i32>(),
            0,
        ];
        // SAFETY: a number, and its size.
        unsafe { call(number::SETSOCKOPT, arguments) };
    }
    made
}

/// Same as the C library's `setsockopt`, but the setting stays as it is.
///
/// # Safety
/// Same as that function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setsockopt(
    socket: i32,
    level: i32,
    name: i32,
    value: usize,
    length: u32,
) -> i32 {
    if level == IPPROTO_TCP && name == TCP_NODELAY && mode::is(Mode::NoDelay) {
        return 0;
    }
    forward::set_option(socket, level, name, value, length)
}

/// Makes a pipe larger. Anything else stays as it is, and so does a pipe that may not be larger.
fn enlarge(descriptor: i32) {
    // SAFETY: takes numbers.
    unsafe { call3(number::FCNTL, descriptor as usize, F_SETPIPE_SZ, LARGE) };
}

macro_rules! pipes {
    ($($name:ident)*) => { $(
        /// # Safety
        /// Same as the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(ends: *mut i32, flags: i32) -> i32 {
            // SAFETY: guaranteed by the caller.
            let made = unsafe { forward::pipe(Name::$name, ends, flags) };
            if made == 0 && mode::is(Mode::Pipes) {
                // SAFETY: the call has written two descriptors.
                enlarge(unsafe { *ends });
            }
            made
        }
    )* };
}

pipes! { pipe pipe2 }

/// Runs when the library is loaded, before the program.
extern "C" fn at_the_start() {
    if mode::is(Mode::Pipes) {
        enlarge(0);
        enlarge(1);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = at_the_start;
