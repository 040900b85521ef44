//! Creates a child whose `execve` costs no more than that of a small process.
//!
//! A forked copy of the tracer would have to tear down its copied memory within its `execve`, which took 0.3
//! to 0.6 ms of a start of 0.6 ms. Instead, the fork creates a helper that only waits. The helper creates the
//! child in its own memory, but as a child of the tracer. The child's `execve` then only releases memory that
//! the helper still holds.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::close_from::close_from;
use crate::spawn::pipe;

/// Size of the child's stack in bytes, more than the code between the clone and the `execve` needs.
const STACK_BYTES: usize = 256 << 10;

/// The process whose memory the child borrows. It exits when this value is dropped.
#[derive(Debug)]
pub(super) struct VforkHelper {
    pid: i32,
    wait: Option<OwnedFd>,
}

struct ChildBody<'a> {
    body: &'a mut dyn FnMut(),
}

/// Creates a child of the calling thread that runs `body`, which must not return. Returns the process id of
/// the child, and its helper.
///
/// # Errors
/// The system's, if no process can be created.
///
/// # Safety
/// `body` may only do what is allowed between a fork and an exec.
pub(super) unsafe fn spawn(mut body: impl FnMut()) -> io::Result<(u32, VforkHelper)> {
    let (wait_read, wait_write) = pipe()?;
    let (number_read, number_write) = pipe()?;
    let mut stack = vec![0u8; STACK_BYTES];
    // SAFETY: the helper calls only async-signal-safe functions on data prepared above.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let mut child = ChildBody { body: &mut body };
            // SAFETY: this runs in the forked child.
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

/// Part of the helper's code.
///
/// # Safety
/// Must only be called in a forked child.
unsafe fn helper_main(
    stack: &mut [u8],
    child: &mut ChildBody<'_>,
    wait: &OwnedFd,
    number_write: &OwnedFd,
) -> ! {
    // SAFETY: these are async-signal-safe calls. The child has its own stack, and everything that it borrows
    // stays unchanged, because this process only waits until the child has executed its program.
    unsafe {
        // The top of the stack, with the required alignment.
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
    // SAFETY: `helper_main` passed this pointer, and waits.
    let child = unsafe { &mut *child.cast::<ChildBody<'_>>() };
    (child.body)();
    127
}

/// Part of the helper's code.
///
/// # Safety
/// Must only be called in a forked child.
unsafe fn sleep_until_closed(wait: RawFd) -> ! {
    // SAFETY: makes only async-signal-safe calls on memory of this frame.
    unsafe {
        // Leave the terminal's group: Ctrl-C is for the command and its tracer.
        libc::setsid();
        libc::dup2(wait, 0);
        // Keep none of the tracer's descriptors open, least of all pipes to other programs.
        close_from(1);
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
        // SAFETY: waits for our own child, which exits as soon as the pipe is closed. Code that waits for all
        // children may have reaped it before; in that case, no child has this id.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}
