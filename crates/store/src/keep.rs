//! Writes measurements that can't be saved to a separate file.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::bundle::write_draft;
use crate::{Draft, Error, Location, Options, Saved, Store};

/// A record that could not be saved. Its `Display` contains the reason, the location, and how to load the
/// record later.
#[derive(Debug)]
pub struct Kept {
    /// The reason.
    pub error: Error,
    /// The bundle that holds it, or the system's error if that could not be written either.
    pub file: io::Result<PathBuf>,
}

impl std::error::Error for Kept {}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "not saved: {}", self.error)?;
        match &self.file {
            Ok(file) => {
                let file = file.display();
                write!(
                    f,
                    "the record is in {file}; when the store works again, run: fathom store load {file}"
                )
            }
            Err(error) => write!(
                f,
                "and the record could not be written to a file either: {error}; choose a file with --json FILE"
            ),
        }
    }
}

/// Saves a record. If any step fails, writes it to the first writable folder of `folders`.
///
/// # Errors
/// [`Kept`], if the record was not saved to the store.
pub fn save_or_keep(
    location: &Location,
    options: Options,
    draft: &Draft,
    folders: &[PathBuf],
) -> Result<Saved, Kept> {
    let saved = Store::open_with(location, options).and_then(|mut store| store.save(draft));
    saved.map_err(|error| {
        let mut file = Err(io::Error::from(ErrorKind::NotFound));
        for folder in folders {
            file = write_beside(draft, folder);
            if file.is_ok() {
                break;
            }
        }
        Kept { error, file }
    })
}

/// Writes a new file that is private to its owner. Never follows a link or overwrites another user's file.
fn write_beside(draft: &Draft, folder: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    let (path, file) = loop {
        let more = if number > 1 {
            format!("-{number}")
        } else {
            String::new()
        };
        let path = folder.join(format!("fathom-unsaved-{}{more}.bundle", &draft.id()[..12]));
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
        {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 100 => number += 1,
            opened => break (path, opened?),
        }
    };
    let written = write_draft(draft, file).and_then(|mut file: File| {
        file.flush()?;
        file.sync_all()
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&path); // leave no partial bundle
    }
    written.map(|()| path)
}
