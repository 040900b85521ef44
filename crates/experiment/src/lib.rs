//! Experiment files: what is run, how it is measured, and what is claimed about it.
//!
//! | question | where |
//! |---|---|
//! | What does the file contain, and which lines have problems? | [`mod@file`], [`check`] |
//! | Which commands would be run? | [`plan`], [`resolve`], [`sweep`] |
//! | Is everything available that is needed? | [`prepare`] |
//! | What are the results of measuring? | [`run`], [`results`], [`state`] |
//! | Does a claim hold? | [`expression`], [`mod@unit`], [`verdict`] |
//! | Which benchmarks do two trees have in common, and which regressions are limited? | [`mod@gate`] |
//! | All of it | [`session`], [`read`] |

pub mod catalogue;
pub mod check;
pub mod expression;
pub mod file;
pub mod gate;
pub mod metrics;
pub mod plan;
pub mod prepare;
pub mod resolve;
pub mod results;
pub mod run;
pub mod select;
pub mod session;
pub mod state;
pub mod sweep;
pub mod unit;
pub mod unpacked;
pub mod verdict;
pub mod waiver;

use std::path::Path;

pub use file::experiment::Experiment;
pub use file::problem::{FileError, did_you_mean};

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be opened.
    #[error("can't read {}: {error}", path.display())]
    Io {
        /// The path of the file.
        path: std::path::PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// The content of the file is invalid.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Returns the file for a path: the path itself, or `experiment.toml` in a folder.
pub fn file_of(path: &Path) -> std::path::PathBuf {
    match path.is_dir() {
        true => path.join("experiment.toml"),
        false => path.to_path_buf(),
    }
}

/// Reads and checks an experiment without running anything.
///
/// # Errors
/// [`ReadError`].
pub fn read(path: &Path) -> Result<Experiment, ReadError> {
    let path = file_of(path);
    let text = std::fs::read_to_string(&path).map_err(|error| ReadError::Io {
        path: path.clone(),
        error,
    })?;
    let experiment = file::parse::parse(&path, &text)?;
    check::check(&experiment)?;
    Ok(experiment)
}
