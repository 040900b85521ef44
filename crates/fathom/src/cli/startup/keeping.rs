//! The record on disk while it is measured.

use std::path::Path;

use fathom_diagnose::startup::Observed;
use fathom_measure::startup;
use fathom_measure::{Frame, Journal, MeasureError};
use fathom_model::{StartupRecord, StartupRun};

use crate::cli::write;

/// The list of the record that grows.
const LIST: &str = "runs";

/// Keeps every run as soon as it has ended.
pub struct Keeper {
    /// The file, if one was asked for, and the record without its runs.
    kept: Option<(Journal, StartupRecord)>,
}

impl Keeper {
    /// Begins the file with a record without runs.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn new(path: Option<&Path>, begun: StartupRecord) -> Result<Keeper, MeasureError> {
        let kept = match path.filter(|path| write::is_replaceable(path)) {
            Some(path) => {
                let journal = Journal::create(path, Frame::around(&begun, LIST))?;
                Some((journal, begun))
            }
            None => None,
        };
        Ok(Keeper { kept })
    }
}

impl Keeper {
    /// Keeps what is known of a program that is being observed.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn keep_observed(
        &mut self,
        program: usize,
        observed: &Observed,
    ) -> Result<(), MeasureError> {
        let Some((journal, record)) = &mut self.kept else {
            return Ok(());
        };
        record.programs[program].ran = observed.ran.clone();
        record.traces.retain(|trace| trace.program != program);
        record.traces.push(observed.trace.clone());
        journal.update(None::<&StartupRun>, Frame::around(record, LIST))
    }
}

impl startup::Keeper for Keeper {
    fn keep(&mut self, run: &StartupRun, watching_cpus: &[usize]) -> Result<(), MeasureError> {
        let Some((journal, record)) = &mut self.kept else {
            return Ok(());
        };
        record.conditions.rounds = run.round + 1;
        record.conditions.watching_cpus = watching_cpus.to_vec();
        journal.update(Some(run), Frame::around(record, LIST))
    }
}
