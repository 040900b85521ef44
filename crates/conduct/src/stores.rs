//! `store`: contents, names, pruning, and bundles. Also opens stores for verbs that read them.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use fathom_model::{SCHEMA_VERSION, StoreRecord};
use fathom_store::git::{self, GitError};
use fathom_store::location::{self, Location};
use fathom_store::{
    Error, Head, Loaded, Options, Prune, Selector, Store, date, regular, variables,
};

use crate::ConductError;

/// Returns the location of the store for `here`: from `--store`, `FATHOM_STORE`, the project, or the user.
///
/// # Errors
/// An invalid address, or no place for a store.
pub fn place(asked: Option<&str>, here: &Path) -> Result<Location, Error> {
    let project = location::project(here, location::look);
    location::which(asked, project.as_deref(), variables::get)
}

/// Opens an existing store for a verb that reads or changes it; never creates one.
///
/// # Errors
/// Errors of [`Store::open`], including [`Error::Missing`].
pub fn open(asked: Option<&str>, here: &Path) -> Result<Store, Error> {
    let options = Options {
        create: false,
        ..Options::default()
    };
    Store::open_with(&place(asked, here)?, options)
}

/// Returns the contents of a store.
///
/// # Errors
/// Errors of the store.
pub fn info(store: &mut Store) -> Result<StoreRecord, Error> {
    let info = store.info()?;
    Ok(StoreRecord {
        schema_version: SCHEMA_VERSION,
        kind: "store".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        store: info.store,
        form: info.form,
        records: info.records,
        pruned: info.pruned,
        oldest: info.span.map(|(oldest, _)| date::text(oldest)),
        newest: info.span.map(|(_, newest)| date::text(newest)),
        series: info.series,
        points: info.points,
        environments: info.environments,
        labels: info.labels,
        renamed: info.renamed,
        bytes: info.bytes,
        record_bytes: info.record_bytes,
        point_bytes: info.point_bytes,
    })
}

/// Finds the records that a word names. The word can be `@-1`, a label, the beginning of an id or of a
/// revision, or any name of a revision that git resolves (`HEAD~1`, a tag, a branch).
///
/// # Errors
/// [`Error::NotFound`] if nothing matches; [`Error::Ambiguous`].
pub fn find(store: &mut Store, here: &Path, asked: &str) -> Result<Vec<Head>, Error> {
    let not_found = match store.find(asked) {
        Err(error @ Error::NotFound { .. }) => error,
        found => return found,
    };
    let revision = match git::resolve(here, asked) {
        Ok(revision) => revision,
        Err(shallow @ GitError::Shallow(_)) => return Err(Error::Git(shallow)),
        Err(_) => return Err(not_found),
    };
    let found = store.records(&Selector::Revision(revision.clone()))?;
    match found.is_empty() {
        true => Err(Error::NotFound {
            store: store.name().to_owned(),
            what: format!(
                "measurement of {asked:?} (revision {})",
                revision.get(..12).unwrap_or(&revision)
            ),
        }),
        false => Ok(found),
    }
}

/// Adds a label to records, or removes it. Returns the updated records, and how many of them changed.
///
/// # Errors
/// An invalid label, or records that don't exist.
pub fn tag(
    store: &mut Store,
    here: &Path,
    asked: &str,
    label: &str,
    remove: bool,
) -> Result<(Vec<Head>, usize), Error> {
    if !remove {
        crate::keep::check_label(label)?;
    }
    let records = find(store, here, asked)?;
    let changed = store.tag(&records, label, remove)?;
    let mut now = store.heads(records.iter().map(|head| head.number))?;
    let now = records
        .iter()
        .filter_map(|head| now.remove(&head.number))
        .collect();
    Ok((now, changed))
}

/// Parses the time limit of `before`: a date, or an age such as `90d`.
pub fn before(text: &str, now: i64) -> Option<i64> {
    if let Some(time) = date::parse(text) {
        return Some(time);
    }
    let (number, days) = match text.split_at_checked(text.len().checked_sub(1)?)? {
        (number, "d") => (number, 1),
        (number, "w") => (number, 7),
        (number, "y") => (number, 365),
        _ => return None,
    };
    let number: i64 = number.trim().parse().ok().filter(|n| *n >= 0)?;
    Some(now - number.checked_mul(days * 86_400_000)?)
}

/// Returns the records whose runs pruning removes. The runs are actually removed only if `now` is true.
///
/// # Errors
/// Errors of the store.
pub fn prune(store: &mut Store, which: &Prune, now: bool) -> Result<Vec<Head>, Error> {
    let found = store.prunable(which)?;
    if now && !found.is_empty() {
        store.prune(&found)?;
    }
    Ok(found)
}

/// Writes the named records into a new file, or all records if none is named. Returns the number of records.
///
/// # Errors
/// A file that already exists or can't be written; errors of the store.
pub fn bundle(
    store: &mut Store,
    here: &Path,
    records: &[String],
    path: &Path,
) -> Result<usize, ConductError> {
    let mut heads: Vec<Head> = Vec::new();
    for asked in records {
        for head in find(store, here, asked)? {
            if !heads.contains(&head) {
                heads.push(head);
            }
        }
    }
    if records.is_empty() {
        heads = store.records(&Selector::All)?;
    }
    if path.exists() {
        let path = path.display();
        return Err(ConductError::Refused(format!(
            "{path} already exists; choose a new file"
        )));
    }
    let failed = |source| Error::File {
        path: path.to_path_buf(),
        source,
    };
    let file = File::create_new(path).map_err(failed)?;
    let written = store
        .bundle(&heads, &path.display().to_string(), BufWriter::new(&file))
        .and_then(|()| file.sync_all().map_err(failed));
    if written.is_err() {
        let _ = std::fs::remove_file(path); // leave no partial bundle
    }
    written?;
    Ok(heads.len())
}

/// Loads bundles into a store, creating it if necessary.
///
/// # Errors
/// A file that is not a complete bundle; errors of the store. Records loaded before the error stay: loading
/// again does no harm.
pub fn load(
    asked: Option<&str>,
    here: &Path,
    files: &[PathBuf],
) -> Result<(String, Loaded), Error> {
    let mut store = Store::open(&place(asked, here)?)?;
    let mut all = Loaded::default();
    for path in files {
        let failed = |source| Error::File {
            path: path.clone(),
            source,
        };
        let file = regular::open(path).map_err(failed)?;
        let loaded = store.load(&path.display().to_string(), BufReader::new(file))?;
        all.new += loaded.new;
        all.known += loaded.known;
        all.not_renamed.extend(loaded.not_renamed);
    }
    Ok((store.name().to_owned(), all))
}
