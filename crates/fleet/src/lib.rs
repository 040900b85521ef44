//! Jobs on other machines: a verb is handed to an engine that exists, such as Slurm, and its result is read
//! from files that both sides can reach.
//!
//! Nothing is asked of the engine but to start a script, to list the jobs that it has, and to end one
//! ([`Engine`]). All else stands in the folder of a [`Group`]: the plan, each attempt with its
//! output, and one result for each job. An engine that forgets jobs, starts one twice or loses a node
//! changes nothing about what is in the folder.

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

/// What keeps jobs from being handed over, followed or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the group's folder.
    #[error("can't {what} {}: {error}", path.display())]
    File {
        /// What was tried: `read`, `write`.
        what: &'static str,
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// A command of the engine can't be started, or refused.
    #[error("{program}: {why}")]
    Engine {
        /// Its program.
        program: String,
        /// Why, in the engine's own words.
        why: String,
    },
    /// A template of the engine is missing, or has a placeholder that nothing fills.
    #[error("[fleet] {key}: {why}")]
    Template {
        /// The key.
        key: &'static str,
        /// What is wrong.
        why: String,
    },
}
