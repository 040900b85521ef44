//! Experiment files: what is run, how it is measured, and what is claimed of it.
//!
//! | question | where |
//! |---|---|
//! | What does the file say, and what is wrong with it at which line? | [`mod@file`], [`check`] |
//! | Which commands would be run? | [`plan`], [`resolve`], [`sweep`] |
//! | Is everything there that is needed? | [`prepare`] |
//! | What came of measuring? | [`run`], [`results`], [`state`] |
//! | Does a claim hold? | [`expression`], [`mod@unit`], [`verdict`] |
//! | Which benchmarks have two trees in common, and what may not become worse? | [`mod@gate`] |
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
    /// It can't be opened.
    #[error("can't read {}: {error}", path.display())]
    Io {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Something in it is wrong.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The file that a path names: itself, or `experiment.toml` in a folder.
pub fn file_of(path: &Path) -> std::path::PathBuf {
    match path.is_dir() {
        true => path.join("experiment.toml"),
        false => path.to_path_buf(),
    }
}

/// Reads and checks an experiment. Nothing in it is run.
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
