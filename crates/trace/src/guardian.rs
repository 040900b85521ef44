//! A process that kills the command if the tracer is killed and can't do so itself.
//!
//! The guardian only reads from a pipe whose other end is held by the tracer alone. At the end of input, it
//! kills the process group that it was given. It costs one fork before the run and sleeps during the run.
//!
//! The tracer is the command's parent, and the command may stop it (`kill -STOP $PPID`): then no timeout and
//! no Ctrl-C would end the run. The guardian therefore checks twice a second whether the tracer is stopped,
//! and continues it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use crate::close_from::close_from;
use crate::spawn::pipe;

/// A waiting guardian. Dropping it dismisses it.
#[derive(Debug)]
pub(crate) struct Guardian {
    pid: i32,
    orders: File,
}

impl Guardian {
    /// Starts a guardian that doesn't guard anything yet.
    pub(crate) fn start() -> io::Result<Self> {
        let (read, write) = pipe()?;
        let tracer = std::process::id() as i32;
        // SAFETY: the child calls only async-signal-safe functions.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: this runs in the forked child.
            0 => unsafe { wait_for_the_end(read.as_raw_fd(), tracer) },
            pid => Ok(Self {
                pid,
                orders: write.into(),
            }),
        }
    }

    /// Sets the process group to kill.
    pub(crate) fn guard(&mut self, group: u32) {
        // If the guardian is gone, it receives no orders; the parent-death signal still works.
        let _ = self.orders.write_all(&(group as i32).to_ne_bytes());
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let _ = self.orders.write_all(&0i32.to_ne_bytes());
        // SAFETY: waits for our own child, which exits as soon as it has read the zero.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// Waits for the end of the pipe, then kills the process group.
///
/// # Safety
/// Must only be called in a forked child.
unsafe fn wait_for_the_end(pipe: i32, tracer: i32) -> ! {
    // SAFETY: makes only async-signal-safe calls on memory of this frame.
    unsafe {
        // Leave the terminal's group: Ctrl-C must not end the guardian before the tracer.
        libc::setsid();
        libc::dup2(pipe, 0);
        // Keep none of the tracer's descriptors open, least of all pipes to other programs.
        close_from(1);
        let mut group = 0i32;
        let mut was_held = false;
        loop {
            let mut polled = libc::pollfd {
                fd: 0,
                events: libc::POLLIN,
                revents: 0,
            };
            if libc::poll(&raw mut polled, 1, LOOK_AGAIN_MS) == 0 {
                let is_held = is_held(tracer);
                // By now, the shell has had time to take the terminal after a Ctrl-Z.
                if is_held && was_held {
                    libc::kill(tracer, libc::SIGCONT);
                }
                was_held = is_held;
                continue;
            }
            let mut reported = 0i32;
            match libc::read(0, (&raw mut reported).cast(), 4) {
                4 if reported == 0 => libc::_exit(0),
                4 => group = reported,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        if group > 0 {
            libc::kill(-group, libc::SIGKILL);
        }
        libc::_exit(0)
    }
}

/// Interval between two checks of the tracer.
const LOOK_AGAIN_MS: i32 = 500;

/// Returns whether the process is stopped, but not by a terminal: it has no terminal, or its group is still
/// in the foreground. A shell takes back the foreground from a process stopped by Ctrl-Z.
///
/// # Safety
/// None for the caller to ensure: it allocates nothing, so it may be called in a forked child.
unsafe fn is_held(process: i32) -> bool {
    let mut path = *b"/proc/0000000000/stat\0";
    // `/proc` doesn't accept leading zeros in a process id, but it does accept additional slashes.
    let mut rest = process.unsigned_abs();
    for digit in path[6..16].iter_mut().rev() {
        *digit = match rest {
            0 => b'/',
            _ => b'0' + (rest % 10) as u8,
        };
        rest /= 10;
    }
    let mut stat = [0u8; 512];
    // SAFETY: makes only async-signal-safe calls on memory of this frame.
    let read = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        let read = libc::read(file, stat.as_mut_ptr().cast(), stat.len());
        libc::close(file);
        read
    };
    let read = usize::try_from(read).unwrap_or(0);
    stops_nobody_ends(stat.get(..read).unwrap_or_default())
}

/// Does the same as [`is_held`] for the text of `stat`.
fn stops_nobody_ends(stat: &[u8]) -> bool {
    let behind_name = stat.iter().rposition(|byte| *byte == b')');
    let fields = stat.get(behind_name.map_or(stat.len(), |at| at + 2)..);
    let mut fields = fields.unwrap_or_default().split(|byte| *byte == b' ');
    let (state, _parent, group) = (fields.next(), fields.next(), fields.next());
    let (_session, terminal, foreground) = (fields.next(), fields.next(), fields.next());
    state == Some(b"T") && (terminal == Some(b"0") || foreground == group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_was_stopped_by_no_terminal_is_held() {
        let stat = |state: &str, terminal: i32, foreground: i32| {
            format!("77 (a) b) {state} 1 77 20 {terminal} {foreground} 4194304 0 0")
        };
        assert!(stops_nobody_ends(stat("T", 0, -1).as_bytes()));
        assert!(stops_nobody_ends(stat("T", 34816, 77).as_bytes()));
        assert!(!stops_nobody_ends(stat("T", 34816, 20).as_bytes()));
        assert!(!stops_nobody_ends(stat("S", 0, -1).as_bytes()));
        assert!(!stops_nobody_ends(b"77"));
        assert!(!stops_nobody_ends(b""));
        // SAFETY: the function allocates nothing, and allocating would be allowed here.
        assert!(!unsafe { is_held(std::process::id() as i32) });
    }
}
