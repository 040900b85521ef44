//! The record on disk while it is measured, and the progress line.

use std::path::Path;

use fathom_diagnose::pipeline::summarize;
use fathom_measure::pipeline::{Kind, SoFar, Watcher};
use fathom_measure::{Frame, Journal, MeasureError};
use fathom_model::{PipeRecord, PipeRound};

use super::progress::Progress;
use crate::cli::write;

/// The list of the record that grows.
const LIST: &str = "rounds";

/// Draws, and keeps every run as soon as it has ended.
pub struct Keeper {
    /// The line on standard error.
    pub progress: Progress,
    /// The file, if one was asked for, and the record without its rounds.
    kept: Option<(Journal, PipeRecord)>,
}

impl Keeper {
    /// Begins the file with a record without runs.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn new(
        progress: Progress,
        path: Option<&Path>,
        begun: &PipeRecord,
    ) -> Result<Keeper, MeasureError> {
        let kept = match path.filter(|path| write::is_replaceable(path)) {
            Some(path) => {
                let journal = Journal::create(path, Frame::around(begun, LIST))?;
                Some((journal, begun.clone()))
            }
            None => None,
        };
        Ok(Keeper { progress, kept })
    }
}

impl Keeper {
    /// Keeps an observed round.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn keep_observed(&mut self, late: bool, round: &PipeRound) -> Result<(), MeasureError> {
        let Some((journal, record)) = &mut self.kept else {
            return Ok(());
        };
        match (late, &mut record.delayed) {
            (true, Some(delayed)) => delayed.explained.push(round.clone()),
            (true, None) => {}
            (false, _) => record.explained.push(round.clone()),
        }
        journal.update(None::<&PipeRound>, Frame::around(record, LIST))
    }
}

impl Watcher for Keeper {
    fn starts(&mut self, round: u32, kind: Kind) {
        self.progress.starts(round, kind);
    }

    fn made(&mut self, kind: Kind, so_far: &SoFar<'_>) -> Result<(), MeasureError> {
        let Some((journal, record)) = &mut self.kept else {
            return Ok(());
        };
        let stages = record.stages.len();
        record.alone = so_far.alone.to_vec();
        record.staged = so_far.staged.to_vec();
        record.summary = summarize(so_far.rounds, so_far.alone, stages);
        if let Some(delayed) = &mut record.delayed {
            delayed.rounds = so_far.delayed.to_vec();
            delayed.summary = summarize(so_far.delayed, &[], stages);
        }
        let round = match kind {
            Kind::Live => so_far.rounds.last(),
            Kind::First | Kind::Delayed | Kind::Alone(_) => None,
        };
        journal.update(round, Frame::around(record, LIST))
    }
}
