//! The job that a record was made in, and the list of jobs.

use serde::{Deserialize, Serialize};

/// A job of an engine such as Slurm (`--on`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobRun {
    /// The engine's id.
    pub id: String,
    /// The node on which it ran, as named by the engine.
    pub node: String,
    /// Always `completed`: other jobs make no record.
    pub state: String,
    /// The attempt that made the record, from 1.
    pub attempts: u32,
}

/// What `fathom jobs` lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobsRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `jobs`.
    #[cfg_attr(test, schemars(extend("const" = "jobs")))]
    pub kind: String,
    /// The jobs whose results were not shown before, oldest first.
    pub jobs: Vec<Job>,
}

/// A job that was handed over with `--on`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Job {
    /// The folder of all jobs that one command handed over.
    pub folder: String,
    /// The command; secrets are redacted.
    pub command: Vec<String>,
    /// Name of the engine.
    pub engine: String,
    /// The engine's id of the newest submission.
    pub id: Option<String>,
    /// The part of what was asked for: an experiment, a benchmark, versions.
    pub part: Option<String>,
    /// What the machine must have, in the engine's words.
    pub constraint: Option<String>,
    /// Where it stands.
    pub state: JobState,
    /// The engine's word for its state, or why it waits or was given up.
    pub detail: Option<String>,
    /// The node on which it was started last.
    pub node: Option<String>,
    /// The exit code of the command, once it has ended.
    pub exit: Option<i32>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// The engine has it.
    HandedOver,
    /// The engine does not answer, or the job is handed over again.
    Waiting,
    /// It has a result.
    Ended,
    /// It has none, and none will come.
    GivenUp,
    /// The user ended it.
    Cancelled,
}
