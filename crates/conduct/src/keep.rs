//! Saves measurements; this is the only module that writes them to the store.
//!
//! Every verb that measures does the same three things:
//!
//! 1. Before measuring, it calls [`KeepPlan::keeper`], which determines the store, if any, and the state of
//!    the source about to be measured. An invalid store address is refused here.
//! 2. Afterwards, it calls [`Keeper::keep`] with the whole record. The record is saved, or else written to a
//!    file, so that nothing is lost.
//! 3. It shows the result, [`Kept`] or [`NotSaved`], and exits with the status of the measurement.
//!
//! A verb that measures sources other than the folder it runs in takes [`Keeper::of`] for each. A new kind of
//! record needs a function in `extract` of `fathom_store` for its figures to go into series.
//!
//! Interrupted measurements are not saved, because their figures rest on fewer runs than requested.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fathom_store::git::{self, GitError};
pub use fathom_store::location::WORK_ONLY;
use fathom_store::location::{self, Location};
use fathom_store::{Draft, Error, Options, Revision, Store, save_or_keep, variables};
use serde::Serialize;

/// When to save a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Save {
    /// Save if the folder is in a project.
    #[default]
    InProject,
    /// Always save, whether in a project or not.
    Always,
    /// Never save.
    Never,
}

/// Whether and where to save records.
#[derive(Debug, Clone, Default)]
pub struct KeepPlan {
    /// When to save.
    pub save: Save,
    /// The store, as given to `--store`; if absent, [`location::which`] decides.
    pub store: Option<String>,
    /// The labels to add to the record.
    pub labels: Vec<String>,
}

impl KeepPlan {
    /// Returns the keeper for records measured in `here`; `None` if they are not to be saved.
    ///
    /// # Errors
    /// An invalid address or label, or no place for a store.
    pub fn keeper(&self, here: &Path) -> Result<Option<Keeper>, Error> {
        let project = location::project(here, location::look);
        if self.save == Save::Never || (self.save == Save::InProject && project.is_none()) {
            return Ok(None);
        }
        for label in &self.labels {
            check_label(label)?;
        }
        let location = location::which(self.store.as_deref(), project.as_deref(), variables::get)?;
        let (revision, notes) = source(here, !self.labels.is_empty());
        let mut beside = vec![here.to_path_buf(), std::env::temp_dir()];
        beside.splice(0..0, project);
        Ok(Some(Keeper {
            here: here.to_path_buf(),
            location,
            labels: self.labels.clone(),
            revision,
            notes,
            beside,
        }))
    }
}

/// Returns the suite of the project that contains `here`: `fathom.toml` next to its `.fathom/`, or in `here`.
pub fn suite(here: &Path) -> Option<PathBuf> {
    let project = location::project(here, location::look);
    let root = project.as_deref().and_then(Path::parent);
    let places = root.into_iter().chain([here]);
    let mut suites = places.map(|folder| folder.join(crate::init::SUITE));
    suites.find(|suite| suite.is_file())
}

/// Checks that a label can be used in a query.
///
/// # Errors
/// [`Error::Label`], if it can't.
pub fn check_label(label: &str) -> Result<(), Error> {
    let why = match label {
        "" => "it is empty",
        place if place.starts_with("@-") => "`@-1` means the last record saved",
        text if text.trim() != text || text.chars().any(char::is_control) => {
            "it begins or ends with spaces, or contains control characters"
        }
        _ => return Ok(()),
    };
    Err(Error::Label {
        label: label.to_owned(),
        why: why.to_owned(),
    })
}

/// Returns the revision, and notes about it for the user. If there are labels, no repository is needed.
fn source(here: &Path, labelled: bool) -> (Option<Revision>, Vec<String>) {
    match git::state(here) {
        Ok(state) => (state.revision(), state.notes()),
        Err(GitError::NoGit | GitError::NoRepository(_)) if labelled => (None, Vec::new()),
        Err(error) => (None, vec![error.to_string()]),
    }
}

/// Saves records.
#[derive(Debug, Clone)]
pub struct Keeper {
    /// A folder in the repository whose revisions are measured, if there is one.
    here: PathBuf,
    location: Location,
    labels: Vec<String>,
    revision: Option<Revision>,
    notes: Vec<String>,
    beside: Vec<PathBuf>,
}

/// A saved record.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Its id; the first twelve digits are enough to display.
    pub id: String,
    /// The address of the store, without its password.
    pub store: String,
    /// Notes for the user about the clock and the repository, one sentence each.
    pub notes: Vec<String>,
}

/// A record that could not be saved. Its `Display` says why, where the record is now, and what to type.
#[derive(Debug, thiserror::Error)]
pub enum NotSaved {
    /// The record was written to a file instead.
    #[error(transparent)]
    Beside(#[from] fathom_store::Kept),
    /// The record is not one that a store accepts.
    #[error("not saved: {0}")]
    NoRecord(#[from] Error),
}

impl Keeper {
    /// Returns the location of the store.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns a keeper for measurements of a revision other than that of the files here.
    pub fn at(&self, revision: Option<Revision>) -> Keeper {
        Keeper {
            revision,
            notes: Vec::new(),
            ..self.clone()
        }
    }

    /// Like [`Keeper::at`], with an additional label. A label that could never be used in a query is omitted.
    pub fn of(&self, revision: Option<Revision>, label: &str) -> Keeper {
        let mut keeper = Keeper {
            notes: self.notes.clone(),
            ..self.at(revision)
        };
        if check_label(label).is_ok() && !keeper.labels.iter().any(|known| known == label) {
            keeper.labels.push(label.to_owned());
        }
        keeper
    }

    /// Saves a record; it is durable when this function returns. If it can't be saved, it is written to a
    /// file.
    ///
    /// # Errors
    /// [`NotSaved`].
    pub fn keep(&self, record: &impl Serialize) -> Result<Kept, NotSaved> {
        let mut draft = self.draft(record)?;
        self.place(std::slice::from_mut(&mut draft));
        let saved = save_or_keep(&self.location, Options::default(), &draft, &self.beside)?;
        let warnings = saved.warnings.iter().map(ToString::to_string);
        Ok(Kept {
            id: saved.id,
            store: self.location.to_string(),
            notes: warnings.chain(self.notes.clone()).collect(),
        })
    }

    /// Saves the records of an import, all or none, and returns their ids. Nothing is written to files,
    /// because the source files still exist. The records may be older than those already saved.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn keep_all(&self, records: &[impl Serialize]) -> Result<Vec<String>, Error> {
        let drafts: Result<Vec<Draft>, Error> = records.iter().map(|one| self.draft(one)).collect();
        let mut drafts = drafts?;
        self.place(&mut drafts);
        let mut store = Store::open_with(&self.location, Options::default())?;
        let saved = store.save_all(&drafts)?;
        Ok(saved.into_iter().map(|saved| saved.id).collect())
    }

    /// Returns notes for the user about the measured source, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Fills in the commit times, by which records are ordered, if the repository has the commits.
    fn place(&self, drafts: &mut [Draft]) {
        let revisions = drafts.iter().filter_map(|draft| draft.revision.as_ref());
        let revisions: HashSet<String> = revisions.map(|revision| revision.id.clone()).collect();
        if revisions.is_empty() {
            return;
        }
        let places = git::places(&self.here, &revisions).unwrap_or_default();
        for draft in drafts {
            let revision = draft.revision.as_ref();
            draft.committed = revision.and_then(|revision| places.get(&revision.id).copied());
        }
    }

    fn draft(&self, record: &impl Serialize) -> Result<Draft, Error> {
        let text =
            serde_json::to_string(record).map_err(|error| Error::NotARecord(error.to_string()))?;
        let mut draft = Draft::measured(text)?;
        draft.labels.clone_from(&self.labels);
        // An import may name the revision that was measured; otherwise it is that of the tree here.
        draft.revision = draft.revision.or_else(|| self.revision.clone());
        Ok(draft)
    }
}
