//! How is a child made whose `execve` costs what it costs a small process?
//!
//! A forked copy of the tracer would have to take its copied memory down within its `execve`, which
//! took 0.3 to 0.6 ms of a start of 0.6 ms. So the fork makes a helper that only waits, and the
//! helper makes the child in the same memory and as the tracer's own: its `execve` then only lets
//! go of memory that the helper still has.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::spawn::pipe;

/// More than what runs between the clone and the `execve` takes.
const STACK_BYTES: usize = 256 << 10;

/// The process whose memory the child borrows. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct VforkHelper {
    pid: i32,
    wait: Option<OwnedFd>,
}

struct ChildBody<'a> {
    body: &'a mut dyn FnMut(),
}

/// Makes a child of the calling thread that runs `body`, which must not return. The number of the
/// child comes with its helper.
///
/// # Errors
/// The system's, when no process can be made.
///
/// # Safety
/// `body` may do only what is allowed between a fork and an exec.
pub(super) unsafe fn spawn(mut body: impl FnMut()) -> io::Result<(u32, VforkHelper)> {
    let (wait_read, wait_write) = pipe()?;
    let (number_read, number_write) = pipe()?;
    let mut stack = vec![0u8; STACK_BYTES];
    // SAFETY: the helper calls only async-signal-safe functions on what was made above.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let mut child = ChildBody { body: &mut body };
            // SAFETY: in the forked child.
            unsafe { helper_main(&mut stack, &mut child, &wait_read, &number_write) }
        }
        pid => {
            let helper = VforkHelper {
                pid,
                wait: Some(wait_write),
            };
            drop((wait_read, number_write));
            let mut number = [0u8; 4];
            std::fs::File::from(number_read).read_exact(&mut number)?;
            match i32::from_ne_bytes(number) {
                child if child > 0 => Ok((child as u32, helper)),
                error => Err(io::Error::from_raw_os_error(-error)),
            }
        }
    }
}

/// # Safety
/// Only in a forked child.
unsafe fn helper_main(
    stack: &mut [u8],
    child: &mut ChildBody<'_>,
    wait: &OwnedFd,
    number_write: &OwnedFd,
) -> ! {
    // SAFETY: async-signal-safe calls. The child has a stack of its own, and everything that it
    // borrows stays as it is: this process does nothing but wait until it has executed its program.
    unsafe {
        // The stack's top, as its alignment is asked for.
        let top = stack.as_mut_ptr().add(stack.len() & !15);
        let top = top.sub(top as usize % 16);
        let flags = libc::CLONE_VM | libc::CLONE_PARENT | libc::SIGCHLD;
        let child = libc::clone(
            run_child,
            top.cast(),
            flags,
            std::ptr::from_mut(child).cast(),
        );
        let number = match child {
            -1 => -*libc::__errno_location(),
            child => child,
        };
        libc::write(number_write.as_raw_fd(), (&raw const number).cast(), 4);
        sleep_until_closed(wait.as_raw_fd())
    }
}

extern "C" fn run_child(child: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `helper_main` passed it and waits.
    let child = unsafe { &mut *child.cast::<ChildBody<'_>>() };
    (child.body)();
    127
}

/// # Safety
/// Only in a forked child.
unsafe fn sleep_until_closed(wait: RawFd) -> ! {
    // SAFETY: async-signal-safe calls on the frame's own memory.
    unsafe {
        // Out of the terminal's group: Ctrl-C is for the command and its tracer.
        libc::setsid();
        libc::dup2(wait, 0);
        // Nothing of the tracer's may be kept open, pipes to other programs least of all.
        libc::syscall(libc::SYS_close_range, 1u32, u32::MAX, 0u32);
        let mut byte = 0u8;
        loop {
            match libc::read(0, (&raw mut byte).cast(), 1) {
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => libc::_exit(0),
            }
        }
    }
}

impl Drop for VforkHelper {
    fn drop(&mut self) {
        self.wait = None;
        // SAFETY: our own child, which ends as soon as the pipe is closed. Who waits for all
        // children may have reaped it before; then there is none of this number.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}
