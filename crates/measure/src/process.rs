//! Runs benchmarks as real processes.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_model::{Exit, Run};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::account;
use crate::drain::{Captured, Drain};
pub use crate::hooks::Hook;
use crate::launcher::{Answer, Block, Ended, Launcher, Order, fd, step};
use crate::steal::StealWatch;
use crate::{Attempt, CommandLine, Executor, Input, MeasureError, Output, RunReport};

/// Commands around the runs of one benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hooks {
    /// Once, before anything else.
    pub setup: Option<Hook>,
    /// Before each run, warm-ups included.
    pub prepare: Option<Hook>,
    /// After each run.
    pub conclude: Option<Hook>,
    /// Once, at the end.
    pub cleanup: Option<Hook>,
}

/// What holds for all benchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOptions {
    /// Longest time a run may take.
    pub timeout: Option<Duration>,
    /// CPUs that the commands may use; all if empty.
    pub pin: Vec<usize>,
    /// Vary the size of the environment from run to run, by 0 to 4095 bytes: where the stack of a
    /// program begins depends on it, and so may its speed.
    pub vary_environment_size: bool,
    /// Let the commands write to the terminal.
    pub show_output: bool,
    /// Seed of what is random.
    pub seed: u64,
}

struct Benchmark {
    command: CommandLine,
    hooks: Hooks,
    directory: PathBuf,
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    arguments: Block,
    environment: Block,
}

/// Runs commands through the launcher.
pub struct ProcessExecutor {
    launcher: Launcher,
    drain: Drain,
    benchmarks: Vec<Benchmark>,
    options: ProcessOptions,
    cpu_mask: Vec<u8>,
    steal: StealWatch,
    random: SmallRng,
    /// Variables of the run that is on; kept for its memory.
    own_environment: Block,
    floor_arguments: Block,
    /// Processes that runs so far have left behind and that are still there.
    left_behind: u32,
    began: Instant,
}

impl ProcessExecutor {
    /// Starts the launcher. Must be called on a thread that outlives the executor.
    ///
    /// # Errors
    /// [`MeasureError::Launcher`] when it can't be started, [`MeasureError::Input`] and the like when
    /// Fathom's own directory can't be told.
    pub fn new(
        benchmarks: Vec<(CommandLine, Hooks)>,
        options: ProcessOptions,
    ) -> Result<ProcessExecutor, MeasureError> {
        let here = std::env::current_dir().map_err(|error| MeasureError::Directory {
            path: ".".into(),
            error,
        })?;
        let (launcher, pipes) = Launcher::start().map_err(|error| MeasureError::Launcher {
            what: "could not be started",
            error,
        })?;
        let drain =
            Drain::start(pipes.stdout, pipes.stderr).map_err(|error| MeasureError::Launcher {
                what: "could not be read from",
                error,
            })?;
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
            random: SmallRng::seed_from_u64(options.seed),
            own_environment: Block::default(),
            left_behind: 0,
            floor_arguments: Block::new([b"floor".as_slice()]).map_err(|error| {
                MeasureError::Launcher {
                    what: "could not be started",
                    error,
                }
            })?,
            options,
            began: Instant::now(),
        })
    }

    fn execute(&mut self, attempt: &Attempt) -> Result<(Answer, Ended, Captured), MeasureError> {
        let benchmark = &self.benchmarks[attempt.benchmark];
        let padding = match self.options.vary_environment_size {
            true => Some(self.random.random_range(0..PADDING.len())),
            false => None,
        };
        name_run(&mut self.own_environment, attempt.round, padding)
            .map_err(|error| gone(error, benchmark))?;
        let checks_output = benchmark.command.expect.is_some();
        let show = self.options.show_output;
        let order = Order {
            program: &benchmark.command.program,
            arguments: &benchmark.arguments,
            environment: &benchmark.environment,
            own_environment: &self.own_environment,
            directory: &benchmark.directory,
            input: benchmark.input.as_deref(),
            output: benchmark.output.as_deref(),
            output_fd: match benchmark.command.output {
                _ if checks_output => fd::OUTPUT_PIPE,
                Output::Pipe => fd::OUTPUT_PIPE,
                Output::Inherit => fd::OUTPUT,
                _ if show => fd::OUTPUT,
                _ => fd::NULL,
            },
            error_fd: if show { fd::ERROR } else { fd::ERROR_PIPE },
            cpu_mask: &self.cpu_mask,
        };
        self.drain.begin(checks_output, self.left_behind > 0);
        let (answer, ended) = self
            .launcher
            .run(&order, self.options.timeout)
            .map_err(|error| gone(error, benchmark))?;
        let captured = self.drain.finish();
        let was_to_run = Wanted {
            command: &benchmark.command,
            directory: &benchmark.directory,
            input: benchmark.input.as_deref(),
            output: benchmark.output.as_deref(),
            pin: &self.options.pin,
            bytes: benchmark.environment.len() + benchmark.arguments.len(),
        };
        check_start(&answer, &was_to_run)?;
        Ok((answer, ended, captured))
    }

    fn report(
        &mut self,
        attempt: &Attempt,
        started: Duration,
        answer: &Answer,
        ended: Ended,
        captured: Captured,
    ) -> RunReport {
        let usage = account::usage(&answer.usage);
        let main_thread = account::text(&answer.schedstat).and_then(account::schedstat);
        let harness_wait_ns = account::harness_wait_ns(answer);
        let wall_ns = answer.end_ns - answer.start_ns;
        let exit = match ended {
            Ended::TimedOut => Exit::TimedOut,
            _ => account::exit(answer.status),
        };
        let expect = self.benchmarks[attempt.benchmark].command.expect.as_ref();
        let wrong_output = expect.and_then(|wanted| {
            let got = captured.stdout_sha256?;
            (got != wanted.sha256).then(|| match wanted.length {
                Some(length) if length != captured.stdout_bytes => {
                    format!("{} bytes instead of {length}", captured.stdout_bytes)
                }
                _ => format!("{} bytes with SHA-256 {}", captured.stdout_bytes, hex(&got)),
            })
        });
        let run = Run {
            benchmark: attempt.benchmark,
            round: attempt.round,
            position: attempt.position,
            started_ns: started.as_nanos() as u64,
            wall_ns,
            spawn_ns: answer.exec_ns.saturating_sub(answer.start_ns),
            cpu_ns: usage.user_ns + usage.system_ns,
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            run_queue_wait_ns: main_thread.map(|thread| thread.wait_ns),
            harness_wait_ns,
            undisturbed_ns: account::undisturbed_ns(wall_ns, &usage, main_thread, harness_wait_ns),
            peak_memory_bytes: usage.peak_memory_bytes,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            io: account::text(&answer.io).and_then(account::io),
            steal_ns: self.steal.since_last(),
            left_behind: answer.left_behind.saturating_sub(self.left_behind),
            exit,
        };
        self.left_behind = answer.left_behind;
        RunReport {
            run,
            stderr_tail: captured.stderr_tail,
            wrong_output,
            interrupted: ended == Ended::Interrupted,
        }
    }
}

impl Executor for ProcessExecutor {
    fn set_up(&mut self, benchmark: usize) -> Result<(), MeasureError> {
        self.benchmarks[benchmark]
            .hooks
            .setup
            .as_ref()
            .map_or(Ok(()), |hook| hook.run(None))
    }

    fn run(&mut self, attempt: &Attempt) -> Result<RunReport, MeasureError> {
        let iteration = Some(attempt.round);
        if let Some(hook) = &self.benchmarks[attempt.benchmark].hooks.prepare {
            hook.run(iteration)?;
        }
        let started = self.began.elapsed();
        let (answer, ended, captured) = self.execute(attempt)?;
        let report = self.report(attempt, started, &answer, ended, captured);
        if let Some(hook) = &self.benchmarks[attempt.benchmark].hooks.conclude {
            hook.run(iteration)?;
        }
        Ok(report)
    }

    fn floor(&mut self) -> Result<Option<u64>, MeasureError> {
        let program = PathBuf::from(format!("/proc/self/fd/{}", fd::FLOOR));
        let order = Order {
            program: &program,
            arguments: &self.floor_arguments,
            environment: &Block::default(),
            own_environment: &Block::default(),
            directory: Path::new("/"),
            input: None,
            output: None,
            output_fd: fd::NULL,
            error_fd: fd::NULL,
            cpu_mask: &self.cpu_mask,
        };
        let (answer, ended) =
            self.launcher
                .run(&order, None)
                .map_err(|error| MeasureError::Launcher {
                    what: "ended unasked",
                    error,
                })?;
        let ran = answer.failed_step == step::NONE && answer.status == 0;
        let wall_ns = answer.end_ns - answer.start_ns;
        let waited = account::text(&answer.schedstat).and_then(account::schedstat);
        let undisturbed = account::undisturbed_ns(
            wall_ns,
            &account::usage(&answer.usage),
            waited,
            account::harness_wait_ns(&answer),
        );
        Ok((ran && ended == Ended::ByItself).then_some(undisturbed.unwrap_or(wall_ns)))
    }

    fn clean_up(&mut self, benchmark: usize) -> Result<(), MeasureError> {
        self.benchmarks[benchmark]
            .hooks
            .cleanup
            .as_ref()
            .map_or(Ok(()), |hook| hook.run(None))
    }

    fn sweep(&mut self) {
        // If the launcher is gone, so is what it watched over.
        let _ = self.launcher.sweep();
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn interrupted(&self) -> bool {
        crate::interrupt::received().is_some()
    }
}

/// What was to be started, for the error that says why it was not.
pub(crate) struct Wanted<'a> {
    pub command: &'a CommandLine,
    pub directory: &'a Path,
    pub input: Option<&'a Path>,
    pub output: Option<&'a Path>,
    pub pin: &'a [usize],
    /// Size of arguments and environment.
    pub bytes: usize,
}

/// Turns a failure to start into the error that names what was in the way.
pub(crate) fn check_start(answer: &Answer, wanted: &Wanted) -> Result<(), MeasureError> {
    let error = io::Error::from_raw_os_error(answer.error);
    let name = || wanted.command.arguments[0].to_string_lossy().into_owned();
    let path = |path: Option<&Path>| path.unwrap_or(Path::new("")).to_path_buf();
    Err(match answer.failed_step {
        step::NONE => return Ok(()),
        step::INPUT => MeasureError::Input {
            path: path(wanted.input),
            error,
        },
        step::OUTPUT => MeasureError::Output {
            path: path(wanted.output),
            error,
        },
        step::DIRECTORY => MeasureError::Directory {
            path: wanted.directory.to_path_buf(),
            error,
        },
        step::PIN => MeasureError::Pin {
            cpus: wanted.pin.to_vec(),
            error,
        },
        step::EXEC if error.kind() == io::ErrorKind::NotFound => MeasureError::NotExecutable {
            path: wanted.command.program.clone(),
            reason: "it, or the interpreter that it names, is not there".into(),
        },
        step::EXEC if error.raw_os_error() == Some(libc::E2BIG) => MeasureError::TooLong {
            name: name(),
            bytes: wanted.bytes,
        },
        step::EXEC => MeasureError::NotExecutable {
            path: wanted.command.program.clone(),
            reason: error.to_string(),
        },
        _ => MeasureError::Spawn {
            name: name(),
            error,
        },
    })
}

/// What the size of the environment is varied with.
static PADDING: [u8; 4096] = [b'X'; 4096];

/// The variables that tell a run its number, and those that only take room.
fn name_run(block: &mut Block, round: u32, padding: Option<usize>) -> io::Result<()> {
    block.clear();
    let number = round.to_string();
    block.push(&[b"FATHOM_ITERATION=", number.as_bytes()])?;
    block.push(&[b"HYPERFINE_ITERATION=", number.as_bytes()])?;
    if let Some(length) = padding {
        block.push(&[b"FATHOM_RANDOMIZED_ENVIRONMENT_OFFSET=", &PADDING[..length]])?;
    }
    Ok(())
}

fn prepare(command: CommandLine, hooks: Hooks, here: &Path) -> Result<Benchmark, MeasureError> {
    let refused = |error| MeasureError::Spawn {
        name: command.arguments[0].to_string_lossy().into_owned(),
        error: match error {
            io::ErrorKind::InvalidInput => {
                io::Error::new(error, "an argument or variable contains a zero byte")
            }
            other => other.into(),
        },
    };
    let environment = environment_of(&command);
    Ok(Benchmark {
        directory: here.join(command.directory.as_deref().unwrap_or(Path::new(""))),
        input: match &command.input {
            Input::Null => None,
            Input::File(path) => Some(here.join(path)),
        },
        output: match &command.output {
            Output::File(path) => Some(here.join(path)),
            _ => None,
        },
        arguments: Block::new(command.arguments.iter().map(|a| a.as_bytes()))
            .map_err(|error| refused(error.kind()))?,
        environment: Block::new(environment.iter().map(Vec::as_slice))
            .map_err(|error| refused(error.kind()))?,
        command,
        hooks,
    })
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

/// Fathom's own environment with the command's variables in it, as `NAME=value`.
pub(crate) fn environment_of(command: &CommandLine) -> Vec<Vec<u8>> {
    let mut all: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| command.variables.iter().all(|(added, _)| added != name))
        .collect();
    all.extend(command.variables.iter().cloned());
    all.iter()
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
        .collect()
}

/// For `sched_setaffinity`; empty for all CPUs.
pub(crate) fn cpu_mask(cpus: &[usize]) -> Vec<u8> {
    let Some(largest) = cpus.iter().max() else {
        return Vec::new();
    };
    // The kernel takes whole words.
    let mut mask = vec![0u8; (largest / 64 + 1) * 8];
    for cpu in cpus {
        mask[cpu / 8] |= 1 << (cpu % 8);
    }
    mask
}

/// Lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
