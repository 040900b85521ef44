//! The folders in which a run keeps its builds, inputs and records.

use std::path::{Path, PathBuf};

use fathom_conduct::keep;

use super::RunError;
use crate::file::experiment::Experiment;
use crate::resolve::Folders;

/// Returns the folder for the runs of a file: `.fathom/NAME` next to it.
pub fn default_work(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new("."));
    let name = file.file_stem().unwrap_or_default();
    folder.join(".fathom").join(name)
}

/// Returns the folders of a run as absolute paths.
///
/// # Errors
/// If the current directory is unknown.
pub fn folders(experiment: &Experiment, work: &Path) -> Result<Folders, RunError> {
    let failed = |error| RunError::Work {
        path: work.to_path_buf(),
        error,
    };
    let absolute = |path: &Path| std::path::absolute(path).map_err(failed);
    let here = experiment.path.parent().unwrap_or(Path::new("."));
    let here = match here.as_os_str().is_empty() {
        true => Path::new("."),
        false => here,
    };
    Ok(Folders {
        here: absolute(here)?.components().collect(),
        work: absolute(work)?.components().collect(),
    })
}

/// Creates the work folder and locks it, so that two runs don't mix.
pub(crate) fn ready(folders: &Folders, resume: bool) -> Result<std::fs::File, RunError> {
    let failed = |error| RunError::Work {
        path: folders.work.clone(),
        error,
    };
    let made = !folders.work.parent().is_some_and(Path::exists);
    std::fs::create_dir_all(&folders.work).map_err(failed)?;
    if let Some(parent) = folders.work.parent()
        && parent.file_name().is_some_and(|name| name == ".fathom")
        && !parent.join(".gitignore").exists()
    {
        // Results aren't source files, and this folder wasn't created as a project's folder.
        std::fs::write(parent.join(".gitignore"), "*\n").map_err(failed)?;
        if made {
            let word = "Created by `fathom run`, which uses this folder only for its own files. If this file is deleted, \
                 measurements made here are saved in this folder.\n";
            std::fs::write(parent.join(keep::WORK_ONLY), word).map_err(failed)?;
        }
    }
    let lock = std::fs::File::create(folders.work.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => {
            return Err(failed(std::io::Error::other(
                "another run is using it; wait for that run to finish, or give this one its own folder with --work",
            )));
        }
        Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
    }
    if !resume {
        match std::fs::remove_file(folders.work.join("state.json")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            _ => {}
        }
        for folder in ["records", "logs"] {
            let path = folders.work.join(folder);
            if path.exists() {
                std::fs::remove_dir_all(&path).map_err(failed)?;
            }
        }
    }
    for folder in ["records", "logs", "inputs", "outputs"] {
        std::fs::create_dir_all(folders.work.join(folder)).map_err(failed)?;
    }
    Ok(lock)
}
