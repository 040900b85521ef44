//! A process that sends each byte back, for round trips between processes.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

/// Sends each byte back until its end of the pipe closes; the process ends when this value is dropped.
pub(crate) struct EchoProcess {
    pid: libc::pid_t,
    /// CPU clock of the process.
    pub clock: libc::clockid_t,
    /// Pipe from the process.
    pub reader: File,
    /// Pipe to the process; closed first, so that the process exits.
    pub writer: Option<File>,
}

impl EchoProcess {
    /// Starts the process on the caller's CPU.
    ///
    /// # Errors
    /// If pipes or a process can't be created.
    pub(crate) fn start() -> io::Result<EchoProcess> {
        let (their_reader, writer) = io::pipe()?;
        let (reader, their_writer) = io::pipe()?;
        let files = [their_reader.as_raw_fd(), their_writer.as_raw_fd()];
        // SAFETY: the child calls only functions that are safe between fork and exec.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => return Err(io::Error::last_os_error()),
            // SAFETY: this is the child, and the descriptors are open.
            0 => unsafe { echo(files) },
            _ => {}
        }
        let mut clock = 0;
        // SAFETY: `clock` is a valid place.
        let unknown = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
        let process = EchoProcess {
            pid,
            clock,
            reader: owned(reader),
            writer: Some(owned(writer)),
        };
        match unknown {
            0 => Ok(process),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

fn owned(end: impl std::os::fd::IntoRawFd) -> File {
    // SAFETY: the descriptor is open and now has no other owner.
    unsafe { File::from_raw_fd(end.into_raw_fd()) }
}

/// The child's loop. It only makes system calls, because another thread may have held any lock during the
/// fork.
///
/// # Safety
/// Must only be called in a child right after fork.
unsafe fn echo([from, to]: [i32; 2]) -> ! {
    // SAFETY: plain system calls on open descriptors and a byte of this stack.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // If this process kept the writing end of another pipe open, its readers would never see the end of
        // input: the partner threads of the other round trips hung for this reason.
        for other in (0..1024).filter(|other| *other != from && *other != to) {
            libc::close(other);
        }
        let mut byte = 0u8;
        let place = (&raw mut byte).cast();
        while libc::read(from, place, 1) == 1 && libc::write(to, place, 1) == 1 {}
        libc::_exit(0)
    }
}

impl Drop for EchoProcess {
    fn drop(&mut self) {
        self.writer = None;
        // SAFETY: the child is ours and not reaped yet; the kill is for a child that can't see the pipe's end
        // because another child, forked in the meantime, holds it open.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_process_answers_and_is_reaped() {
        let mut process = EchoProcess::start().unwrap();
        let mut byte = [0];
        process.writer.as_mut().unwrap().write_all(&[42]).unwrap();
        process.reader.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [42]);
        let pid = process.pid;
        drop(process);
        // SAFETY: only queries.
        assert_eq!(unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) }, -1);
    }
}
