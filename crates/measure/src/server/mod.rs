//! A server: started, watched until it listens, and ended with everything that it made.

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
pub use watch::{Listening, SeenBy, ServerEvent};
use watch::{Pipes, Watch, next_report, poll};

use crate::emptying::{Empty, Emptying};
use crate::holders::Holder;
use crate::{CommandLine, MeasureError, interrupt};

/// The keeper ends what is left within five seconds.
const KEEPER_ENDS_NS: u64 = 8_000_000_000;

/// What a server did that has killed its keeper.
pub const KILLED_PARENT: &str = "killed its parent process, as `kill -9 $PPID` does, or somebody else did while it ran: \
     that is the part of Fathom that holds its processes together. All of them were ended; a server that is measured has \
     to leave its parent alone";

/// How a server was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Nanoseconds from SIGTERM until nothing was left.
    pub took_ns: u64,
    /// Processes that did not end by themselves and were killed.
    pub killed: u32,
    /// Processes that may not be killed and are still there.
    pub left: u32,
}

/// A server that was started. Dropping it ends it with everything that it made.
pub struct Server {
    name: String,
    keeper: Holder,
    control: Option<OwnedFd>,
    running: Running,
}

/// What is watched.
enum Running {
    /// By who calls [`Server::wait`].
    Watched(Box<Watch>),
    /// By a thread of its own.
    Kept(Emptying<Watch>),
    /// No more.
    Over,
}

impl Server {
    /// Starts it; it has executed its program when this returns.
    ///
    /// # Errors
    /// When it can't be started.
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

    /// The number of the process that was started.
    pub fn pid(&self) -> u32 {
        self.with(|watch| watch.pid).unsigned_abs()
    }

    /// When it called `execve`: the launch.
    pub fn launched(&self) -> u64 {
        self.with(|watch| watch.launched)
    }

    /// When its program had taken the place of Fathom's.
    pub fn executed(&self) -> u64 {
        self.with(|watch| watch.executed)
    }

    /// Whether the kernel reports when it listens; else it is looked for.
    pub fn listening_is_reported(&self) -> bool {
        self.with(|watch| watch.pipes.calls.is_some())
    }

    /// The end of what it wrote to standard error.
    pub fn stderr_tail(&mut self) -> Vec<u8> {
        self.with_mut(|watch| {
            watch.empty();
            watch.tail.bytes()
        })
    }

    /// How the process that was started ended, if it has.
    pub fn ended(&self) -> Option<Exit> {
        self.with(|watch| watch.ended)
    }

    /// Whether the keeper, its parent, was killed: nobody holds its tree together any more.
    pub fn has_killed_its_parent(&self) -> bool {
        self.with(Watch::is_unkept)
    }

    /// What its whole tree has used so far.
    pub fn usage(&self) -> TreeUsage {
        tree::usage(self.keeper.id().unsigned_abs())
    }

    /// The processes of its tree.
    pub fn processes(&self) -> Vec<u32> {
        tree::descendants(self.keeper.id().unsigned_abs())
    }

    /// The sockets that its tree has open.
    pub fn sockets(&self) -> std::collections::HashSet<u64> {
        let pids = self.processes().into_iter();
        pids.flat_map(sockets::sockets_of).collect()
    }

    /// Descriptors that are readable when [`Server::wait`] has something to do. Whoever waits for
    /// something else meanwhile must look at them: a server that wants to listen waits for that.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let mut all = self.with(Watch::descriptors);
        all.push(interrupt::descriptor());
        all
    }

    /// The next that happens, until the moment `until`; `None` if nothing does. Only before
    /// [`Server::keep`].
    pub fn wait(&mut self, until: u64) -> Option<ServerEvent> {
        match &mut self.running {
            Running::Watched(watch) => watch.wait(until),
            _ => None,
        }
    }

    /// From now on a thread looks after it: lets it listen again, takes what it writes.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn keep(&mut self) -> io::Result<()> {
        let Running::Watched(watch) = std::mem::replace(&mut self.running, Running::Over) else {
            return Ok(());
        };
        let watched = watch.descriptors();
        self.running = Running::Kept(Emptying::start("server", watched, *watch)?);
        Ok(())
    }

    /// Asks it to end (SIGTERM), gives it `patience` nanoseconds, and kills what is left.
    ///
    /// # Errors
    /// [`MeasureError::ServerFailed`] if it has killed its keeper, [`MeasureError::Spawn`] when nobody says
    /// that it is gone.
    pub fn stop(mut self, patience: u64) -> Result<Stopped, MeasureError> {
        let begun = now();
        let order = Order { patience };
        if let Some(control) = &self.control {
            // SAFETY: as many bytes as there are. A keeper that is gone has said so.
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
        // The end of this pipe means 'end it all'. While the tree is being ended it may still want
        // to listen, so the watch goes last.
        self.control = None;
        // It ends within a bounded time.
        self.keeper.wait();
    }
}

#[cfg(test)]
mod tests;
