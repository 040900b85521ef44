//! Who kills the command if the tracer is killed and can kill nothing any more?
//!
//! A process that does nothing but read a pipe whose other end only the tracer holds. At the end of
//! the pipe it kills the process group whose number it has. It costs one fork before the run and
//! sleeps during it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use crate::spawn::pipe;

/// A waiting guardian. Dropping it sends it home.
#[derive(Debug)]
pub(crate) struct Guardian {
    pid: i32,
    orders: File,
}

impl Guardian {
    /// Starts one that guards nothing yet.
    pub(crate) fn start() -> io::Result<Self> {
        let (read, write) = pipe()?;
        // SAFETY: the child calls only async-signal-safe functions.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: in the forked child.
            0 => unsafe { wait_for_the_end(read.as_raw_fd()) },
            pid => Ok(Self {
                pid,
                orders: write.into(),
            }),
        }
    }

    /// Names the process group to kill.
    pub(crate) fn guard(&mut self, group: u32) {
        // A guardian that is gone takes no orders; the parent-death signal is still there.
        let _ = self.orders.write_all(&(group as i32).to_ne_bytes());
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let _ = self.orders.write_all(&0i32.to_ne_bytes());
        // SAFETY: our own child, which ends as soon as it has read the zero.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// # Safety
/// Only in a forked child.
unsafe fn wait_for_the_end(pipe: i32) -> ! {
    // SAFETY: async-signal-safe calls on the frame's own memory.
    unsafe {
        // Out of the terminal's group: Ctrl-C must not end the guardian before the tracer.
        libc::setsid();
        libc::dup2(pipe, 0);
        // Nothing of the tracer's may be kept open, pipes to other programs least of all.
        libc::syscall(libc::SYS_close_range, 1u32, u32::MAX, 0u32);
        let mut group = 0i32;
        loop {
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
