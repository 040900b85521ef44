//! Calls other verbs; their records are kept as files, which are the evidence.

use std::path::PathBuf;
use std::time::Instant;

use fathom_conduct::{CommandPlan, ConductError, RunTerms, write_record};
use fathom_measure::{IgnoreFailure, Input, MeasureError, Output, interrupt};
use serde::Serialize;

use super::bench::{Amount, is_over};
use super::command::last_lines;
use crate::resolve::{Folders, Job, Sink, Target};

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It completed or failed by itself.
    ByItself,
    /// The user interrupted it.
    Interrupted,
    /// Its time was up; what it measured until then is in its record.
    Cut,
}

/// One call of a verb.
#[derive(Debug)]
pub struct Verb {
    /// Path of the record, relative to the work folder.
    relative: String,
    /// Path of the record.
    pub path: PathBuf,
    /// The file to which errors are written.
    log: PathBuf,
    deadline: Option<Instant>,
}

impl Verb {
    /// Creates a call. `name` is the name of the record, without its extension. An older record with this
    /// name is removed, because it is not evidence from this run.
    pub fn new(name: &str, amount: Amount, folders: &Folders) -> Verb {
        let relative = format!("records/{name}.json");
        let path = folders.work.join(&relative);
        let _ = std::fs::remove_file(&path);
        Verb {
            relative,
            path,
            log: folders.work.join("logs").join(format!("{name}.err")),
            deadline: amount.deadline,
        }
    }

    /// Returns how the call ended; must be called right after it ended.
    pub fn ended(&self) -> End {
        match interrupt::received() {
            Some(_) => End::Interrupted,
            None if is_over(self.deadline) => End::Cut,
            None => End::ByItself,
        }
    }

    /// Returns the name of the record, if there is one.
    pub fn record(&self) -> Option<String> {
        self.path.is_file().then(|| self.relative.clone())
    }

    /// Returns the error, with the last output of the command that failed, and writes it to the log.
    pub fn said(&self, error: &ConductError) -> String {
        let stderr = match error {
            ConductError::Measure(
                MeasureError::RunFailed { stderr, .. }
                | MeasureError::StageFailed { stderr, .. }
                | MeasureError::ServerFailed { stderr, .. }
                | MeasureError::HookFailed { stderr, .. },
            ) => String::from_utf8_lossy(stderr),
            _ => "".into(),
        };
        // Failing to write the log isn't an error, because the record contains the same text.
        let text = error.to_string();
        let _ = std::fs::write(&self.log, format!("{text}\n{stderr}"));
        let first = text.lines().next().unwrap_or_default();
        match last_lines(&stderr) {
            words if words.is_empty() => first.to_string(),
            words => format!("{first}: {words}"),
        }
    }

    /// Writes the record of a verb that doesn't write one incrementally.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn write(&self, record: &impl Serialize) -> Result<(), MeasureError> {
        write_record(&self.path, record).map_err(|error| MeasureError::Journal {
            path: self.path.clone(),
            error,
        })
    }

    /// Returns how these jobs are run; they all share one time limit.
    pub fn terms<'j>(&self, jobs: impl Iterator<Item = &'j Job>) -> RunTerms {
        RunTerms {
            timeout: jobs.filter_map(|job| job.timeout).max(),
            deadline: self.deadline,
            ..RunTerms::default()
        }
    }
}

/// Returns the program of a job, and its input.
///
/// # Errors
/// If one of them is missing.
pub fn find(job: &Job) -> Result<fathom_conduct::Target, MeasureError> {
    if let Sink::File(path) = &job.output
        && let Some(folder) = path.parent()
    {
        // If the folder can't be created, the verb reports why.
        let _ = std::fs::create_dir_all(folder);
    }
    let plan = CommandPlan {
        text: job.line(),
        words: job.words.iter().map(Into::into).collect(),
        shell: None,
        parameters: Vec::new(),
        directory: Some(job.directory.clone()),
        variables: job
            .variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        input: job.input.clone().map_or(Input::Null, Input::File),
        output: match &job.output {
            Sink::Null => Output::Null,
            Sink::Pipe => Output::Pipe,
            Sink::File(path) => Output::File(path.clone()),
        },
        expect: None,
        show_output: false,
    };
    plan.find()
}

/// Returns which failures are accepted when all targets are measured together.
pub fn ignored(targets: &[Target]) -> IgnoreFailure {
    match targets.iter().any(|target| target.may_fail) {
        true => IgnoreFailure::All,
        false => IgnoreFailure::Never,
    }
}

/// Converts a number of rounds to the type that verbs take.
pub fn count(rounds: u64) -> u32 {
    u32::try_from(rounds).unwrap_or(u32::MAX)
}
