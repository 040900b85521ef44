//! One command of the experiment, run once, with all that it prints kept.
//!
//! It runs below the launcher, which ends it and everything that it started when its time is up, on
//! Ctrl-C, and when Fathom itself is killed.

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
    /// Everything that was measured of it.
    pub run: Run,
    /// What it wrote to standard output.
    pub stdout: PathBuf,
    /// What it wrote to standard error.
    pub stderr: PathBuf,
}

/// Why a command has no end.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
    /// It can't be started.
    #[error("{0}")]
    NotStarted(String),
}

/// Writes standard error into a file that is the shell's `$0`, and becomes the program.
const ERRORS_TO_FILE: &str = "exec \"$@\" 2>\"$0\"";

/// Whether the job's program is there.
///
/// # Errors
/// [`CommandError::NotStarted`] with what is not there.
pub fn find(job: &Job) -> Result<(), CommandError> {
    let failed = |what: String| CommandError::NotStarted(what);
    if !job.directory.is_dir() {
        return Err(failed(format!(
            "its folder {} is not there",
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

/// Runs a job. What it prints lies in `STEM.out` and `STEM.err` then, unless the job says another
/// file for its output.
///
/// # Errors
/// [`CommandError`]; a command that fails is no error.
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

/// `exit code 1`, in words.
pub fn describe(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "its time was up".to_string(),
    }
}

/// The last lines of a file, joined: what a failing program said.
pub fn last_words(path: &Path) -> String {
    last_lines(&tail(path, 2048))
}

/// The last lines with something in them, joined.
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(3)..].join(" / ")
}

/// The first line of a file that has something in it.
pub fn first_line(path: &Path) -> Option<String> {
    let text = head(path, 4096);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_string())
}

/// At most `most` bytes from the beginning of a file, as text.
pub fn head(path: &Path, most: u64) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        // What can't be read is not there.
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
