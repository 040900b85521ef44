//! Keeps the record on disk during the measurement.

use std::path::Path;

use fathom_diagnose::pipeline::summarize;
use fathom_measure::pipeline::{Kind, SoFar, Watcher};
use fathom_measure::{Frame, Journal, MeasureError};
use fathom_model::{PipeRecord, PipeRound};

use crate::{Event, Observer, record_file};

/// The name of the list in the record that grows.
const LIST: &str = "rounds";

/// Writes every run as soon as it ends, and reports to the observer.
pub(super) struct Recorder<'o> {
    observer: &'o mut dyn Observer,
    /// The file, if requested, and the record without its rounds.
    kept: Option<(Journal, PipeRecord)>,
}

impl<'o> Recorder<'o> {
    /// Starts the file with a record without runs.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn new(
        observer: &'o mut dyn Observer,
        path: Option<&Path>,
        begun: &PipeRecord,
    ) -> Result<Recorder<'o>, MeasureError> {
        let kept = match path {
            Some(path) => {
                let journal = Journal::create(path, Frame::around(begun, LIST))?;
                Some((journal, begun.clone()))
            }
            None => None,
        };
        Ok(Recorder { observer, kept })
    }

    /// Reports that a round is about to be observed.
    pub(super) fn observes(&mut self, round: u32) {
        self.observer.on(Event::PipelineObserved(round));
    }

    /// Writes an observed round.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn keep_observed(
        &mut self,
        late: bool,
        round: &PipeRound,
    ) -> Result<(), MeasureError> {
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

    /// Replaces the file with the complete record.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn complete(self, record: &PipeRecord) -> Result<(), MeasureError> {
        match self.kept {
            Some((journal, _)) => record_file::complete(journal, record),
            None => Ok(()),
        }
    }
}

impl Watcher for Recorder<'_> {
    fn starts(&mut self, round: u32, kind: Kind) {
        self.observer.on(Event::PipelineStarts(round, kind));
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
