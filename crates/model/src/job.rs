//! The job that a record was made in.

use serde::{Deserialize, Serialize};

/// A job of an engine such as Slurm (`--on`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobRun {
    /// The engine's id.
    pub id: String,
    /// The node that it ran on, as the engine calls it.
    pub node: String,
    /// Always `completed`: no other job makes a record.
    pub state: String,
    /// Which attempt made the record, from 1.
    pub attempts: u32,
}
