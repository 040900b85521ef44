//! The finished part of an interrupted run, with which `--resume` continues.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_conduct::fingerprint::environment;
use fathom_measure::now_rfc3339;
use fathom_model::{Environment, MeasureResult};
use serde::{Deserialize, Serialize};

use crate::results::Results;

/// A finished measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The report of the measure.
    pub measure: MeasureResult,
    /// The results of the measure.
    pub results: Results,
    /// How often a set of rounds was started: once at first, and again for undecided claims.
    pub looks: u32,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The fingerprint of what the results depend on: the file, the version of Fathom, and `--quick`. Results
    /// with another fingerprint are not used.
    pub fingerprint: String,
    /// When the first measure was started, in RFC 3339 format.
    pub started_at: String,
    /// The machine at that time.
    pub environment: Environment,
    /// The result of the machine check before the first measure, if it was made.
    pub machine_check: Option<String>,
    /// Finished measures by id.
    pub done: BTreeMap<String, Done>,
}

impl State {
    /// Creates the state of a run that has finished nothing yet.
    pub fn new(fingerprint: String, machine_check: Option<String>) -> State {
        State {
            fingerprint,
            started_at: now_rfc3339(),
            environment: environment(),
            machine_check,
            done: BTreeMap::new(),
        }
    }

    /// Reads the state in a work folder, if its fingerprint is the same.
    pub fn read(work: &Path, fingerprint: &str) -> Option<State> {
        let text = std::fs::read_to_string(path(work)).ok()?;
        let state: State = serde_json::from_str(&text).ok()?;
        (state.fingerprint == fingerprint).then_some(state)
    }

    /// Writes the state atomically.
    ///
    /// # Errors
    /// If the work folder can't be written.
    pub fn write(&self, work: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        fathom_measure::write_whole(&path(work), text)
    }
}

fn path(work: &Path) -> PathBuf {
    work.join("state.json")
}
