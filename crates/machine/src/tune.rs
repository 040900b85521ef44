//! Changes settings as the check advises, and restores the former ones, even after a crash.
//!
//! The former values are written to the device before the first setting is changed. Needs root on a real
//! system. Layout randomisation is only ever turned on.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fathom_measure::Beside;
use serde::{Deserialize, Serialize};

/// Why settings were not changed or restored.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// An earlier state has not been restored yet; changing more would lose the original values.
    #[error("{0} holds settings that were not put back yet; restore them first")]
    NotRestored(PathBuf),
    /// There is nothing to restore.
    #[error("{0} does not exist: nothing was changed, or all was put back")]
    NothingToRestore(PathBuf),
    /// The state file is damaged.
    #[error("{path} can't be read as saved settings: {why}")]
    Damaged {
        /// The state file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}; settings need root")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// A setting and its former value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Path below the root, without a leading slash.
    pub path: PathBuf,
    /// Former value.
    pub before: String,
    /// Value advised by the check.
    pub after: String,
}

/// Returns the word in brackets of `always [madvise] never`, or the whole text.
fn chosen(text: &str) -> &str {
    text.split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
        .unwrap_or(text.trim())
}

/// Returns the settings below `root` that differ from the check's advice: governor of each CPU, turbo, layout
/// randomisation, compaction for huge pages. Changes nothing.
pub fn plan(root: &Path) -> Vec<Setting> {
    let mut wanted: Vec<(PathBuf, &str)> = Vec::new();
    let cpus = root.join("sys/devices/system/cpu");
    let mut names: Vec<String> = std::fs::read_dir(&cpus)
        .map(|entries| {
            entries
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    for name in names {
        let path = PathBuf::from(format!(
            "sys/devices/system/cpu/{name}/cpufreq/scaling_governor"
        ));
        wanted.push((path, "performance"));
    }
    for (path, value) in [
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
        ("sys/devices/system/cpu/cpufreq/boost", "0"),
        ("proc/sys/kernel/randomize_va_space", "2"),
    ] {
        wanted.push((PathBuf::from(path), value));
    }
    let defrag = PathBuf::from("sys/kernel/mm/transparent_hugepage/defrag");
    if std::fs::read_to_string(root.join(&defrag)).is_ok_and(|text| chosen(&text) == "always") {
        wanted.push((defrag, "defer+madvise"));
    }
    wanted
        .into_iter()
        .filter_map(|(path, after)| {
            let text = std::fs::read_to_string(root.join(&path)).ok()?;
            let before = chosen(&text).to_owned();
            (before != after).then(|| Setting {
                path,
                before,
                after: after.to_owned(),
            })
        })
        .collect()
}

/// Changes the settings of [`plan`] after writing their former values to `state`. On an error, settings that
/// were already changed are restored.
pub fn fix(root: &Path, state: &Path) -> Result<Vec<Setting>, TuneError> {
    if state.exists() {
        return Err(TuneError::NotRestored(state.to_owned()));
    }
    let settings = plan(root);
    if settings.is_empty() {
        return Ok(settings);
    }
    save(state, &settings)?;
    for setting in &settings {
        if let Err(error) = write(&root.join(&setting.path), &setting.after) {
            // The caller must get the first error; the state file stays if this fails.
            let _ = restore(root, state);
            return Err(error);
        }
    }
    Ok(settings)
}

/// Restores what [`fix`] changed, last first, and removes `state`. If one setting can't be restored, the
/// others are, and `state` stays.
pub fn restore(root: &Path, state: &Path) -> Result<Vec<Setting>, TuneError> {
    let text = match std::fs::read_to_string(state) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(TuneError::NothingToRestore(state.to_owned()));
        }
        Err(source) => {
            return Err(TuneError::Io {
                path: state.to_owned(),
                source,
            });
        }
    };
    let settings: Vec<Setting> =
        serde_json::from_str(&text).map_err(|error| TuneError::Damaged {
            path: state.to_owned(),
            why: error.to_string(),
        })?;
    let mut first_error = None;
    for setting in settings.iter().rev() {
        if let Err(error) = write(&root.join(&setting.path), &setting.before) {
            first_error.get_or_insert(error);
        }
    }
    if let Some(error) = first_error {
        return Err(error);
    }
    std::fs::remove_file(state).map_err(|source| TuneError::Io {
        path: state.to_owned(),
        source,
    })?;
    Ok(settings)
}

/// Writes the state under another name and renames it, so that it is either complete or missing.
fn save(state: &Path, settings: &[Setting]) -> Result<(), TuneError> {
    let io = |source| TuneError::Io {
        path: state.to_owned(),
        source,
    };
    let text = serde_json::to_string_pretty(settings).map_err(|error| io(error.into()))?;
    let mut new = Beside::create(state).map_err(io)?;
    new.file
        .write_all(text.as_bytes())
        .and_then(|()| new.file.sync_all())
        .and_then(|()| new.take_place())
        .map_err(io)?;
    let parent = state
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))
        .and_then(|dir| dir.sync_all())
        .map_err(io)
}

/// Writes a setting: kernel files are not created and accept the value in one write.
fn write(path: &Path, value: &str) -> Result<(), TuneError> {
    File::options()
        .write(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(|source| TuneError::Io {
            path: path.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::system;

    const GOVERNOR: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    const BOOST: &str = "sys/devices/system/cpu/cpufreq/boost";
    const DEFRAG: &str = "sys/kernel/mm/transparent_hugepage/defrag";

    fn laptop() -> tempfile::TempDir {
        let files = [
            (GOVERNOR, "powersave\n"),
            (BOOST, "1\n"),
            (DEFRAG, "[always] defer defer+madvise madvise never\n"),
            ("proc/sys/kernel/randomize_va_space", "2\n"),
        ];
        system(&files).0
    }

    fn read(root: &Path, path: &str) -> String {
        std::fs::read_to_string(root.join(path))
            .unwrap()
            .trim()
            .to_owned()
    }

    #[test]
    fn all_is_put_back_by_another_process() {
        let root = laptop();
        let state = root.path().join("state.json");
        assert_eq!(fix(root.path(), &state).unwrap().len(), 3);
        assert_eq!(read(root.path(), GOVERNOR), "performance");
        assert_eq!(read(root.path(), BOOST), "0");
        // Only the state file is needed: this is the state after a crash.
        restore(root.path(), &state).unwrap();
        assert_eq!(read(root.path(), GOVERNOR), "powersave");
        assert_eq!(read(root.path(), BOOST), "1");
        assert_eq!(read(root.path(), DEFRAG), "always");
        assert!(!state.exists());
    }

    #[test]
    fn the_first_values_are_never_overwritten() {
        let root = laptop();
        let state = root.path().join("state.json");
        fix(root.path(), &state).unwrap();
        assert!(matches!(
            fix(root.path(), &state),
            Err(TuneError::NotRestored(_))
        ));
        restore(root.path(), &state).unwrap();
        assert!(matches!(
            restore(root.path(), &state),
            Err(TuneError::NothingToRestore(_))
        ));
    }

    #[test]
    fn without_a_place_for_the_state_nothing_is_changed() {
        let root = laptop();
        assert!(fix(root.path(), Path::new("/nonexistent/state.json")).is_err());
        assert_eq!(read(root.path(), GOVERNOR), "powersave");
    }

    #[test]
    fn a_damaged_state_is_told_and_kept() {
        let root = laptop();
        let state = root.path().join("state.json");
        std::fs::write(&state, "{").unwrap();
        assert!(matches!(
            restore(root.path(), &state),
            Err(TuneError::Damaged { .. })
        ));
        assert!(state.exists());
    }

    #[test]
    fn randomisation_is_only_ever_switched_on() {
        let (root, _) = system(&[("proc/sys/kernel/randomize_va_space", "0\n")]);
        let planned = plan(root.path());
        assert_eq!((planned.len(), planned[0].after.as_str()), (1, "2"));
    }
}
