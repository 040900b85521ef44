//! A folder of experiments.

use std::path::{Path, PathBuf};

/// Returns the experiments of a folder: its subfolders with an `experiment.toml`, by name.
///
/// # Errors
/// If the folder can't be read.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("experiment.toml"))
        .filter(|file| file.is_file())
        .collect();
    all.sort();
    Ok(all)
}
