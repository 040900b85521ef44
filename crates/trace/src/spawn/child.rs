//! The child's code between `fork` and `execve`.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use super::prepare::{Pointers, Prepared};
use super::stamp::Stamp;
use crate::kernel::bpf::run_here;

/// The steps that may fail, with the names used in the error.
pub(super) const STAGES: [&str; 6] = [
    "creating its own process group",
    "redirecting its input or output",
    "entering its working directory",
    "registering with the tracing programs in the kernel",
    "executing it",
    "giving up the privileges that set-uid bits would add",
];

/// Sets up this process, reports that it is ready, waits to be released, and executes the program. Never
/// returns.
pub(super) fn child(
    prepared: &Prepared,
    pointers: &Pointers,
    hold: &OwnedFd,
    failure: &OwnedFd,
    other_end: &OwnedFd,
    stamp: &Stamp,
) -> ! {
    // SAFETY: from here to the end, there are only async-signal-safe calls on memory allocated before the
    // fork.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Otherwise the child would keep its own pipe open and would not notice when the tracer is gone.
        libc::close(other_end.as_raw_fd());
        let failure = failure.as_raw_fd();
        if prepared.own_group && libc::setpgid(0, 0) == -1 {
            give_up(failure, 0);
        }
        redirect(prepared, failure);
        for fd in &prepared.unwanted {
            libc::close(*fd);
        }
        if let Some(cwd) = &prepared.cwd
            && libc::chdir(cwd.as_ptr()) == -1
        {
            give_up(failure, 2);
        }
        if prepared.no_new_rights && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 {
            give_up(failure, 5);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
        libc::write(failure, b"r".as_ptr().cast(), 1);
        let mut go = 0u8;
        loop {
            match libc::read(hold.as_raw_fd(), (&raw mut go).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => libc::_exit(127),
            }
        }
        if let Some(program) = prepared.follow
            && let Err(error) = run_here(BorrowedFd::borrow_raw(program))
        {
            *libc::__errno_location() = error.raw_os_error().unwrap_or(0);
            give_up(failure, 3);
        }
        let program = prepared.program.as_ptr();
        stamp.set();
        libc::execve(program, pointers.argv.as_ptr(), pointers.env.as_ptr());
        give_up(failure, 4)
    }
}

/// Puts the standard descriptors in place.
///
/// # Safety
/// Must only be called in a forked child.
unsafe fn redirect(prepared: &Prepared, failure: RawFd) {
    let mut copies = [-1; 3];
    for (source, copy) in prepared.stdio.iter().zip(&mut copies) {
        if let Some(fd) = source {
            // SAFETY: the call takes only integers. The source is moved out of the way first, because it may
            // itself be 0, 1 or 2.
            *copy = unsafe { libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, 10) };
            if *copy == -1 {
                // SAFETY: this runs in a forked child.
                unsafe { give_up(failure, 1) };
            }
        }
    }
    for (target, copy) in (0..).zip(copies) {
        // SAFETY: the calls take only integers, and this runs in a forked child.
        unsafe {
            if copy != -1 && libc::dup2(copy, target) == -1 {
                give_up(failure, 1);
            }
        }
    }
}

/// Reports to the parent which step failed and why, and exits.
///
/// # Safety
/// Must only be called in a forked child.
unsafe fn give_up(failure: RawFd, stage: u8) -> ! {
    // SAFETY: makes only async-signal-safe calls on memory of this frame.
    unsafe {
        let errno = (*libc::__errno_location()).to_ne_bytes();
        let message = [stage, errno[0], errno[1], errno[2], errno[3]];
        libc::write(failure, message.as_ptr().cast(), message.len());
        libc::_exit(127)
    }
}
