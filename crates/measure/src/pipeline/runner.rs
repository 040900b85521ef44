//! Runs the whole pipeline, or one stage of it, through the launcher.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_launcher::account;
use fathom_model::{Exit, PipeRound, StageRun};

use super::tails::Tails;
use crate::launcher::{Answer, Block, Ended, Launcher, Order, PipelineAnswer, StageOrder, fd};
use crate::process::{Wanted, check_start, cpu_mask, environment_of, exit, io_counts};
use crate::{CommandLine, Input, MeasureError, Output};

/// The descriptor number in the launcher of the first stage's standard error; the others follow.
const ERRORS: i32 = fd::EXTRA;

/// A stage with everything that can be prepared before a run.
pub(super) struct Prepared {
    pub command: CommandLine,
    directory: PathBuf,
    arguments: Block,
    environment: Block,
}

/// The source of a stage's standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum From {
    /// The previous stage.
    Neighbour,
    /// This descriptor in the launcher, for one run.
    Descriptor(i32),
    /// A file.
    Path(PathBuf),
    /// As its command specifies.
    Command,
}

/// The destination of a stage's standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum To {
    /// The next stage.
    Neighbour,
    /// This descriptor in the launcher, for one run.
    Descriptor(i32),
    /// A pipe that Fathom drains.
    Discard,
    /// As its command specifies.
    Command,
}

/// One stage of one run.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub stage: usize,
    pub from: From,
    pub to: To,
    pub delay: Duration,
}

/// Settings for all runs.
#[derive(Debug, Clone)]
pub(super) struct RunOptions {
    pub timeout: Option<Duration>,
    pub pin: Vec<usize>,
    pub show_output: bool,
}

/// The result of a run.
pub(super) struct Ran {
    pub round: PipeRound,
    /// The end of each stage's standard error.
    pub stderr: Vec<Vec<u8>>,
    pub interrupted: bool,
    /// The stages that were still running when the time was up.
    pub cut_short: Vec<usize>,
}

/// The launcher with its pipes.
pub(super) struct Runner {
    launcher: Launcher,
    tails: Tails,
    cpu_mask: Vec<u8>,
    options: RunOptions,
}

impl Prepared {
    /// Prepares a command; `here` is the directory that its working directory is relative to.
    ///
    /// # Errors
    /// If an argument or a variable contains a zero byte.
    pub(super) fn new(command: &CommandLine, here: &Path) -> Result<Prepared, MeasureError> {
        let refused = |error: io::Error| MeasureError::Spawn {
            name: command.arguments[0].to_string_lossy().into_owned(),
            error: io::Error::new(
                error.kind(),
                "an argument or environment variable contains a NUL byte",
            ),
        };
        let environment = environment_of(command);
        Ok(Prepared {
            directory: here.join(command.folder()),
            arguments: Block::new(command.arguments.iter().map(|a| a.as_bytes()))
                .map_err(refused)?,
            environment: Block::new(environment.iter().map(Vec::as_slice)).map_err(refused)?,
            command: command.clone(),
        })
    }
}

impl Runner {
    /// Starts the launcher for this many stages, with these additional descriptors.
    pub(super) fn start(
        stages: usize,
        extra: &[(RawFd, i32)],
        options: RunOptions,
    ) -> Result<Runner, MeasureError> {
        let start = || -> io::Result<(Launcher, Tails)> {
            let pipes = (0..stages)
                .map(|_| super::pipe())
                .collect::<io::Result<Vec<_>>>()?;
            let mut places: Vec<(RawFd, i32)> = extra.to_vec();
            for ((_, write), place) in pipes.iter().zip(ERRORS..) {
                places.push((write.as_raw_fd(), place));
            }
            let (launcher, own) = Launcher::start_with(&places)?;
            let errors: Vec<OwnedFd> = pipes.into_iter().map(|(read, _)| read).collect();
            Ok((launcher, Tails::start(errors, own.stdout)?))
        };
        let (launcher, tails) = start().map_err(|error| MeasureError::Launcher {
            what: "could not be started",
            error,
        })?;
        Ok(Runner {
            launcher,
            tails,
            cpu_mask: cpu_mask(&options.pin),
            options,
        })
    }

    /// Runs these stages at once.
    ///
    /// # Errors
    /// If a stage can't be started. A failing stage is a result.
    pub(super) fn run(
        &mut self,
        prepared: &[Prepared],
        steps: &[Step],
        timeout: Option<Duration>,
    ) -> Result<Ran, MeasureError> {
        let here = std::env::current_dir().unwrap_or_default();
        let files: Vec<(Option<PathBuf>, Option<PathBuf>)> = steps
            .iter()
            .map(|step| files_of(step, &prepared[step.stage].command, &here))
            .collect();
        let none = Block::default();
        let show = self.options.show_output;
        let orders: Vec<StageOrder> = steps
            .iter()
            .zip(&files)
            .map(|(step, (input, output))| {
                let stage = &prepared[step.stage];
                StageOrder {
                    order: Order {
                        benchmark: step.stage,
                        record_head: "",
                        ends_round: false,
                        program: &stage.command.program,
                        arguments: &stage.arguments,
                        environment: &stage.environment,
                        own_environment: &none,
                        directory: &stage.directory,
                        input: input.as_deref(),
                        output: output.as_deref(),
                        output_fd: output_fd(step, &stage.command, show),
                        error_fd: if show {
                            fd::ERROR
                        } else {
                            ERRORS + step.stage as i32
                        },
                        cpu_mask: &self.cpu_mask,
                        filter: None,
                        mounts: &[],
                        groups: &[],
                    },
                    input_fd: match step.from {
                        From::Neighbour => fd::NEIGHBOUR,
                        From::Descriptor(number) => number,
                        From::Path(_) | From::Command => fd::NULL,
                    },
                    delay: step.delay,
                    close_after: matches!(step.from, From::Descriptor(_))
                        || matches!(step.to, To::Descriptor(_)),
                }
            })
            .collect();
        self.tails.begin();
        let ran = self.launcher.run_pipeline(&orders, timeout);
        let (answer, ended) = ran.map_err(|error| too_long_or_gone(error, prepared, steps))?;
        let stderr = self.tails.finish();
        if let Some(error) = ended.stopped(|| "the pipeline".to_owned()) {
            return Err(error);
        }
        let interrupted = ended == Ended::Interrupted;
        let mut cut_short = Vec::new();
        for ((step, (input, output)), answer) in steps.iter().zip(&files).zip(&answer.stages) {
            let stage = &prepared[step.stage];
            let wanted = Wanted {
                command: &stage.command,
                directory: &stage.directory,
                input: input.as_deref(),
                output: output.as_deref(),
                pin: &self.options.pin,
                bytes: stage.arguments.len() + stage.environment.len(),
            };
            if ended == Ended::ByItself {
                // A stage that was never begun isn't the cause: another stage could not be started.
                if answer.failed_step != crate::launcher::step::NOT_STARTED {
                    check_start(answer, &wanted)?;
                }
            } else if was_running(answer) {
                cut_short.push(step.stage);
            }
        }
        Ok(Ran {
            round: round(&answer),
            stderr,
            interrupted,
            cut_short: if ended == Ended::TimedOut {
                cut_short
            } else {
                Vec::new()
            },
        })
    }

    /// Kills everything that the stages have left behind.
    pub(super) fn sweep(&mut self) {
        // If the launcher is gone, so are the processes it watched.
        let _ = self.launcher.sweep();
    }
}

fn output_fd(step: &Step, command: &CommandLine, show: bool) -> i32 {
    match (&step.to, &command.output) {
        (To::Neighbour, _) => fd::NEIGHBOUR,
        (To::Descriptor(number), _) => *number,
        (To::Discard, _) | (To::Command, Output::Pipe) => fd::OUTPUT_PIPE,
        (To::Command, Output::Inherit) => fd::OUTPUT,
        (To::Command, _) if show => fd::OUTPUT,
        (To::Command, _) => fd::NULL,
    }
}

fn files_of(step: &Step, command: &CommandLine, here: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
    let input = match (&step.from, &command.input) {
        (From::Path(path), _) => Some(here.join(path)),
        (From::Command, Input::File(path)) => Some(here.join(path)),
        _ => None,
    };
    let output = match (&step.to, &command.output) {
        (To::Command, Output::File(path)) => Some(here.join(path)),
        _ => None,
    };
    (input, output)
}

fn too_long_or_gone(error: io::Error, prepared: &[Prepared], steps: &[Step]) -> MeasureError {
    let sizes = steps.iter().map(|step| {
        let stage = &prepared[step.stage];
        stage.arguments.len() + stage.environment.len()
    });
    match error.raw_os_error() {
        Some(libc::E2BIG) => MeasureError::TooLong {
            name: "the stages".into(),
            bytes: sizes.sum(),
        },
        _ => MeasureError::Launcher {
            what: "ended unasked",
            error,
        },
    }
}

/// Reports whether the stage was still alive, or not yet started, at the run's end.
fn was_running(answer: &Answer) -> bool {
    answer.failed_step == crate::launcher::step::NOT_STARTED
        || exit(answer.status) == Exit::Signal(libc::SIGKILL)
}

fn round(answer: &PipelineAnswer) -> PipeRound {
    let begin = answer.start_ns;
    let end = answer.stages.iter().map(|stage| stage.end_ns).max();
    PipeRound {
        wall_ns: end.unwrap_or(begin).saturating_sub(begin),
        stages: answer.stages.iter().map(|s| stage_run(s, begin)).collect(),
        left_behind: answer.left_behind,
    }
}

fn stage_run(answer: &Answer, begin: u64) -> StageRun {
    let metrics = account::metrics(answer);
    let usage = metrics.usage;
    let start_ns = answer.start_ns.saturating_sub(begin);
    let end_ns = answer.end_ns.saturating_sub(begin);
    StageRun {
        cpu_ns: usage.cpu_ns(),
        peak_memory_bytes: usage.peak_memory_bytes,
        io: metrics.io.map(io_counts),
        ..StageRun::unobserved(start_ns, end_ns, exit(answer.status))
    }
}
