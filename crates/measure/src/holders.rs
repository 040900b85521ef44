//! Handles processes whose holder was killed by a command.
//!
//! The launcher is the parent of a command, and a keeper is the parent of a server: each tracks all
//! descendants of what it starts, and kills them. A command may kill its parent (`kill -9 $PPID`). The kernel
//! then reparents all of its processes to Fathom, which kills them.

use std::io;
use std::sync::{Mutex, PoisonError};

use fathom_trace::Adopted;

/// The holders that Fathom created, which are also its children.
static OWN: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// A launcher or a keeper: a child process that is waited for only here.
#[derive(Debug)]
pub(crate) struct Holder {
    pid: libc::pid_t,
    adopted: Adopted,
    was_killed: Option<bool>,
}

impl Holder {
    /// Creates a holder from the child that `start` creates.
    ///
    /// # Errors
    /// Errors of `start`.
    pub(crate) fn start(start: impl FnOnce() -> io::Result<libc::pid_t>) -> io::Result<Holder> {
        let adopted = Adopted::begin();
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        let pid = start()?;
        own.push(pid);
        Ok(Holder {
            pid,
            adopted,
            was_killed: None,
        })
    }

    /// Returns the holder's pid.
    pub(crate) fn id(&self) -> libc::pid_t {
        self.pid
    }

    /// Interrupts a launcher that waits for another process to open a FIFO.
    pub(crate) fn wake(&self) {
        if self.was_killed.is_none() {
            // SAFETY: takes only numbers. The pid is that of a child of ours that hasn't been waited for.
            unsafe { libc::kill(self.pid, libc::SIGUSR1) };
        }
    }

    /// Waits until the holder has ended. If a signal killed it, kills the processes that it held and returns
    /// true.
    pub(crate) fn wait(&mut self) -> bool {
        if let Some(was_killed) = self.was_killed {
            return was_killed;
        }
        let mut status = 0;
        // SAFETY: a child of ours that nothing else waits for; the call fills in the status.
        while unsafe { libc::waitpid(self.pid, &raw mut status, 0) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
        // Its processes were reparented to this process before the holder could be waited for.
        let was_killed = libc::WIFSIGNALED(status);
        self.was_killed = Some(was_killed);
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|pid| *pid != self.pid);
        if was_killed {
            self.adopted.end(|pid| own.contains(&(pid as i32)));
        }
        was_killed
    }
}
