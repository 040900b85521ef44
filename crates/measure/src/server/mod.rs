//! A server: started, watched until it listens, and ended with everything it created.

mod filter;
mod keeper;
mod launch;
mod place;
mod sockets;
mod tree;
mod watch;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use fathom_model::Exit;
use keeper::{Order, now};
pub use launch::StartOptions;
use launch::{nonblocking, not_started, open_input, open_output, pair, pipe, plan};
pub use place::Place;
pub use sockets::{ListeningSocket, free_port, listening, owner};
pub use tree::TreeUsage;
pub use tree::descendants;
pub use watch::{Listening, SeenBy, ServerEvent};
use watch::{Pipes, Watch, next_report, poll};

use crate::emptying::{Empty, Emptying};
use crate::holders::Holder;
use crate::{CommandLine, MeasureError, interrupt};

/// How long to wait for the keeper's report. The keeper kills what is left within five seconds.
const KEEPER_ENDS_NS: u64 = 8_000_000_000;

/// Describes a server that has killed its keeper.
pub const KILLED_PARENT: &str = "killed its parent process (as `kill -9 $PPID` does), or another process did so while it ran. That parent is \
     the part of Fathom that keeps track of the server's processes, so all of them were ended; a measured server \
     must leave its parent alone";

/// The result of stopping a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Nanoseconds from SIGTERM until no process was left.
    pub took_ns: u64,
    /// The number of processes that did not end by themselves and were killed.
    pub killed: u32,
    /// The number of processes that could not be killed and still exist.
    pub left: u32,
}

/// A started server. Dropping it ends it, with everything it created.
pub struct Server {
    name: String,
    keeper: Holder,
    control: Option<OwnedFd>,
    running: Running,
}

/// Who watches the server.
enum Running {
    /// The caller of [`Server::wait`].
    Watched(Box<Watch>),
    /// A separate thread.
    Kept(Emptying<Watch>),
    /// No one, anymore.
    Over,
}

impl Server {
    /// Starts the server. When this returns, the server has executed its program.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(command: &CommandLine, options: &StartOptions) -> Result<Server, MeasureError> {
        let name = || command.program.display().to_string();
        let spawn = |error: io::Error| MeasureError::Spawn {
            name: name(),
            error,
        };
        let (control_read, control) = pipe().map_err(spawn)?;
        let (reports, reports_write) = pipe().map_err(spawn)?;
        let (handover, handover_write) = pair().map_err(spawn)?;
        let (errors, errors_write) = pipe().map_err(spawn)?;
        let input = open_input(&command.input)?;
        let (output, output_write) = open_output(command, options)?;
        let shown = options.show_output;
        let plan = plan(
            command,
            options,
            [
                control_read.as_raw_fd(),
                reports_write.as_raw_fd(),
                handover_write.as_raw_fd(),
                input.as_raw_fd(),
                output_write.as_ref().map_or(1, AsRawFd::as_raw_fd),
                if shown { 2 } else { errors_write.as_raw_fd() },
            ],
        );
        let plan = plan.map_err(spawn)?;
        let keeper = Holder::start(|| keeper::start(&plan)).map_err(spawn)?;
        let number = keeper.id();
        drop((control_read, reports_write, handover_write, errors_write));
        drop((input, output_write));
        let mut server = Server {
            name: name(),
            keeper,
            control: Some(control),
            running: Running::Over,
        };
        let started = next_report(&reports).unwrap_or_default();
        match started.kind {
            keeper::STARTED => {}
            keeper::NOT_STARTED => {
                let error = io::Error::from_raw_os_error(started.value);
                return Err(not_started(command, options, started.at as usize, error));
            }
            _ => return Err(spawn(io::ErrorKind::BrokenPipe.into())),
        }
        nonblocking(&reports).map_err(spawn)?;
        for pipe in output.iter().chain([&errors]) {
            nonblocking(pipe).map_err(spawn)?;
        }
        let calls = crate::questions::listener_from(&handover);
        let pipes = Pipes {
            reports,
            calls,
            output,
            errors: (!shown).then_some(errors),
        };
        let watch = Watch::new(number, started, pipes, options.wanted_line.as_deref());
        server.running = Running::Watched(Box::new(watch));
        Ok(server)
    }

    /// Returns the pid of the started process.
    pub fn pid(&self) -> u32 {
        self.with(|watch| watch.pid).unsigned_abs()
    }

    /// Returns the time at which the server's process called `execve`: the time of the launch.
    pub fn launched(&self) -> u64 {
        self.with(|watch| watch.launched)
    }

    /// Returns the time at which the server's program had replaced Fathom's.
    pub fn executed(&self) -> u64 {
        self.with(|watch| watch.executed)
    }

    /// Reports whether the kernel notifies Fathom when the server listens; otherwise Fathom polls.
    pub fn listening_is_reported(&self) -> bool {
        self.with(|watch| watch.pipes.calls.is_some())
    }

    /// Returns the end of the server's standard error.
    pub fn stderr_tail(&mut self) -> Vec<u8> {
        self.with_mut(|watch| {
            watch.empty();
            watch.tail.bytes()
        })
    }

    /// Returns how the started process ended, if it has.
    pub fn ended(&self) -> Option<Exit> {
        self.with(|watch| watch.ended)
    }

    /// Reports whether the keeper, the server's parent, was killed: then nothing tracks the server's tree
    /// anymore.
    pub fn has_killed_its_parent(&self) -> bool {
        self.with(Watch::is_unkept)
    }

    /// Returns what the server's whole tree has used so far.
    pub fn usage(&self) -> TreeUsage {
        tree::usage(self.keeper.id().unsigned_abs())
    }

    /// Returns the processes of the server's tree.
    pub fn processes(&self) -> Vec<u32> {
        descendants(self.keeper.id().unsigned_abs())
    }

    /// Returns the sockets that the server's tree has open.
    pub fn sockets(&self) -> std::collections::HashSet<u64> {
        let pids = self.processes().into_iter();
        pids.flat_map(sockets::sockets_of).collect()
    }

    /// Returns descriptors that are readable when [`Server::wait`] has something to do. Callers that wait for
    /// something else in the meantime must poll them: a server that calls `listen` is held until then.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let mut all = self.with(Watch::descriptors);
        all.push(interrupt::descriptor());
        all
    }

    /// Returns the next event before the time `until`; `None` if there is none. Must not be called after
    /// [`Server::keep`].
    pub fn wait(&mut self, until: u64) -> Option<ServerEvent> {
        match &mut self.running {
            Running::Watched(watch) => watch.wait(until),
            _ => None,
        }
    }

    /// From now on, a thread watches the server: it lets calls of `listen` continue and reads the output.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn keep(&mut self) -> io::Result<()> {
        let Running::Watched(watch) = std::mem::replace(&mut self.running, Running::Over) else {
            return Ok(());
        };
        let watched = watch.descriptors();
        self.running = Running::Kept(Emptying::start("server", watched, *watch)?);
        Ok(())
    }

    /// Sends SIGTERM, waits up to `patience` nanoseconds, and kills what is left.
    ///
    /// # Errors
    /// [`MeasureError::ServerFailed`] if the server has killed its keeper, [`MeasureError::Spawn`] if the end
    /// of its tree isn't reported.
    pub fn stop(mut self, patience: u64) -> Result<Stopped, MeasureError> {
        let begun = now();
        let order = Order { patience };
        if let Some(control) = &self.control {
            // SAFETY: writes exactly the size of `order`. If the keeper is gone, its end has already been
            // reported.
            unsafe {
                let bytes = (&raw const order).cast();
                libc::write(control.as_raw_fd(), bytes, size_of::<Order>())
            };
        }
        let until = begun
            .saturating_add(patience)
            .saturating_add(KEEPER_ENDS_NS);
        let gone = loop {
            let gone = self.with_mut(|watch| {
                watch.empty();
                watch.gone
            });
            if gone.is_some() || self.has_killed_its_parent() || now() >= until {
                break gone;
            }
            let (reports, others) =
                self.with(|watch| (watch.pipes.reports.as_raw_fd(), watch.descriptors()));
            match self.running {
                Running::Watched(_) => poll(&others, until.min(now() + 50_000_000)),
                _ => poll(&[reports], until.min(now() + 1_000_000)),
            }
        };
        match gone {
            Some(report) => Ok(Stopped {
                took_ns: report.at.saturating_sub(begun),
                killed: report.value.unsigned_abs(),
                left: report.more as u32,
            }),
            None if self.has_killed_its_parent() => Err(MeasureError::ServerFailed {
                server: self.name.clone(),
                what: KILLED_PARENT.to_owned(),
                stderr: self.stderr_tail(),
            }),
            None => Err(MeasureError::Spawn {
                name: "what ends a server".to_string(),
                error: io::ErrorKind::TimedOut.into(),
            }),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&Watch) -> T) -> T {
        match &self.running {
            Running::Watched(watch) => act(watch),
            Running::Kept(kept) => act(&kept.lock()),
            Running::Over => unreachable!("a server that was started is watched"),
        }
    }

    fn with_mut<T>(&mut self, act: impl FnOnce(&mut Watch) -> T) -> T {
        match &mut self.running {
            Running::Watched(watch) => act(watch),
            Running::Kept(kept) => act(&mut kept.lock()),
            Running::Over => unreachable!("a server that was started is watched"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of this pipe means 'kill everything'. The tree may still call `listen` while it is being
        // ended, so the watch is dropped last.
        self.control = None;
        // The keeper ends within a bounded time.
        self.keeper.wait();
    }
}

#[cfg(test)]
mod tests;
