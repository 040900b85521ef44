//! Runs hooks, and kills what they leave running.
//!
//! A separate launcher becomes the parent of every orphaned process, whatever its group or session, and kills
//! them all on request or when Fathom dies. A server that a hook leaves running stays available to the runs
//! and is killed after them.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use super::Hook;
use crate::launcher::{Answer, Block, Ended, Launcher, Order, Terms, anonymous_file, fd, now_ns};
use crate::{Iteration, environment, interrupt, lookup};

/// The number of bytes kept from the end of standard error.
const KEPT_BYTES: u64 = 4096;

thread_local! {
    /// The runners of each thread: a launcher ends with the thread that started it.
    static RUNNERS: RefCell<Runners> = const { RefCell::new(Runners { around_all: None, around_one: None }) };
}

#[derive(Default)]
struct Runners {
    /// The runner for `--setup` and `--cleanup`.
    around_all: Option<Runner>,
    /// The runner for `--prepare` and `--conclude`: processes left by one round don't survive into the next.
    around_one: Option<Runner>,
}

/// Kills all processes that hooks of this thread have left running.
pub fn end() {
    // Drop the runners outside of the borrow, because dropping one waits.
    let runners = RUNNERS.with_borrow_mut(std::mem::take);
    drop(runners);
}

/// The result of a hook.
pub(super) struct Ran {
    pub answer: Answer,
    pub ended: Ended,
    /// The end of its standard error.
    pub errors: Vec<u8>,
}

/// Runs the hook until it ends.
///
/// # Errors
/// If there is no such shell, or nothing can be started.
pub(super) fn run(hook: &Hook, iteration: Option<Iteration>) -> io::Result<Ran> {
    RUNNERS.with_borrow_mut(|runners| {
        let place = match hook.role {
            "--setup" | "--cleanup" => &mut runners.around_all,
            _ => &mut runners.around_one,
        };
        let runner = match &mut *place {
            Some(runner) => runner,
            none => none.insert(Runner::start()?),
        };
        if hook.role == "--prepare" {
            runner.launcher.sweep()?;
        }
        let ran = runner.run(hook, iteration);
        if ran.is_err() {
            // The launcher may be gone; the next hook gets a new one.
            *place = None;
        }
        ran
    })
}

struct Runner {
    launcher: Launcher,
    /// The hooks' standard error: a file, so that a server left running can go on writing.
    errors: File,
}

impl Runner {
    fn start() -> io::Result<Runner> {
        let errors = unnamed_file()?;
        let (launcher, _) = Launcher::start_with(&[(errors.as_raw_fd(), fd::EXTRA)])?;
        Ok(Runner { launcher, errors })
    }

    fn run(&mut self, hook: &Hook, iteration: Option<Iteration>) -> io::Result<Ran> {
        let here = std::env::current_dir()?;
        let variables = environment::with(&hook.variables);
        let path = variables.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, path)| path.as_os_str()).unwrap_or_default();
        let directory = hook.directory.as_deref();
        let program =
            lookup::find(&hook.arguments[0], path, directory).map_err(io::Error::other)?;
        let variables: Vec<Vec<u8>> = variables
            .iter()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .collect();
        let mut number = Block::default();
        if let Some(iteration) = iteration {
            crate::process::name_run(&mut number, iteration, None)?;
        }
        let order = Order {
            benchmark: 0,
            program: &program,
            arguments: &Block::new(hook.arguments.iter().map(|word| word.as_bytes()))?,
            environment: &Block::new(variables.iter().map(Vec::as_slice))?,
            own_environment: &number,
            directory: &directory.map_or_else(|| here.clone(), |folder| here.join(folder)),
            input: None,
            output: None,
            output_fd: if hook.show_output {
                fd::OUTPUT
            } else {
                fd::NULL
            },
            error_fd: if hook.show_output {
                fd::ERROR
            } else {
                fd::EXTRA
            },
            cpu_mask: &[],
            filter: None,
            mounts: &[],
            groups: &[],
            record_head: "",
            ends_round: true,
        };
        let terms = Terms {
            timeout: None,
            budget: Duration::MAX,
            longest: Duration::MAX,
            left_before: 0,
            began_ns: now_ns(),
            // `--cleanup` runs after the signal that stopped the others; another signal ends `--cleanup` as
            // well.
            follows_a_stop: interrupt::stopped(),
        };
        let before = self.errors.seek(SeekFrom::End(0))?;
        let answers = self.launcher.run(&[order], terms)?;
        let (answer, ended) = answers.into_iter().next().ok_or(io::ErrorKind::NotFound)?;
        Ok(Ran {
            answer,
            ended,
            errors: self.end_of_errors(before)?,
        })
    }

    fn end_of_errors(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let length = self.errors.seek(SeekFrom::End(0))?;
        let from = from.max(length.saturating_sub(KEPT_BYTES));
        self.errors.seek(SeekFrom::Start(from))?;
        let mut end = Vec::new();
        (&self.errors).take(KEPT_BYTES).read_to_end(&mut end)?;
        Ok(end)
    }
}

fn unnamed_file() -> io::Result<File> {
    let file = File::from(anonymous_file(c"fathom-hook-errors", 0)?);
    // SAFETY: takes only numbers. The file's writers append.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(file),
    }
}
