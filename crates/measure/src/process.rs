//! Runs benchmarks as real processes.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use fathom_launcher::account;

use crate::cgroup::ThrottleMeter;
use crate::delay::{Asked, Delay, Stopper, ThreadName};
use crate::drain::{Captured, Drain};
pub use crate::hooks::Hook;
use crate::launcher::{Answer, Block, Ended, Launcher, Order, SLOTS, Terms, fd, now_ns};
use crate::startup::watch::{Watch, Watched};
use crate::steal::StealWatch;
use crate::{Attempt, CommandLine, MeasureError};

mod benchmark;
mod executor;
mod open_files;
mod refused;
mod report;
mod variables;

use benchmark::{Benchmark, NOTHING, prepare};
pub(crate) use refused::{Wanted, check_start};
pub(crate) use report::{exit, io_counts};
pub(crate) use variables::environment_of;
pub(crate) use variables::name_run;
use variables::padding;

/// Commands around the runs of one benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hooks {
    /// Runs once, before anything else.
    pub setup: Option<Hook>,
    /// Runs before each run, including warm-up runs.
    pub prepare: Option<Hook>,
    /// Runs after each run.
    pub conclude: Option<Hook>,
    /// Runs once, at the end.
    pub cleanup: Option<Hook>,
}

/// Settings for all benchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOptions {
    /// The time limit of a run.
    pub timeout: Option<Duration>,
    /// CPUs that the commands may use; all if empty.
    pub pin: Vec<usize>,
    /// Whether to vary the size of the environment from round to round, by 0 to 4095 bytes. The size
    /// determines where a program's stack begins, which may affect its speed. All runs of a round have the
    /// same size.
    pub vary_environment_size: bool,
    /// Let the commands write to the terminal.
    pub show_output: bool,
    /// Whether processes that a run leaves behind live until the final sweep. Otherwise they are killed
    /// before the next run, which they would disturb.
    pub keep_daemons: bool,
    /// The seed of all random choices.
    pub seed: u64,
}

/// Rounds of short commands are passed to the launcher in batches that take this long. Between batches,
/// Fathom checks limits and redraws the progress line. (Ctrl-C and timeouts are noticed at any time.)
///
/// After each batch, the CPUs become idle, and the next run may get a different CPU, or one that has slowed
/// down. With batches of 20 ms, a quarter of the rounds were split in two. The log ratios of these rounds
/// varied by 3.3 % on a quiet machine, those of the others by 2.1 %, and by 1.7 % from the third run of a
/// batch on. The first run took 1.3 % longer than the median, and the fourth 1.1 % less (6,000 runs of a 6 ms
/// command). Therefore rounds are kept whole, and batches are few.
const HAND_OVER: Duration = Duration::from_millis(200);
/// Rounds that take longer than this are split anyway.
const LONGEST_HAND_OVER: Duration = Duration::from_millis(500);

/// A run that has ended but hasn't been returned yet.
struct Finished {
    attempt: Attempt,
    answer: Answer,
    ended: Ended,
    captured: Captured,
    recorded: bool,
    /// See [`fathom_model::Run::throttled_ns`].
    throttled_ns: Option<u64>,
    /// See [`fathom_model::Run::delayed_ns`].
    delayed_ns: Option<u64>,
    piped_bytes: Option<u64>,
}

/// Runs commands through the launcher.
pub struct ProcessExecutor {
    launcher: Launcher,
    drain: Drain,
    benchmarks: Vec<Benchmark>,
    options: ProcessOptions,
    cpu_mask: Vec<u8>,
    steal: StealWatch,
    /// The meter for the CPU limit of this process's own group, if it has one. It is read right before and
    /// after a batch, which then has only one run, because the value can't be divided.
    throttle: Option<ThrottleMeter>,
    /// The variables of the current rounds; kept to reuse their memory.
    own_environments: Vec<Block>,
    finished: VecDeque<Finished>,
    /// Whether the launcher writes to a JSON record.
    records: bool,
    floor_arguments: Block,
    /// The number of processes that runs have left behind and that still exist.
    left_behind: u32,
    /// The number of processes that could not be killed, after a sweep between runs.
    immortal: Option<u32>,
    began_ns: u64,
    /// Detects the first byte of standard output, if requested.
    watch: Option<Watch>,
    /// The timestamps of the last run.
    last_stamps: RunStamps,
    /// Answers the notifications of delayed calls, if any command has such calls.
    asked: Option<Asked>,
    /// The warm-up round in which output for `/dev/null` goes to the pipe instead.
    piped_warmup: Option<u32>,
}

/// How a run is delayed.
#[derive(Default)]
struct Delays {
    /// Whether calls are delayed one by one.
    calls: bool,
    threads: Option<Stopper>,
    held_back: Vec<Stopper>,
}

impl Delays {
    /// Ends the delays of a run that has ended, and returns their sum in nanoseconds.
    fn finish(self, asked: Option<&Asked>) -> Option<u64> {
        let threads = self.threads.map(Stopper::finish);
        for stopper in self.held_back {
            stopper.finish();
        }
        threads.or_else(|| asked.filter(|_| self.calls).map(Asked::delayed_ns))
    }
}

/// Timestamps of the last run, in `CLOCK_MONOTONIC` nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RunStamps {
    /// In the child, right before it called `execve`.
    pub exec_ns: u64,
    /// When the launcher saw its exit.
    pub end_ns: u64,
    /// How long it had waited for a CPU before exec, if the executor watches.
    pub wait_before_exec_ns: u64,
    /// The CPU on which it last ran, if the executor watches.
    pub cpu: Option<usize>,
    /// The observed output.
    pub output: Watched,
}

impl RunStamps {
    fn of(answer: &Answer, output: Watched) -> RunStamps {
        RunStamps {
            exec_ns: answer.exec_ns,
            end_ns: answer.end_ns,
            wait_before_exec_ns: account::wait_before_exec_ns(answer),
            cpu: usize::try_from(answer.cpu).ok(),
            output,
        }
    }
}

impl ProcessExecutor {
    /// Starts the launcher. Must be called on a thread that outlives the executor.
    ///
    /// # Errors
    /// As for [`ProcessExecutor::recording`].
    pub fn new(
        benchmarks: Vec<(CommandLine, Hooks)>,
        options: ProcessOptions,
    ) -> Result<ProcessExecutor, MeasureError> {
        Self::build(benchmarks, options, None, false)
    }

    /// Like [`ProcessExecutor::new`], but finished runs are also written to this file immediately, see
    /// [`crate::Journal`].
    ///
    /// # Errors
    /// [`MeasureError::Launcher`] if it can't be started, [`MeasureError::Input`] and similar if Fathom's own
    /// directory is unknown.
    pub fn recording(
        benchmarks: Vec<(CommandLine, Hooks)>,
        options: ProcessOptions,
        record: Option<&File>,
    ) -> Result<ProcessExecutor, MeasureError> {
        Self::build(benchmarks, options, record, false)
    }

    /// In this warm-up round, output that otherwise goes to `/dev/null` goes to the pipe and is counted. This
    /// shows, without an additional run, how much work a program skips if its output is `/dev/null`.
    pub fn piping_warmup(mut self, round: Option<u32>) -> ProcessExecutor {
        self.piped_warmup = round;
        self
    }

    /// Continues the session of earlier runs: start times are counted from the same origin as theirs.
    #[must_use]
    pub fn after(mut self, earlier: &[fathom_model::Run]) -> ProcessExecutor {
        let ends = earlier.iter().map(|run| run.started_ns + run.wall_ns);
        self.began_ns = self.began_ns.saturating_sub(ends.max().unwrap_or(0));
        self
    }

    /// Creates an executor that detects the first byte written to [`crate::Output::Pipe`].
    pub(crate) fn watching(
        benchmarks: Vec<(CommandLine, Hooks)>,
        options: ProcessOptions,
    ) -> Result<ProcessExecutor, MeasureError> {
        Self::build(benchmarks, options, None, true)
    }

    /// Returns the timestamps of the last run, of a benchmark or of the empty program.
    pub(crate) fn last_stamps(&self) -> RunStamps {
        self.last_stamps
    }

    /// Returns the CPUs on which the output is watched.
    pub(crate) fn watching_cpus(&self) -> Vec<usize> {
        self.watch
            .as_ref()
            .map_or_else(Vec::new, |watch| watch.cpus().to_vec())
    }

    fn build(
        benchmarks: Vec<(CommandLine, Hooks)>,
        options: ProcessOptions,
        record: Option<&File>,
        watches: bool,
    ) -> Result<ProcessExecutor, MeasureError> {
        let here = std::env::current_dir().map_err(|error| MeasureError::Directory {
            path: ".".into(),
            error,
        })?;
        let not_started = |error| MeasureError::Launcher {
            what: "could not be started",
            error: open_files::with_the_limit(error),
        };
        let is_asked = |(command, _): &(CommandLine, Hooks)| {
            matches!(command.without.delay, Some(Delay::Calls(_)))
        };
        let asked = match benchmarks.iter().any(is_asked) {
            true => Some(Asked::start().map_err(not_started)?),
            false => None,
        };
        let handover = asked.as_ref().map(Asked::handover);
        let (mut launcher, pipes) = Launcher::start(record, handover).map_err(not_started)?;
        let unreadable = |error| MeasureError::Launcher {
            what: "could not be read from",
            error: open_files::with_the_limit(error),
        };
        // The watcher of standard output also reads it; the drain gets a closed end instead.
        let (watch, stdout) = match watches {
            false => (None, pipes.stdout),
            true => {
                launcher.report_cpus();
                let watch = Watch::start(pipes.stdout, &options.pin).map_err(unreadable)?;
                let (closed, _) = io::pipe().map_err(unreadable)?;
                (Some(watch), closed.into())
            }
        };
        let drain = Drain::start(stdout, pipes.stderr).map_err(unreadable)?;
        let benchmarks = benchmarks
            .into_iter()
            .map(|(command, hooks)| prepare(command, hooks, &here))
            .collect::<Result<_, _>>()?;
        Ok(ProcessExecutor {
            launcher,
            drain,
            benchmarks,
            cpu_mask: cpu_mask(&options.pin),
            steal: StealWatch::new(),
            throttle: ThrottleMeter::open(Path::new("/")),
            own_environments: Vec::new(),
            finished: VecDeque::new(),
            records: record.is_some(),
            left_behind: 0,
            immortal: None,
            floor_arguments: Block::new([b"floor".as_slice()]).map_err(|error| {
                MeasureError::Launcher {
                    what: "could not be started",
                    error,
                }
            })?,
            options,
            began_ns: now_ns(),
            watch,
            last_stamps: RunStamps::default(),
            asked,
            piped_warmup: None,
        })
    }

    /// Returns how many of the upcoming runs can be executed without checks in between.
    fn at_once(&self, upcoming: &[Attempt]) -> usize {
        let alone = |attempt: &Attempt| {
            let benchmark = &self.benchmarks[attempt.benchmark];
            benchmark.hooks.prepare.is_some()
                || benchmark.hooks.conclude.is_some()
                || benchmark.command.expect.is_some()
                || benchmark.command.without.delay.is_some()
                || !benchmark.command.without.held_back.is_empty()
                || benchmark.complains
                || self.left_behind > 0
                || self.options.show_output
                || self.watch.is_some()
                || self.throttle.is_some()
        };
        let many = upcoming
            .iter()
            .take(SLOTS)
            .take_while(|a| !alone(a))
            .count();
        many.max(1)
    }

    /// Executes the first of these runs, and as many of the others as belong with it.
    fn make(&mut self, upcoming: &[Attempt]) -> Result<(), MeasureError> {
        let attempts = whole_rounds(upcoming, self.at_once(upcoming));
        let first = &self.benchmarks[attempts[0].benchmark];
        let rounds: Vec<&[Attempt]> = attempts.chunk_by(Attempt::is_of_round).collect();
        self.own_environments
            .resize_with(SLOTS.max(rounds.len()), Block::default);
        for (runs, block) in rounds.iter().zip(&mut self.own_environments) {
            let padding = match self.options.vary_environment_size {
                true => Some(padding(self.options.seed, runs[0].round)),
                false => None,
            };
            name_run(block, runs[0].iteration(), padding).map_err(|error| gone(error, first))?;
        }
        let own_environments = rounds
            .iter()
            .zip(&self.own_environments)
            .flat_map(|(runs, own)| runs.iter().map(move |_| own));
        let heads: Vec<String> = attempts
            .iter()
            .map(
                |attempt| match self.records && !attempt.warmup && !self.is_delayed(attempt) {
                    true => record_head(attempt),
                    false => String::new(),
                },
            )
            .collect();
        let piped: Vec<bool> = attempts.iter().map(|a| self.is_piped(a)).collect();
        let orders: Vec<Order> = attempts
            .iter()
            .enumerate()
            .zip(own_environments)
            .zip(&heads)
            .map(|(((at, attempt), own), head)| Order {
                benchmark: attempt.benchmark,
                own_environment: own,
                record_head: head,
                ends_round: upcoming
                    .get(at + 1)
                    .is_none_or(|next| !next.is_of_round(attempt)),
                ..self.benchmarks[attempt.benchmark].order(&self.options, &self.cpu_mask)
            })
            .zip(&piped)
            .map(|(order, is_piped)| Order {
                output_fd: match is_piped {
                    true => fd::OUTPUT_PIPE,
                    false => order.output_fd,
                },
                ..order
            })
            .collect();
        let hashes = first.command.expect.is_some();
        self.drain.begin(hashes, self.left_behind > 0);
        let terms = Terms {
            timeout: self.options.timeout,
            budget: HAND_OVER,
            longest: LONGEST_HAND_OVER,
            left_before: self.left_behind,
            began_ns: self.began_ns,
            follows_a_stop: false,
        };
        if let Some(watch) = &self.watch {
            watch.begin();
        }
        let throttled = || self.throttle.as_ref().map(ThrottleMeter::ns);
        let before = throttled();
        let delays = self
            .begin_delays(first)
            .map_err(|error| gone(error, first))?;
        let answers = self.launcher.run(&orders, terms);
        let delayed_ns = delays.finish(self.asked.as_ref());
        let answers = answers.map_err(|error| gone(error, first))?;
        let after = throttled();
        let output = self.watch.as_ref().map(Watch::finish).unwrap_or_default();
        let mut captured = Some(self.drain.finish());
        let last = answers.len() - 1;
        if !self.options.keep_daemons && answers[last].0.left_behind > self.left_behind {
            // If the launcher is gone, so are the processes it watched.
            self.immortal = Some(self.launcher.sweep().unwrap_or(0));
        }
        self.last_stamps = RunStamps::of(&answers[last].0, output);
        let came = captured
            .as_ref()
            .map_or(0, |captured| captured.stdout_bytes);
        let piped_bytes = bytes_of_each(came, &piped, &answers);
        for (at, (answer, ended)) in answers.into_iter().enumerate() {
            self.finished.push_back(Finished {
                attempt: attempts[at],
                answer,
                ended,
                // It is unknown which run wrote the text; it is shown if the last run failed.
                captured: if at == last { captured.take() } else { None }.unwrap_or_default(),
                throttled_ns: after
                    .zip(before)
                    .map(|(after, before)| after.saturating_sub(before)),
                delayed_ns,
                recorded: !heads[at].is_empty() && ended == Ended::ByItself,
                piped_bytes: piped_bytes[at],
            });
        }
        Ok(())
    }

    fn is_delayed(&self, attempt: &Attempt) -> bool {
        let command = &self.benchmarks[attempt.benchmark].command;
        command.without.delay.is_some()
    }

    /// Prepares the delays of the next run.
    fn begin_delays(&self, benchmark: &Benchmark) -> io::Result<Delays> {
        let without = &benchmark.command.without;
        let stop =
            |which: &ThreadName, share| Stopper::start(self.launcher.id(), which.clone(), share);
        let mut delays = Delays::default();
        match (&without.delay, &self.asked) {
            (Some(Delay::Calls(each)), Some(asked)) => {
                asked.begin(*each);
                delays.calls = true;
            }
            (Some(Delay::Threads(which, share)), _) => {
                delays.threads = Some(stop(which, *share)?);
            }
            _ => (),
        }
        for (which, share) in &without.held_back {
            delays.held_back.push(stop(which, *share)?);
        }
        Ok(delays)
    }

    /// Reports whether the run's output goes to the pipe, while that of counted runs is discarded.
    fn is_piped(&self, attempt: &Attempt) -> bool {
        let benchmark = &self.benchmarks[attempt.benchmark];
        let order = benchmark.order(&self.options, &self.cpu_mask);
        attempt.warmup
            && self.piped_warmup == Some(attempt.round)
            && order.output_fd == fd::NULL
            && order.output.is_none()
    }

    /// Turns a failure to start into an error that names the obstacle.
    fn check_start(&self, answer: &Answer, benchmark: &Benchmark) -> Result<(), MeasureError> {
        let wanted = Wanted {
            command: &benchmark.command,
            directory: &benchmark.directory,
            input: benchmark.input.as_deref(),
            output: benchmark.output.as_deref(),
            pin: &self.options.pin,
            bytes: benchmark.environment.len() + benchmark.arguments.len(),
        };
        check_start(answer, &wanted)
    }
}

/// Returns as many of these runs as there is space for, without the beginning of a round whose end doesn't
/// fit. If not even one round fits, returns as much of it as does.
fn whole_rounds(upcoming: &[Attempt], room: usize) -> &[Attempt] {
    let is_whole = |end: &usize| match upcoming.get(*end) {
        Some(next) => !next.is_of_round(&upcoming[end - 1]),
        None => true,
    };
    let end = (1..=room).rev().find(is_whole).unwrap_or(room);
    &upcoming[..end]
}

/// Returns the minimum number of bytes that each of these runs wrote to the pipe, out of `came` in total;
/// `None` for runs whose output went elsewhere.
///
/// The bytes in the pipe are counted once for all runs of a batch, and the total that each run wrote anywhere
/// is known (`wchar`): bytes that the other runs can't have written are its own. That is exact for one
/// command, and for programs that write nowhere else.
fn bytes_of_each(came: u64, piped: &[bool], answers: &[(Answer, Ended)]) -> Vec<Option<u64>> {
    let written: Vec<Option<u64>> = piped
        .iter()
        .zip(answers)
        .map(|(is_piped, (answer, _))| {
            is_piped.then(|| account::metrics(answer).io.map(|io| io.wchar))?
        })
        .collect();
    let all: u64 = written.iter().flatten().sum();
    let own = |written: u64| came.saturating_sub(all - written).min(written);
    written.iter().map(|written| written.map(own)).collect()
}

/// Returns the beginning of a run's object in the JSON record, with the fields that only Fathom knows; the
/// launcher adds its measurements.
fn record_head(attempt: &Attempt) -> String {
    let separator = if attempt.position == 0 { "\n" } else { ",\n" };
    format!(
        "{separator}{{\"benchmark\":{},\"round\":{},\"position\":{},",
        attempt.benchmark, attempt.round, attempt.position
    )
}

fn gone(error: io::Error, benchmark: &Benchmark) -> MeasureError {
    match error.raw_os_error() {
        Some(libc::E2BIG) => MeasureError::TooLong {
            name: benchmark.command.arguments[0]
                .to_string_lossy()
                .into_owned(),
            bytes: benchmark.environment.len() + benchmark.arguments.len(),
        },
        _ => MeasureError::Launcher {
            what: "ended unasked",
            error,
        },
    }
}

/// Returns a mask for `sched_setaffinity`; empty for all CPUs.
pub(crate) fn cpu_mask(cpus: &[usize]) -> Vec<u8> {
    let Some(largest) = cpus.iter().max() else {
        return Vec::new();
    };
    // The kernel requires whole words.
    let mut mask = vec![0u8; (largest / 64 + 1) * 8];
    for cpu in cpus {
        mask[cpu / 8] |= 1 << (cpu % 8);
    }
    mask
}
