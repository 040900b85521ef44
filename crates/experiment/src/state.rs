//! What an interrupted run has finished, so that `--resume` can go on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_conduct::fingerprint::environment;
use fathom_measure::now_rfc3339;
use fathom_model::{Environment, MeasureResult};
use serde::{Deserialize, Serialize};

use crate::results::Results;

/// A measure that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// What is reported of it.
    pub measure: MeasureResult,
    /// Its results.
    pub results: Results,
    /// How often its rounds were begun: once, and again where claims were undecided.
    pub looks: u32,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What the results are of: the file, the version of Fathom, `--quick`. Results of another are
    /// not used.
    pub fingerprint: String,
    /// When the first of them was begun, RFC 3339.
    pub started_at: String,
    /// The machine then.
    pub environment: Environment,
    /// What its check said before that, where it was checked.
    pub machine_check: Option<String>,
    /// Finished measures by id.
    pub done: BTreeMap<String, Done>,
}

impl State {
    /// Nothing done yet.
    pub fn new(fingerprint: String, machine_check: Option<String>) -> State {
        State {
            fingerprint,
            started_at: now_rfc3339(),
            environment: environment(),
            machine_check,
            done: BTreeMap::new(),
        }
    }

    /// The state in a work folder, if it is of the same file and set.
    pub fn read(work: &Path, fingerprint: &str) -> Option<State> {
        let text = std::fs::read_to_string(path(work)).ok()?;
        let state: State = serde_json::from_str(&text).ok()?;
        (state.fingerprint == fingerprint).then_some(state)
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// When the work folder can't be written.
    pub fn write(&self, work: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        fathom_measure::write_whole(&path(work), text)
    }
}

fn path(work: &Path) -> PathBuf {
    work.join("state.json")
}
