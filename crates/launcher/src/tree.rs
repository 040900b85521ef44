//! The processes started by runs, and how they are ended.

use crate::files::{AT_FDCWD, open};
use crate::system::{call, call3, number};

const SIGKILL: usize = 9;
const WNOHANG: usize = 1;
const EINTR: isize = -4;
const EPERM: isize = -1;

/// Calls `act` for each of our children that is alive or not reaped. Returns the number of these children,
/// and for how many of them `act` failed.
fn each_child(act: fn(isize) -> bool) -> (u32, u32) {
    let listing = open(AT_FDCWD, c"/proc/thread-self/children".as_ptr() as usize, 0);
    if listing < 0 {
        return (0, 0);
    }
    let (mut count, mut refused, mut pid) = (0, 0, 0isize);
    let mut buffer = [0u8; 512];
    loop {
        // SAFETY: reads at most the size of the buffer.
        let got = unsafe {
            call3(
                number::READ,
                listing as usize,
                buffer.as_mut_ptr() as usize,
                512,
            )
        };
        if got <= 0 {
            break;
        }
        for byte in buffer.iter().take(got as usize) {
            if byte.is_ascii_digit() {
                pid = pid * 10 + (byte - b'0') as isize;
            } else if pid > 0 {
                count += 1;
                refused += u32::from(!act(pid));
                pid = 0;
            }
        }
    }
    // SAFETY: an open descriptor.
    unsafe { call3(number::CLOSE, listing as usize, 0, 0) };
    (count, refused)
}

pub(crate) fn kill(pid: isize) -> bool {
    // SAFETY: takes numbers. The group comes first: it has the same number if the child leads one.
    unsafe {
        call3(number::KILL, -pid as usize, SIGKILL, 0);
        call3(number::KILL, pid as usize, SIGKILL, 0) != EPERM
    }
}

/// Reaps exited children without waiting. Returns true while any are left.
fn reap(flags: usize) -> bool {
    loop {
        // SAFETY: nothing is written.
        match unsafe { call(number::WAIT4, [usize::MAX, 0, flags, 0, 0, 0]) } {
            0 => return true,
            EINTR => {}
            pid if pid > 0 => {
                if flags == 0 {
                    return true;
                }
            }
            _ => return false,
        }
    }
}

pub(crate) fn count_left() -> u32 {
    if reap(WNOHANG) {
        each_child(|_| true).0
    } else {
        0
    }
}

/// Ends every descendant: the children of a dead child become ours, so this repeats until there are none.
/// Returns the number of processes that we are not allowed to end (set-uid programs).
pub(crate) fn sweep() -> u32 {
    while reap(WNOHANG) {
        let (count, refused) = each_child(kill);
        // The children of the others become ours as they exit.
        if refused == count {
            return refused;
        }
        reap(0);
    }
    0
}
