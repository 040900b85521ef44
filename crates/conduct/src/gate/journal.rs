//! Records what a gate measured in a job, so that the next attempt on the same node can continue where this
//! one was ended.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use fathom_measure::MeasureError;
use fathom_model::Run;
use serde::{Deserialize, Serialize};

use super::GatePlan;
use crate::bench::has_changed;
use crate::fingerprint;

/// The file in an attempt's folder. Its first line describes what is compared, and each other line is a
/// [`Rounds`].
const NAME: &str = "gate.jsonl";

/// Rounds that were made in one batch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// The time from the start of the measurement to the end of these rounds.
    pub(super) elapsed: Duration,
    pub(super) runs: Vec<Run>,
}

/// The journal of an attempt. Outside of a job it records nothing.
#[derive(Debug, Default)]
pub(super) struct Journal {
    file: Option<(PathBuf, File)>,
    /// Rounds that an earlier attempt measured and that this one hasn't requested yet.
    earlier: VecDeque<Rounds>,
}

impl Journal {
    /// Opens the journal of this attempt, and reads those of earlier ones.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub(super) fn open(plan: &GatePlan) -> Result<Journal, MeasureError> {
        let is_of_commands = plan.folders.is_empty();
        // It is unknown whether a working tree with edits will still have the same edits later.
        let is_known = is_of_commands || plan.head.revision.is_some();
        let Some(attempt) = fathom_fleet::attempt().filter(|_| is_known) else {
            return Ok(Journal::default());
        };
        let benchmarks = plan.targets.iter();
        let benchmarks = benchmarks.flat_map(|one| [&one.base, &one.twin, &one.head]);
        let benchmarks: Vec<_> = benchmarks.map(|one| &one.benchmark).collect();
        let environment = fingerprint::lasting(&fingerprint::environment());
        let version = env!("CARGO_PKG_VERSION");
        let about = (version, &plan.base, &plan.head, &benchmarks, environment);
        let about = serde_json::to_string(&about).expect("plain types have a JSON form");
        let read = |folder: &PathBuf| {
            let path = folder.join(NAME);
            let text = fs::read_to_string(&path).ok()?;
            let mut lines = text.lines();
            if lines.next() != Some(about.as_str()) {
                return None;
            }
            // The last line may be truncated.
            let all = lines.map_while(|line| serde_json::from_str(line).ok());
            let all: VecDeque<Rounds> = all.collect();
            let written = fs::metadata(&path).and_then(|about| about.modified());
            let changed = |at: SystemTime| {
                is_of_commands && has_changed(benchmarks.iter().copied(), at, runs(&all))
            };
            (!changed(written.ok()?)).then_some(all)
        };
        let earlier = attempt.earlier.iter().filter_map(read);
        let earlier = earlier.max_by_key(VecDeque::len).unwrap_or_default();
        let path = attempt.folder.join(NAME);
        let mut journal = Journal {
            file: File::create(&path)
                .map(|file| Some((path.clone(), file)))
                .map_err(|error| MeasureError::Journal { path, error })?,
            earlier,
        };
        journal.write(&about)?;
        Ok(journal)
    }

    /// Returns all runs of the earlier attempt.
    pub(super) fn runs(&self) -> Vec<Run> {
        runs(&self.earlier).cloned().collect()
    }

    /// Returns the next rounds of the earlier attempt if it measured the wanted targets in the same rounds.
    /// After the first difference it always returns `None`.
    pub(super) fn next(&mut self, mut wanted: Vec<(u32, usize)>) -> Option<Rounds> {
        let next = self.earlier.pop_front()?;
        let made = next.runs.iter().map(|run| (run.round, run.benchmark));
        let mut made: Vec<_> = made.collect();
        made.sort_unstable();
        wanted.sort_unstable();
        if made == wanted {
            return Some(next);
        }
        self.earlier.clear();
        None
    }

    /// Records rounds that were made in one batch.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub(super) fn keep(&mut self, elapsed: Duration, runs: &[Run]) -> Result<(), MeasureError> {
        if self.file.is_none() {
            return Ok(());
        }
        let rounds = Rounds {
            elapsed,
            runs: runs.to_vec(),
        };
        self.write(&serde_json::to_string(&rounds).expect("plain types have a JSON form"))
    }

    fn write(&mut self, line: &str) -> Result<(), MeasureError> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        file.write_all(format!("{line}\n").as_bytes())
            .map_err(|error| MeasureError::Journal {
                path: path.clone(),
                error,
            })
    }
}

fn runs(rounds: &VecDeque<Rounds>) -> impl Iterator<Item = &Run> {
    rounds.iter().flat_map(|one| &one.runs)
}
