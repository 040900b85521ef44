//! Waits for the launcher, and ends a run that takes too long, is interrupted or held by the terminal.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use super::{Launcher, SLOTS, now_ns, terminal};

/// Between two checks whether the terminal has stopped a command.
const TERMINAL_CHECK: Duration = Duration::from_secs(1);

/// How a wait for the launcher ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    ByItself,
    TimedOut,
    Interrupted,
    /// It wanted something of the terminal, which stops who is not in its foreground; for good, if
    /// nobody ends it.
    StoppedByTerminal,
}

impl Launcher {
    /// Waits for the byte that says 'done'. Returns which job had to be ended, and why.
    pub(super) fn wait(&self, timeout: Option<Duration>) -> io::Result<Option<(usize, Ended)>> {
        let sent_ns = now_ns();
        let mut killed: Option<(usize, Ended)> = None;
        let mut was_stopped = false;
        loop {
            let (current, started_ns) = self.current();
            let left = timeout.map(|timeout| {
                let began_ns = if started_ns == 0 { sent_ns } else { started_ns };
                (Duration::from_nanos(began_ns) + timeout)
                    .saturating_sub(Duration::from_nanos(now_ns()))
            });
            let checks = self.has_terminal && left.is_none_or(|left| left > TERMINAL_CHECK);
            let patience = match (killed, left) {
                // The kill may have come before the process was there: try again soon.
                (Some(_), _) => 20,
                (None, _) if checks => TERMINAL_CHECK.as_millis() as i32,
                (None, Some(left)) => {
                    i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
                }
                (None, None) => -1,
            };
            let watch = |fd| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            };
            let mut polled = [
                watch(self.done.as_raw_fd()),
                watch(crate::interrupt::descriptor()),
            ];
            let watched = if killed.is_none() { 2 } else { 1 };
            // SAFETY: at most as many entries as there are.
            let ready = unsafe { libc::poll(polled.as_mut_ptr(), watched, patience) };
            if polled[0].revents != 0 {
                return self.read_done().map(|()| killed);
            }
            if ready < 0 {
                continue;
            }
            if killed.is_none() {
                let (now_current, _) = self.current();
                let interrupted = ready > 0;
                if !interrupted && now_current != current {
                    // Another run is on, with a time of its own.
                    continue;
                }
                if !interrupted && checks {
                    let is_stopped = self.is_stopped(current);
                    // Who was just being stopped and continued isn't taken for one that is left
                    // alone.
                    if !(is_stopped && was_stopped) {
                        was_stopped = is_stopped;
                        continue;
                    }
                }
                killed = Some(match interrupted {
                    true => (now_current, Ended::Interrupted),
                    false if checks => (current, Ended::StoppedByTerminal),
                    false => (current, Ended::TimedOut),
                });
            }
            if let Some((job, _)) = killed {
                self.kill_tree(job);
            }
        }
    }

    /// Whether the terminal has stopped a process of this job, or a stage.
    fn is_stopped(&self, job: usize) -> bool {
        self.processes(job).any(terminal::has_stopped)
    }

    /// The processes that a job runs: its own, and a pipeline's stages.
    fn processes(&self, job: usize) -> impl Iterator<Item = i32> + '_ {
        // SAFETY: an aligned word in shared memory that the launcher writes meanwhile, hence
        // volatile.
        let child = unsafe {
            let shared = self.memory.as_ptr();
            (&raw const (*shared).answers[job].child).read_volatile()
        };
        let all = std::iter::once(child).chain(self.stages());
        all.filter(|child| *child > 0)
    }

    /// The job that is on, and when its run began; 0 if it has not.
    fn current(&self) -> (usize, u64) {
        // SAFETY: aligned words in shared memory that the launcher writes meanwhile, hence
        // volatile.
        unsafe {
            let shared = self.memory.as_ptr();
            let current = (&raw const (*shared).control.answers).read_volatile() as usize;
            let current = current.min(SLOTS - 1);
            let started = (&raw const (*shared).answers[current].start_ns).read_volatile();
            (current, started)
        }
    }

    fn read_done(&self) -> io::Result<()> {
        let mut byte = 0u8;
        // SAFETY: one byte.
        match unsafe { libc::read(self.done.as_raw_fd(), (&raw mut byte).cast(), 1) } {
            1 => Ok(()),
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn kill_tree(&self, job: usize) {
        // SAFETY: a word in shared memory, aligned; the launcher reads it the same way.
        unsafe {
            let shared = self.memory.as_ptr();
            (&raw mut (*shared).control.kill_tree).write_volatile(job as u32 + 1);
        }
        for child in self.processes(job) {
            // SAFETY: plain numbers. A child is reaped right before the launcher goes on, a stage
            // only after all have ended: they are still theirs.
            unsafe {
                libc::kill(-child, libc::SIGKILL);
                libc::kill(child, libc::SIGKILL);
            }
        }
    }
}
