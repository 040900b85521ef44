//! Jobs on other machines: a verb is submitted to an existing engine, such as Slurm, and its result is read
//! from files that both sides can reach.
//!
//! The engine only has to start a script, list its jobs, and cancel a job ([`Engine`]). Everything else is in
//! the folder of a [`Group`]: the plan, each attempt with its output, and one result for each job. The folder
//! stays correct if an engine forgets jobs, starts one twice or loses a node.

mod engine;
mod files;
mod group;
mod plan;
mod step;

pub use engine::{Engine, Place};
pub use group::{Attempt, Group, Progress, groups};
pub use plan::{Asked, Part, Submission, submissions};
pub use step::{
    ATTEMPT, Attempted, RECORD, Step, Unfit, attempt, file, of_this_process, parts_of_this_process,
    within,
};

/// Errors of submitting, following or reading jobs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error on a file in the group's folder.
    #[error("can't {what} {}: {error}", path.display())]
    File {
        /// The failed operation: `read`, `write`.
        what: &'static str,
        /// The file.
        path: std::path::PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// A command of the engine can't be started, or failed.
    #[error("{program}: {why}")]
    Engine {
        /// The engine's program.
        program: String,
        /// The cause, in the engine's own words.
        why: String,
    },
    /// A template of the engine is missing, or has an unknown placeholder.
    #[error("[fleet] {key}: {why}")]
    Template {
        /// The configuration key of the template.
        key: &'static str,
        /// What is wrong with it.
        why: String,
    },
}
