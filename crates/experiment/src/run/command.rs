//! One command of the experiment, run once, with its output stored.
//!
//! It runs under the launcher, which ends it and all its descendants when its time is up, on Ctrl-C, and when
//! Fathom itself is killed.

use std::ffi::OsString;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use fathom_measure::{
    Attempt, CommandLine, Executor, Hooks, Input, MeasureError, Output, ProcessExecutor,
    ProcessOptions, lookup,
};
use fathom_model::{Exit, Run};

use crate::resolve::{Job, Sink};

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// All measurements of the run.
    pub run: Run,
    /// The file with its standard output.
    pub stdout: PathBuf,
    /// The file with its standard error.
    pub stderr: PathBuf,
}

/// Why a command didn't run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// It can't be started.
    #[error("{0}")]
    NotStarted(String),
}

/// A script that redirects standard error to a file, passed as the shell's `$0`, and executes the program.
const ERRORS_TO_FILE: &str = "exec \"$@\" 2>\"$0\"";

/// Checks that the job's program exists.
///
/// # Errors
/// [`CommandError::NotStarted`] with what is missing.
pub fn find(job: &Job) -> Result<(), CommandError> {
    let failed = |what: String| CommandError::NotStarted(what);
    if !job.directory.is_dir() {
        return Err(failed(format!(
            "its folder {} does not exist",
            job.directory.display()
        )));
    }
    let search = job
        .variables
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| OsString::from(value))
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let program: OsString = job.words.first().cloned().unwrap_or_default().into();
    match lookup::find(&program, &search, Some(&job.directory)) {
        Ok(_) => Ok(()),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Runs a job. Its output is stored in `STEM.out` and `STEM.err`, unless the job sends its standard output to
/// another file.
///
/// # Errors
/// [`CommandError`]; a command that fails isn't an error.
pub fn execute(job: &Job, stem: &Path) -> Result<Ended, CommandError> {
    let failed = |what: String| CommandError::NotStarted(what);
    find(job)?;
    if let Some(folder) = stem.parent() {
        std::fs::create_dir_all(folder).map_err(|e| failed(e.to_string()))?;
    }
    let beside = |ending: &str| {
        let mut name = stem.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let stderr = beside(".err");
    let stdout = match &job.output {
        Sink::File(path) => path.clone(),
        _ => beside(".out"),
    };
    if let Some(folder) = stdout.parent() {
        std::fs::create_dir_all(folder).map_err(|e| failed(e.to_string()))?;
    }
    let mut arguments: Vec<OsString> = vec![
        "/bin/sh".into(),
        "-c".into(),
        ERRORS_TO_FILE.into(),
        stderr.clone().into(),
    ];
    arguments.extend(job.words.iter().map(OsString::from));
    let command = CommandLine {
        arguments,
        program: "/bin/sh".into(),
        directory: Some(job.directory.clone()),
        variables: job
            .variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        input: job.input.clone().map_or(Input::Null, Input::File),
        output: Output::File(stdout.clone()),
        expect: None,
        without: fathom_measure::Without::default(),
    };
    let options = ProcessOptions {
        timeout: job.timeout,
        pin: Vec::new(),
        vary_environment_size: false,
        show_output: false,
        keep_daemons: false,
        seed: 0,
    };
    let attempt = Attempt {
        benchmark: 0,
        warmup: false,
        round: 0,
        position: 0,
    };
    let report = ProcessExecutor::new(vec![(command, Hooks::default())], options)
        .and_then(|mut executor| {
            let report = executor.run(&[attempt]);
            executor.sweep();
            report
        })
        .map_err(|error| match error {
            MeasureError::Interrupted => CommandError::Interrupted,
            error => failed(error.to_string()),
        })?;
    if report.interrupted {
        return Err(CommandError::Interrupted);
    }
    Ok(Ended {
        run: report.run,
        stdout,
        stderr,
    })
}

/// Describes an exit, such as `exit code 1`.
pub fn describe(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "it reached its time limit".to_string(),
    }
}

/// Returns the last lines of a file, joined; these are the messages of a program that failed.
pub fn last_words(path: &Path) -> String {
    last_lines(&tail(path, 2048))
}

/// Returns the last lines that aren't empty, joined.
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(3)..].join(" / ")
}

/// Returns the first line of a file that isn't empty.
pub fn first_line(path: &Path) -> Option<String> {
    let text = head(path, 4096);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_string())
}

/// Returns at most `most` bytes from the start of a file, as text.
pub fn head(path: &Path, most: u64) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        // An unreadable file counts as empty.
        let _ = file.take(most).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn tail(path: &Path, most: u64) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = std::fs::File::open(path) {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(most)));
        let _ = file.take(most).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
