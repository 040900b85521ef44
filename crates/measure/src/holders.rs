//! What becomes of the processes whose holder a command has killed?
//!
//! To a command the launcher is its parent, and to a server its keeper: each holds together all that
//! comes of what it starts, and ends it. A command may kill it (`kill -9 $PPID`). Then the kernel
//! gives all of that to Fathom, which ends it.

use std::io;
use std::sync::{Mutex, PoisonError};

use fathom_trace::Adopted;

/// Holders that Fathom has made: they are its children too.
static OWN: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// A launcher or a keeper, a child of ours that is waited for here only.
#[derive(Debug)]
pub(crate) struct Holder {
    pid: libc::pid_t,
    adopted: Adopted,
    was_killed: Option<bool>,
}

impl Holder {
    /// The one that `start` makes.
    ///
    /// # Errors
    /// Those of `start`.
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

    /// Its number.
    pub(crate) fn id(&self) -> libc::pid_t {
        self.pid
    }

    /// Ends a launcher's wait for somebody who opens a FIFO.
    pub(crate) fn wake(&self) {
        if self.was_killed.is_none() {
            // SAFETY: takes numbers; a child of ours that has not been waited for.
            unsafe { libc::kill(self.pid, libc::SIGUSR1) };
        }
    }

    /// Waits until it has ended, and ends what it held if a signal has killed it: true then.
    pub(crate) fn wait(&mut self) -> bool {
        if let Some(was_killed) = self.was_killed {
            return was_killed;
        }
        let mut status = 0;
        // SAFETY: a child of ours that nobody else waits for; the call fills the number.
        while unsafe { libc::waitpid(self.pid, &raw mut status, 0) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
        // Whoever it held has come to us before it could be waited for.
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
