//! Options of every verb that measures: whether the record is saved, where, and under which label.

use clap::Args;
use fathom_conduct::keep::{KeepPlan, Keeper, Save};
use fathom_conduct::versions;
use fathom_model::VersionsRecord;
use fathom_report::escape;
use fathom_store::{Location, Revision, git};
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::out::say;

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What is kept")]
pub(super) struct SaveOptions {
    /// Save the record in the store, even outside a project
    #[arg(long, overrides_with = "no_save")]
    pub save: bool,

    /// Don't save the record
    #[arg(long, overrides_with = "save")]
    pub no_save: bool,

    /// Save it in this store: a file, or postgres://USER@HOST/DATABASE (default: FATHOM_STORE, else the
    /// project's .fathom/, else your personal store)
    #[arg(long, value_name = "PATH|URL")]
    pub store: Option<String>,

    /// Save it under this name, such as a version. May be repeated
    #[arg(long, value_name = "NAME")]
    pub label: Vec<String>,
}

impl SaveOptions {
    /// Returns the saver for the records measured here.
    ///
    /// # Errors
    /// An invalid store address or label.
    pub(super) fn saver(&self) -> Result<Saver, Failure> {
        Ok(Saver {
            keeper: self.keeper()?,
            notes: Vec::new(),
            saved: Vec::new(),
            // A job's records reach the store through the store of its attempt.
            quiet: fathom_fleet::attempt().is_some(),
        })
    }

    /// Returns where and under which labels to save; `None` if nothing is saved. In a job, this is the
    /// attempt's own store.
    ///
    /// # Errors
    /// An invalid store address or label.
    pub(super) fn keeper(&self) -> Result<Option<Keeper>, Failure> {
        let plan = KeepPlan {
            save: match self {
                _ if self.no_save => Save::Never,
                // A store or a label implies `--save`.
                _ if self.save || self.store.is_some() || !self.label.is_empty() => Save::Always,
                _ => Save::InProject,
            },
            store: of_attempt().or_else(|| self.store.clone()),
            labels: self.label.clone(),
        };
        let here = std::env::current_dir().unwrap_or_default();
        let keeper = plan.keeper(&here);
        keeper.map_err(|error| Failure::Usage(error.to_string()))
    }
}

fn of_attempt() -> Option<String> {
    let store = fathom_conduct::fleet::store_of(fathom_fleet::attempt()?);
    store.to_str().map(str::to_owned)
}

/// Saves records. Reports once where they were saved, at the latest when it is dropped.
#[derive(Debug)]
pub(super) struct Saver {
    keeper: Option<Keeper>,
    notes: Vec<String>,
    /// Ids of the saved records.
    saved: Vec<String>,
    quiet: bool,
}

impl Saver {
    /// Sets whether only essential messages are printed.
    pub(super) fn quiet(mut self, quiet: bool) -> Saver {
        self.quiet |= quiet;
        self
    }

    /// Saves a record. If that fails, it is written to a file nearby and the measurement ends normally.
    /// `whole` is false for the record of an interrupted measurement, which is not saved.
    pub(super) fn save(&mut self, record: &impl Serialize, whole: bool) {
        if let Some(keeper) = self.keeper.clone() {
            self.save_by(&keeper, record, whole);
        }
    }

    /// Returns the number of saved records.
    pub(super) fn saved(&self) -> usize {
        self.saved.len()
    }

    /// Returns the id of the record that was saved last.
    pub(super) fn last(&self) -> Option<&str> {
        self.saved.last().map(String::as_str)
    }

    /// Saves a record that was measured from the revision `id`, not from the files in the working tree.
    pub(super) fn save_revision(&mut self, id: &str, record: &impl Serialize, whole: bool) {
        if let Some(keeper) = &self.keeper {
            let keeper = keeper.at(Some(Revision {
                id: id.to_owned(),
                branch: None,
                dirty: false,
            }));
            self.save_by(&keeper, record, whole);
        }
    }

    /// Saves each measured version as a separate record of its revision, under its name. The versions can
    /// then be compared and followed as if each had been measured when it was current.
    pub(super) fn save_versions(&mut self, record: &VersionsRecord, benchmark: &str) {
        let Some(keeper) = self.keeper.clone() else {
            return;
        };
        let here = std::env::current_dir().unwrap_or_default();
        for one in versions::records(record, benchmark) {
            // `HEAD` or a branch will mean a different revision tomorrow; a tag or an installed version stays
            // the same.
            let tag = || git::resolve(&here, &format!("refs/tags/{}", one.label));
            let keeper = match one.revision {
                Some(revision) if tag().is_err() => keeper.at(Some(revision)),
                revision => keeper.of(revision, &one.label),
            };
            self.save_by(&keeper, &one.record, record.complete);
        }
    }

    fn save_by(&mut self, keeper: &Keeper, record: &impl Serialize, whole: bool) {
        if !whole {
            self.note("not saved: the measurement was interrupted".to_owned());
            return;
        }
        match keeper.keep(record) {
            Ok(kept) => {
                self.saved.push(kept.id);
                kept.notes.into_iter().for_each(|note| self.note(note));
            }
            Err(error) => {
                for line in error.to_string().lines() {
                    say!("warning: {}", escape(line));
                }
            }
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        for note in &self.notes {
            say!("note: {}", escape(note));
        }
        let Some(keeper) = self.keeper.as_ref().filter(|_| !self.quiet) else {
            return;
        };
        let store = escape(&shown(keeper.location()));
        match self.saved.as_slice() {
            [] => {}
            [id] => say!("saved as {} in {store}", &id[..12]),
            several => say!("{} records saved in {store}", several.len()),
        }
    }
}

/// Returns the place of a store for display: relative if it is below the current folder.
pub(super) fn shown(location: &Location) -> String {
    if let (Location::File(path), Ok(here)) = (location, std::env::current_dir())
        && let Ok(below) = path.strip_prefix(&here)
    {
        return below.display().to_string();
    }
    location.to_string()
}
