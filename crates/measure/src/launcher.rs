//! Fathom's side of the launcher: starts it, passes it jobs through shared memory, and ends it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod descriptors;
mod memory;
mod pipeline;
mod spawn;
mod strings;
mod terminal;
mod wait;
mod watchdog;

use crate::call_filter::CallFilter;
use crate::holders::Holder;
pub(crate) use descriptors::anonymous_file;
use descriptors::{duplicate, pipe, program_file};
use memory::Memory;
pub(crate) use pipeline::{PipelineAnswer, StageOrder};
use spawn::spawn;
pub(crate) use strings::Block;
use strings::{Common, Strings};
pub(crate) use wait::Ended;
use watchdog::Watchdog;

pub(crate) use fathom_launcher::shared::{Answer, MOST_STAGES, SLOTS, fd, step};
use fathom_launcher::shared::{SIZE, STRINGS, command};

/// A job for the launcher. All paths are absolute, except for `program`, which is relative to `directory`.
#[derive(Debug, Clone)]
pub(crate) struct Order<'a> {
    /// Orders with the same number have the same program, arguments and environment, which are then passed
    /// only once.
    pub benchmark: usize,
    pub program: &'a Path,
    pub arguments: &'a Block,
    /// Strings of the form `NAME=value`.
    pub environment: &'a Block,
    /// Additional variables, for this run only.
    pub own_environment: &'a Block,
    pub directory: &'a Path,
    pub input: Option<&'a Path>,
    pub output: Option<&'a Path>,
    /// One of [`fd`], used if `output` is absent.
    pub output_fd: i32,
    pub error_fd: i32,
    pub cpu_mask: &'a [u8],
    /// A system call filter.
    pub filter: Option<&'a CallFilter>,
    /// See [`fathom_launcher::shared::Job::mounts`]; empty if there are none.
    pub mounts: &'a [u8],
    /// See [`fathom_launcher::shared::Job::groups`]; empty if there are none.
    pub groups: &'a [u8],
    /// The beginning of the run in the JSON record; if empty, the run isn't recorded.
    pub record_head: &'a str,
    /// Whether the next order belongs to another round, so that the launcher may pause in between.
    pub ends_round: bool,
}

/// Settings for all orders passed together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// The time limit of a run.
    pub timeout: Option<Duration>,
    /// No further round begins after this time.
    pub budget: Duration,
    /// No further run begins after this time.
    pub longest: Duration,
    /// The number of processes that earlier runs have left behind.
    pub left_before: u32,
    /// The time at which the session began, from [`now_ns`]; times in the record are relative to it.
    pub began_ns: u64,
    /// Whether a stop was requested before these orders. That stop doesn't end them, but another signal does.
    pub follows_a_stop: bool,
}

/// The running launcher.
pub(crate) struct Launcher {
    process: Holder,
    commands: OwnedFd,
    done: OwnedFd,
    memory: Memory,
    watchdog: Watchdog,
    early_io: bool,
    /// Whether there is a terminal that could stop a command.
    has_terminal: bool,
    /// Whether answers include the CPU on which the process last ran.
    wants_cpu: bool,
    /// The launcher's current directory.
    directory: PathBuf,
    // Kept open, because the launcher runs it by its descriptor.
    _floor: OwnedFd,
}

/// The read ends of the pipes that commands write to.
pub(crate) struct Pipes {
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

impl Launcher {
    /// Starts the launcher. Must be called on a thread that outlives it: the kernel ends the launcher when
    /// this thread ends.
    ///
    /// `record` is the JSON record's file, at the position of the next run; `handover` is the socket through
    /// which processes send the listeners of filters.
    pub(crate) fn start(
        record: Option<&File>,
        handover: Option<RawFd>,
    ) -> io::Result<(Launcher, Pipes)> {
        let record = record.map(|file| (file.as_raw_fd(), fd::RECORD));
        let handover = handover.map(|socket| (socket, fd::HANDOVER));
        let extra: Vec<_> = record.into_iter().chain(handover).collect();
        Launcher::start_with(&extra)
    }

    /// Starts the launcher with additional descriptors of the caller, each with its number in the launcher,
    /// from [`fd::EXTRA`] up to below [`fd::EXTRA_END`].
    pub(crate) fn start_with(extra: &[(RawFd, i32)]) -> io::Result<(Launcher, Pipes)> {
        let program = program_file(c"fathom-launcher", fathom_launcher::LAUNCHER)?;
        let floor = program_file(c"fathom-floor", fathom_launcher::FLOOR)?;
        let memory_file = anonymous_file(c"fathom-job", 0)?;
        File::from(memory_file.try_clone()?).set_len(SIZE as u64)?;
        let memory = Memory::map(memory_file.as_raw_fd())?;
        // SAFETY: mapped above, writable, zeroed by the kernel.
        unsafe {
            (*memory.as_ptr()).control.parent = libc::getpid();
            let highest = extra.iter().map(|(_, place)| *place).max();
            (*memory.as_ptr()).control.highest_fd = highest.unwrap_or(0);
        }

        let (commands_read, commands) = pipe()?;
        let (done, done_write) = pipe()?;
        let (stdout, stdout_write) = pipe()?;
        let (stderr, stderr_write) = pipe()?;
        let inherited_output = duplicate(1)?;
        let inherited_error = duplicate(2)?;
        let mut places: Vec<(RawFd, RawFd)> = vec![
            (commands_read.as_raw_fd(), fd::COMMANDS),
            (done_write.as_raw_fd(), fd::DONE),
            (memory_file.as_raw_fd(), fd::MEMORY),
            (inherited_output.as_raw_fd(), fd::OUTPUT),
            (inherited_error.as_raw_fd(), fd::ERROR),
            (stdout_write.as_raw_fd(), fd::OUTPUT_PIPE),
            (stderr_write.as_raw_fd(), fd::ERROR_PIPE),
            (floor.as_raw_fd(), fd::FLOOR),
        ];
        let mut copies = Vec::with_capacity(extra.len());
        for (source, place) in extra {
            let copy = duplicate(*source)?;
            places.push((copy.as_raw_fd(), *place));
            copies.push(copy);
        }
        let launcher = || spawn(program.as_raw_fd(), c"fathom-launcher", &places);
        let mut process = Holder::start(launcher)?;
        let watchdog = match Watchdog::start(process.id(), memory) {
            Ok(watchdog) => watchdog,
            Err(error) => {
                // The launcher ends when no process can send it a command anymore.
                drop(commands);
                process.wait();
                return Err(error);
            }
        };
        let launcher = Launcher {
            process,
            commands,
            done,
            memory,
            watchdog,
            early_io: !may_read_accounts_of_the_dead(),
            has_terminal: terminal::is_there(),
            wants_cpu: false,
            directory: PathBuf::new(),
            _floor: floor,
        };
        Ok((launcher, Pipes { stdout, stderr }))
    }

    /// Returns the launcher's pid.
    pub(crate) fn id(&self) -> i32 {
        self.process.id()
    }

    /// From now on, answers include the CPU on which the process last ran, which requires reading another
    /// account of the process.
    pub(crate) fn report_cpus(&mut self) {
        self.wants_cpu = true;
    }

    /// Executes the orders one after the other, as many as there is space for, and waits. Returns the answers
    /// of those that were begun, at least one. The launcher ends early when the budget is used up, or after a
    /// run that failed or left processes behind. Fails only if the launcher itself is gone, or not even the
    /// first order fits.
    pub(crate) fn run(
        &mut self,
        orders: &[Order],
        terms: Terms,
    ) -> io::Result<Vec<(Answer, Ended)>> {
        let written = self.write(orders, terms)?;
        self.send(command::RUN)?;
        let killed = self.wait(terms.timeout, terms.follows_a_stop)?;
        // SAFETY: the launcher has reported that it is done, and waits for the next command.
        let (made, answers) = unsafe {
            let shared = self.memory.as_ptr();
            (
                (*shared).control.answers as usize,
                &raw const (*shared).answers,
            )
        };
        // A run that ended the launcher is among those that were begun.
        let begun = killed.map_or(1, |(job, _)| job + 1);
        let made = made.max(begun).clamp(1, written);
        let ended = |at: usize| match killed {
            Some((job, ended)) if job == at => ended,
            _ => Ended::ByItself,
        };
        // SAFETY: as above; at most as many as there are.
        let answers: Vec<(Answer, Ended)> = (0..made)
            .map(|at| unsafe { ((*answers)[at], ended(at)) })
            .collect();
        let failed = |answer: &Answer| {
            matches!(
                answer.failed_step,
                step::INPUT | step::OUTPUT | step::DIRECTORY
            )
        };
        self.directory = match answers.last() {
            Some((last, _)) if !failed(last) => orders[made - 1].directory.to_path_buf(),
            // Unknown until the launcher has changed to a directory.
            _ => PathBuf::new(),
        };
        Ok(answers)
    }

    /// Kills every process that runs have left behind; returns how many could not be killed.
    pub(crate) fn sweep(&mut self) -> io::Result<u32> {
        self.send(command::SWEEP)?;
        if let Some((_, Ended::KilledParent)) = self.wait(None, false)? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        // SAFETY: as in `run`.
        Ok(unsafe { (*self.memory.as_ptr()).control.immortal })
    }

    fn send(&self, byte: u8) -> io::Result<()> {
        self.watchdog.begin();
        // SAFETY: writes one byte.
        let sent = unsafe { libc::write(self.commands.as_raw_fd(), (&raw const byte).cast(), 1) };
        if sent == 1 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Writes as many orders as there is space for; returns how many.
    fn write(&mut self, orders: &[Order], terms: Terms) -> io::Result<usize> {
        let mut strings = Strings {
            memory: self.memory,
            at: STRINGS,
            own: None,
        };
        let mut directory = std::mem::take(&mut self.directory);
        let mut known: Vec<(usize, Common)> = Vec::new();
        let mut jobs = 0;
        for order in orders.iter().take(SLOTS) {
            let job = match strings.job(order, &directory, &mut known) {
                Err(_) if jobs > 0 => break,
                job => job?,
            };
            directory = order.directory.to_path_buf();
            // SAFETY: the launcher waits for a command and doesn't access it.
            unsafe {
                let shared = self.memory.as_ptr();
                (*shared).jobs[jobs] = job;
                (*shared).answers[jobs].child = 0;
                (*shared).answers[jobs].start_ns = 0;
            }
            jobs += 1;
        }
        // SAFETY: as above.
        let control = unsafe { &mut (*self.memory.as_ptr()).control };
        control.jobs = jobs as u32;
        control.answers = 0;
        control.budget_ns = terms.budget.as_nanos() as u64;
        control.longest_ns = terms.longest.as_nanos() as u64;
        control.began_ns = terms.began_ns;
        control.kill_tree = 0;
        control.early_io = u32::from(self.early_io);
        control.left_before = terms.left_before;
        control.wants_cpu = u32::from(self.wants_cpu);
        Ok(jobs)
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // On an unknown command, it kills what is left and then ends.
        let _ = self.send(b'q');
        self.process.wait();
        self.watchdog.join();
        // SAFETY: the launcher and the thread that watched it have ended.
        unsafe { self.memory.unmap() };
    }
}

/// Returns nanoseconds of `CLOCK_MONOTONIC`, which the launcher reads too.
pub(crate) fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills in the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Reports whether `/proc/PID/io` of a dead process can be opened. Only root can do so, because a dead
/// process no longer has the memory that would make it ours.
fn may_read_accounts_of_the_dead() -> bool {
    // SAFETY: takes no arguments and returns a number.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(test)]
mod tests;
