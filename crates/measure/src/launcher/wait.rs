//! Waits for the launcher, and ends a run that exceeds its time, is interrupted, or is stopped by the
//! terminal.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use super::{Launcher, now_ns, terminal};
use crate::MeasureError;

/// The interval at which to check whether the terminal has stopped a command.
const TERMINAL_CHECK: Duration = Duration::from_secs(1);

/// How a wait for the launcher ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    ByItself,
    TimedOut,
    Interrupted,
    /// The command needed the terminal, which stops processes that are not in its foreground. Unless killed,
    /// the command would stay stopped forever.
    StoppedByTerminal,
    /// The command stopped the launcher, its parent, which was continued immediately: see
    /// [`super::watchdog`].
    StoppedParent,
    /// The command killed the launcher, its parent, or another process did so while the command ran. The
    /// processes that the launcher had created were killed.
    KilledParent,
}

impl Ended {
    /// Returns the error for a run that the terminal stopped, or whose launcher was stopped or killed.
    /// `command` returns the text of the command.
    pub(crate) fn stopped(self, command: impl FnOnce() -> String) -> Option<MeasureError> {
        match self {
            Ended::StoppedByTerminal => {
                let command = command();
                Some(MeasureError::StoppedByTerminal { command })
            }
            Ended::StoppedParent => {
                let command = command();
                Some(MeasureError::StoppedParent { command })
            }
            Ended::KilledParent => {
                let command = command();
                Some(MeasureError::KilledParent { command })
            }
            Ended::ByItself | Ended::TimedOut | Ended::Interrupted => None,
        }
    }
}

impl Launcher {
    /// Waits for the byte that means 'done'. Returns the job that had to be ended, if any, and the reason.
    /// `follows_a_stop`: as in [`super::Terms`].
    pub(super) fn wait(
        &mut self,
        timeout: Option<Duration>,
        follows_a_stop: bool,
    ) -> io::Result<Option<(usize, Ended)>> {
        let sent_ns = now_ns();
        let stopped =
            |launcher: &Self| Some((launcher.watchdog.stopped_in()?, Ended::StoppedParent));
        let mut killed: Option<(usize, Ended)> = None;
        let mut was_stopped = false;
        loop {
            let (current, started_ns) = self.memory.current();
            let left = timeout.map(|timeout| {
                let began_ns = if started_ns == 0 { sent_ns } else { started_ns };
                (Duration::from_nanos(began_ns) + timeout)
                    .saturating_sub(Duration::from_nanos(now_ns()))
            });
            let checks = self.has_terminal && left.is_none_or(|left| left > TERMINAL_CHECK);
            let patience = match (killed, left) {
                // The kill may have come before the process existed, so try again soon.
                (Some(_), _) => 20,
                (None, _) if checks => TERMINAL_CHECK.as_millis() as i32,
                (None, Some(left)) => {
                    i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
                }
                (None, None) => -1,
            };
            let (ready, is_done) = self.poll(killed.is_some(), follows_a_stop, patience);
            if is_done {
                return match self.read_done() {
                    Ok(()) => Ok(killed.or_else(|| stopped(self))),
                    Err(gone) => {
                        let job = self.memory.current().0;
                        self.memory.kill_tree(job);
                        match self.process.wait() {
                            true => Ok(Some((job, Ended::KilledParent))),
                            false => Err(gone),
                        }
                    }
                };
            }
            if ready < 0 && !follows_a_stop {
                continue;
            }
            if killed.is_none() {
                killed = stopped(self);
            }
            if killed.is_none() {
                let (now_current, _) = self.memory.current();
                let interrupted = ready != 0;
                if !interrupted && now_current != current {
                    // Another run has started, with its own time limit.
                    continue;
                }
                if !interrupted && checks {
                    let is_stopped = self.is_stopped(current);
                    // A process that was only stopped and continued isn't treated as stopped for good.
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
                self.memory.kill_tree(job);
                if self.memory.current().1 == 0 {
                    self.process.wake();
                }
            }
        }
    }

    /// Waits up to `patience` milliseconds for any event that ends the wait or, after a kill, only for the
    /// end of the runs. Returns the result of poll(2), and whether the runs are done.
    fn poll(&self, killed: bool, follows_a_stop: bool, patience: i32) -> (i32, bool) {
        let watch = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut polled = [
            watch(self.done.as_raw_fd()),
            watch(match follows_a_stop {
                true => -1,
                false => crate::interrupt::descriptor(),
            }),
            watch(self.watchdog.descriptor()),
        ];
        let watched = if killed { 1 } else { 3 };
        // SAFETY: passes at most as many entries as there are.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), watched, patience) };
        (ready, polled[0].revents != 0)
    }

    /// Reports whether the terminal has stopped a process of this job, or a stage.
    fn is_stopped(&self, job: usize) -> bool {
        self.memory.processes(job).any(terminal::has_stopped)
    }

    fn read_done(&self) -> io::Result<()> {
        let mut byte = 0u8;
        // SAFETY: reads one byte.
        match unsafe { libc::read(self.done.as_raw_fd(), (&raw mut byte).cast(), 1) } {
            1 => Ok(()),
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
