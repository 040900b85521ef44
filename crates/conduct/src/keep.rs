//! Keeping: the one door through which what was measured goes into the store.
//!
//! Every verb that measures does the same three things:
//!
//! 1. Before anything is measured, [`KeepPlan::keeper`]: which store, if any, and the state of the
//!    source, which is that of what is about to be measured. An invalid store address is refused
//!    here.
//! 2. Afterwards, [`Keeper::keep`] with the record, whole. It is saved, or written beside: nothing
//!    is lost.
//! 3. It shows what came of it, [`Kept`] or [`NotSaved`], and exits as the measurement would.
//!
//! A verb that measures other sources than the folder it runs in takes [`Keeper::of`] for each. For
//! figures of a new kind of record to go into series, `extract` of `fathom_store` needs a function.
//!
//! What was interrupted is not saved: its figures rest on fewer runs than were asked for.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fathom_store::git::{self, GitError};
pub use fathom_store::location::WORK_ONLY;
use fathom_store::location::{self, Location};
use fathom_store::{Draft, Error, Options, Revision, Store, save_or_keep, variables};
use serde::Serialize;

/// When a record is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Save {
    /// In a project.
    #[default]
    InProject,
    /// In a project or not.
    Always,
    /// Not.
    Never,
}

/// What is to be kept, and where.
#[derive(Debug, Clone, Default)]
pub struct KeepPlan {
    /// Whether.
    pub save: Save,
    /// The store as `--store` names it; else [`location::which`] decides.
    pub store: Option<String>,
    /// Labels for the record.
    pub labels: Vec<String>,
}

impl KeepPlan {
    /// Who keeps the records of what is measured in `here`; `None` if nobody is to.
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

/// The suite of the project that `here` is in: `fathom.toml` beside its `.fathom/`, or in `here`.
pub fn suite(here: &Path) -> Option<PathBuf> {
    let project = location::project(here, location::look);
    let root = project.as_deref().and_then(Path::parent);
    let places = root.into_iter().chain([here]);
    let mut suites = places.map(|folder| folder.join(crate::init::SUITE));
    suites.find(|suite| suite.is_file())
}

/// Refuses what could never be asked for again.
///
/// # Errors
/// [`Error::Label`].
pub fn check_label(label: &str) -> Result<(), Error> {
    let why = match label {
        "" => "it is empty",
        place if place.starts_with("@-") => "`@-1` means the record that was saved last",
        text if text.trim() != text || text.chars().any(char::is_control) => {
            "it has blanks at its ends, or control characters"
        }
        _ => return Ok(()),
    };
    Err(Error::Label {
        label: label.to_owned(),
        why: why.to_owned(),
    })
}

/// The revision, and what a user must know of it. Who has labels needs no repository.
fn source(here: &Path, labelled: bool) -> (Option<Revision>, Vec<String>) {
    match git::state(here) {
        Ok(state) => (state.revision(), state.notes()),
        Err(GitError::NoGit | GitError::NoRepository(_)) if labelled => (None, Vec::new()),
        Err(error) => (None, vec![error.to_string()]),
    }
}

/// Who keeps records.
#[derive(Debug, Clone)]
pub struct Keeper {
    /// In the repository whose revisions are measured, if there is one.
    here: PathBuf,
    location: Location,
    labels: Vec<String>,
    revision: Option<Revision>,
    notes: Vec<String>,
    beside: Vec<PathBuf>,
}

/// A record that was saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Its id; twelve digits are enough for people.
    pub id: String,
    /// The store, without its password.
    pub store: String,
    /// What must be known, a sentence each: of the clock, of the repository.
    pub notes: Vec<String>,
}

/// A record that could not be saved. Its `Display` says why, where it is now, and what to type.
#[derive(Debug, thiserror::Error)]
pub enum NotSaved {
    /// It is written beside.
    #[error(transparent)]
    Beside(#[from] fathom_store::Kept),
    /// It is not a record that a store takes.
    #[error("not saved: {0}")]
    NoRecord(#[from] Error),
}

impl Keeper {
    /// The store that is meant.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The same for what was measured of another revision than that of the files here.
    pub fn at(&self, revision: Option<Revision>) -> Keeper {
        Keeper {
            revision,
            notes: Vec::new(),
            ..self.clone()
        }
    }

    /// The same with one more label. One that could never be asked for again is left out.
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

    /// Saves a record: when this returns it is durable. What can't be saved is written beside.
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

    /// Saves the records of an import, all or none; yields their ids. Nothing is written beside: the
    /// files that they come from are still there. They may be older than what is saved already.
    ///
    /// # Errors
    /// Those of the store.
    pub fn keep_all(&self, records: &[impl Serialize]) -> Result<Vec<String>, Error> {
        let drafts: Result<Vec<Draft>, Error> = records.iter().map(|one| self.draft(one)).collect();
        let mut drafts = drafts?;
        self.place(&mut drafts);
        let mut store = Store::open_with(&self.location, Options::default())?;
        let saved = store.save_all(&drafts)?;
        Ok(saved.into_iter().map(|saved| saved.id).collect())
    }

    /// What must be known of the source that is measured, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Notes when the commits were made, where the repository has them: records stand in that order.
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
        // An import may name the revision that was measured; else it is that of the tree here.
        draft.revision = draft.revision.or_else(|| self.revision.clone());
        Ok(draft)
    }
}
