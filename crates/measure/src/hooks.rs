//! Commands around the runs: `--setup`, `--prepare`, `--conclude`, `--cleanup`.

mod runner;

use std::ffi::OsString;
use std::path::PathBuf;

use fathom_model::Exit;

use crate::launcher::{Ended, step};
pub use runner::end;

use crate::{Iteration, MeasureError};

/// A command line for a shell, run until it ends and never timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The option, `--prepare` or one of the others, for messages.
    pub role: &'static str,
    /// The interpreter with its arguments, such as `/bin/sh -c`, followed by the command.
    pub arguments: Vec<OsString>,
    /// The command as given.
    pub text: String,
    /// The working directory, if set.
    pub directory: Option<PathBuf>,
    /// Variables to add to the environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Whether the hook may write to the terminal.
    pub show_output: bool,
}

impl Hook {
    /// Runs the hook with `iteration` in its environment.
    ///
    /// # Errors
    /// [`MeasureError::HookFailed`] unless it exits with 0.
    pub fn run(&self, iteration: Option<Iteration>) -> Result<(), MeasureError> {
        let failed = |exit: String, stderr: Vec<u8>| MeasureError::HookFailed {
            role: self.role,
            command: self.text.clone(),
            exit,
            stderr,
        };
        let ran = runner::run(self, iteration).map_err(|e| failed(e.to_string(), Vec::new()))?;
        if ran.ended == Ended::Interrupted {
            return Err(MeasureError::Interrupted);
        }
        if let Some(error) = ran.ended.stopped(|| self.text.clone()) {
            return Err(error);
        }
        if ran.answer.failed_step != step::NONE {
            let error = std::io::Error::from_raw_os_error(ran.answer.error);
            return Err(failed(error.to_string(), Vec::new()));
        }
        match crate::process::exit(ran.answer.status) {
            Exit::Code(0) => Ok(()),
            exit => Err(failed(describe(exit), ran.errors)),
        }
    }
}

fn describe(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => crate::error::signal_name(signal),
        Exit::TimedOut => "unknown".to_string(),
    }
}
