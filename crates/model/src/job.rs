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
    /// Always `completed`: jobs in other states make no record.
    pub state: String,
    /// The number of the attempt that made the record, from 1.
    pub attempts: u32,
}

/// The list that `fathom jobs` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobsRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `jobs`.
    #[cfg_attr(test, schemars(extend("const" = "jobs")))]
    pub kind: String,
    /// The jobs whose results haven't been shown before, oldest first.
    pub jobs: Vec<Job>,
}

/// A job that was submitted with `--on`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Job {
    /// The folder of all jobs that one command submitted.
    pub folder: String,
    /// The command; secrets are redacted.
    pub command: Vec<String>,
    /// The name of the engine.
    pub engine: String,
    /// The engine's id of the newest submission.
    pub id: Option<String>,
    /// The part of the request that this job runs: an experiment, a benchmark, or versions.
    pub part: Option<String>,
    /// The required machine features, in the engine's words.
    pub constraint: Option<String>,
    /// The state of the job.
    pub state: JobState,
    /// The engine's word for the state, or the reason why the job waits or was given up.
    pub detail: Option<String>,
    /// The node on which the job was last started.
    pub node: Option<String>,
    /// The exit code of the command, once it has ended.
    pub exit: Option<i32>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// The engine has the job.
    HandedOver,
    /// The engine does not respond, or the job is being resubmitted.
    Waiting,
    /// The job has a result.
    Ended,
    /// The job has no result, and there won't be one.
    GivenUp,
    /// The user cancelled the job.
    Cancelled,
}
