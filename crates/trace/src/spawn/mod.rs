//! Starts the command, holds it until tracing is armed, and never leaves it behind.
//!
//! A separate helper creates the child, which sets itself up and waits on a pipe right before its `execve`.
//! The child dies with the thread that created it (`PR_SET_PDEATHSIG`). Its descendants die with its process
//! group, which a guardian process kills if the tracer is killed first.

mod child;
mod prepare;
mod stamp;
mod vfork_helper;

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use child::{STAGES, child};
use prepare::{Pointers, prepare};
use stamp::Stamp;
use vfork_helper::VforkHelper;

use crate::command::TraceCommand;
use crate::error::{TraceError, system};
use crate::guardian::Guardian;

/// A child that waits to be released.
#[derive(Debug)]
pub(crate) struct Held {
    /// Its process id.
    pub pid: u32,
    /// Whether it is the leader of its own process group.
    pub own_group: bool,
    /// A descriptor that becomes readable once the child has exited.
    pub pidfd: OwnedFd,
    program: String,
    hold: std::fs::File,
    failure: std::fs::File,
    guardian: Option<Guardian>,
    stamp: Stamp,
    /// The helper; `None` once the program is executed.
    helper: Option<VforkHelper>,
    reaped: bool,
}

/// Creates a child that is held before its `execve`. If `follow` is given, the child runs that kernel program
/// on itself as its last step.
pub(crate) fn hold(
    command: &TraceCommand,
    follow: Option<BorrowedFd<'_>>,
) -> Result<Held, TraceError> {
    hold_without(command, follow, &[])
}

/// Does the same as [`hold`], but the child closes `unwanted` while it is held. Otherwise a pipe between two
/// commands would remain open while a third is held.
pub(crate) fn hold_without(
    command: &TraceCommand,
    follow: Option<BorrowedFd<'_>>,
    unwanted: &[RawFd],
) -> Result<Held, TraceError> {
    let mut prepared = prepare(command, follow)?;
    prepared.unwanted = unwanted.to_vec();
    let mut guardian = Guardian::start().map_err(system("starting the guardian"))?;
    let (hold_read, hold_write) = pipe().map_err(system("making a pipe"))?;
    let (failure_read, failure_write) = pipe().map_err(system("making a pipe"))?;
    let pointers = Pointers::of(&prepared);
    let stamp = Stamp::new().map_err(system("sharing a page with the child"))?;
    // SAFETY: the child calls only async-signal-safe functions on the data prepared above.
    let laid = unsafe {
        vfork_helper::spawn(|| {
            child(
                &prepared,
                &pointers,
                &hold_read,
                &failure_write,
                &hold_write,
                &stamp,
            )
        })
    };
    let (pid, helper) = laid.map_err(system("making a process"))?;
    let pidfd = pidfd(pid).map_err(|error| {
        // The child waits for this process, and holds the pipe open itself.
        kill_and_reap(pid);
        system("opening the child's descriptor")(error)
    })?;
    drop((hold_read, failure_write));
    if prepared.own_group {
        guardian.guard(pid);
    }
    let held = Held {
        pid,
        own_group: prepared.own_group,
        pidfd,
        program: prepared.program.to_string_lossy().into_owned(),
        hold: hold_write.into(),
        failure: failure_read.into(),
        guardian: Some(guardian),
        stamp,
        helper: Some(helper),
        reaped: false,
    };
    if let Some(maps) = &command.name_maps {
        maps.make(pid)
            .map_err(system("creating the map of names"))?;
    }
    Ok(held)
}

impl Held {
    /// Waits until the child has set up its descriptors and is held.
    pub(crate) fn wait_ready(&mut self) -> Result<(), TraceError> {
        let mut ready = [0u8; 8];
        self.failure
            .read_exact(&mut ready[..1])
            .map_err(system("waiting for the child"))?;
        match ready[0] {
            b'r' => Ok(()),
            stage => self.failed(stage),
        }
    }

    /// Lets the child continue to its `execve`. Doesn't wait.
    pub(crate) fn release(&mut self) -> Result<(), TraceError> {
        self.hold
            .write_all(b"g")
            .map_err(system("releasing the child"))
    }

    /// Waits until the `execve` has succeeded, or returns why it didn't.
    pub(crate) fn wait_exec(&mut self) -> Result<(), TraceError> {
        let mut stage = [0u8; 1];
        match self.failure.read(&mut stage) {
            Ok(0) => {
                self.helper = None;
                Ok(())
            }
            Ok(_) => self.failed(stage[0]),
            Err(error) => Err(system("waiting for the child")(error)),
        }
    }

    fn failed(&mut self, stage: u8) -> Result<(), TraceError> {
        let mut errno = [0u8; 4];
        let read = self.failure.read_exact(&mut errno);
        read.map_err(system("waiting for the child"))?;
        Err(TraceError::NotStarted {
            program: self.program.clone(),
            stage: STAGES[usize::from(stage).min(STAGES.len() - 1)],
            error: io::Error::from_raw_os_error(i32::from_ne_bytes(errno)),
        })
    }

    /// Returns when the child called `execve`, as the child itself read from the monotonic clock right
    /// before.
    pub(crate) fn exec_called(&self) -> Option<u64> {
        self.stamp.get()
    }

    /// Waits for the child's exit and reaps it.
    pub(crate) fn reap(&mut self) -> Result<(i32, libc::rusage), TraceError> {
        let mut status = 0;
        // SAFETY: an all-zero rusage is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: both pointers are to live values.
            let got = unsafe { libc::wait4(self.pid as i32, &raw mut status, 0, &raw mut usage) };
            if got == self.pid as i32 && (libc::WIFEXITED(status) || libc::WIFSIGNALED(status)) {
                self.reaped();
                return Ok((status, usage));
            }
            let error = io::Error::last_os_error();
            if got == -1 && error.kind() != io::ErrorKind::Interrupted {
                return Err(system("waiting for the command")(error));
            }
        }
    }

    /// Notes that other code has reaped the child, and kills the rest of its group.
    pub(crate) fn reaped(&mut self) {
        self.reaped = true;
        self.kill_group();
        self.guardian = None;
    }

    /// Kills the child and its process group.
    pub(crate) fn kill(&self) {
        self.kill_group();
        if !self.reaped {
            // SAFETY: the child is not reaped, so it still has this process id.
            unsafe { libc::kill(self.pid as i32, libc::SIGKILL) };
        }
    }

    fn kill_group(&self) {
        if self.own_group {
            // SAFETY: the group has the child's id, which stays in use while the group exists.
            unsafe { libc::kill(-(self.pid as i32), libc::SIGKILL) };
        }
    }
}

/// Kills the process behind a descriptor, but never another one with a reused id.
pub(crate) fn kill_by_pidfd(pidfd: &OwnedFd) {
    let (fd, none) = (pidfd.as_raw_fd(), 0usize);
    // SAFETY: the call takes integers, and a null pointer for the optional details.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGKILL, none, 0) };
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill_group();
            kill_and_reap(self.pid);
        }
    }
}

/// Kills a child that is not reaped, so still has this process id, and reaps it.
fn kill_and_reap(pid: u32) {
    // SAFETY: kills and waits for our own child.
    unsafe {
        libc::kill(pid as i32, libc::SIGKILL);
        libc::waitpid(pid as i32, std::ptr::null_mut(), libc::__WALL);
    }
}

pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for both descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just created and have no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

pub(crate) fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes only integers.
    match unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it was just created and has no other owner.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) }),
    }
}
