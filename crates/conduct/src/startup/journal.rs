//! Keeps the record on disk during the measurement.

use std::path::Path;

use fathom_diagnose::startup::Observed;
use fathom_measure::startup::Keeper;
use fathom_measure::{Frame, Journal, MeasureError};
use fathom_model::{StartupRecord, StartupRun};

use crate::record_file;

/// The list in the record that grows.
const LIST: &str = "runs";

/// Writes every run as soon as it ends.
pub(super) struct Recorder {
    /// The file, if requested, and the record without its runs.
    kept: Option<(Journal, StartupRecord)>,
}

impl Recorder {
    /// Starts the file with a record without runs.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn new(path: Option<&Path>, begun: StartupRecord) -> Result<Recorder, MeasureError> {
        let kept = match path {
            Some(path) => {
                let journal = Journal::create(path, Frame::around(&begun, LIST))?;
                Some((journal, begun))
            }
            None => None,
        };
        Ok(Recorder { kept })
    }

    /// Writes what is known so far about a program under observation.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn keep_observed(
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

    /// Replaces the file with the complete record.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn complete(self, record: &StartupRecord) -> Result<(), MeasureError> {
        match self.kept {
            Some((journal, _)) => record_file::complete(journal, record),
            None => Ok(()),
        }
    }
}

impl Keeper for Recorder {
    fn keep(&mut self, run: &StartupRun, watching_cpus: &[usize]) -> Result<(), MeasureError> {
        let Some((journal, record)) = &mut self.kept else {
            return Ok(());
        };
        record.conditions.rounds = run.round + 1;
        record.conditions.watching_cpus = watching_cpus.to_vec();
        journal.update(Some(run), Frame::around(record, LIST))
    }
}
