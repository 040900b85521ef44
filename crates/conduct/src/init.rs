//! `init`: makes a folder a project.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use fathom_store::{git, location};

use crate::ConductError;

/// The file name of the project's suite.
pub const SUITE: &str = "fathom.toml";

/// The suite that a new project gets.
const EXAMPLE: &str = include_str!("init/fathom.toml");

/// The files that `init` wrote, and those that it kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initialised {
    /// New files and folders.
    pub written: Vec<PathBuf>,
    /// Files and folders that already existed; they were not changed.
    pub kept: Vec<PathBuf>,
    /// The root of the repository, if the folder is a subfolder of one.
    pub repository: Option<PathBuf>,
}

/// Writes the suite and the store's folder if they don't exist yet. Never changes existing files.
///
/// # Errors
/// A folder that can't be written, or in which a store would never be found.
pub fn init(folder: &Path) -> Result<Initialised, ConductError> {
    if location::look(folder).is_some_and(|about| !about.own) {
        return Err(ConductError::Refused(format!(
            "{} belongs to another user, so a store in it would be ignored; run this as that user, or choose a \
             store: export FATHOM_STORE=PATH",
            folder.display()
        )));
    }
    let mut done = Initialised {
        written: Vec::new(),
        kept: Vec::new(),
        repository: git::state(folder)
            .ok()
            .map(|state| state.root)
            .filter(|root| Some(root) != folder.canonicalize().ok().as_ref()),
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let suite = EXAMPLE.replace("{{NAME}}", &in_toml(&name));
    done.file(&folder.join(SUITE), &suite)?;
    let place = folder.join(".fathom");
    match DirBuilder::new().mode(0o700).create(&place) {
        Ok(()) => done.written.push(place.clone()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && place.is_dir() => {
            done.kept.push(place.clone());
        }
        Err(error) => return Err(refused(&place, &error)),
    }
    let ignore = place.join(".gitignore");
    if !ignore.exists() {
        done.file(&ignore, "*\n")?;
    }
    // `run` created the folder for its own files; from now on the folder belongs to the project as well.
    let mark = place.join(location::WORK_ONLY);
    match std::fs::remove_file(&mark) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(refused(&mark, &error)),
        _ => Ok(done),
    }
}

impl Initialised {
    fn file(&mut self, path: &Path, text: &str) -> Result<(), ConductError> {
        match write_new(path, text) {
            Ok(()) => self.written.push(path.to_path_buf()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.kept.push(path.to_path_buf());
            }
            Err(error) => return Err(refused(path, &error)),
        }
        Ok(())
    }
}

/// Writes a new file; never writes through a link or over an existing file.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        let _ = std::fs::remove_file(path); // leave no partial suite
    }
    written
}

fn refused(path: &Path, error: &io::Error) -> ConductError {
    ConductError::Refused(format!(
        "can't write {}: {error}; run this in a folder that you can write to",
        path.display()
    ))
}

/// Escapes a text for use between TOML quotes.
fn in_toml(text: &str) -> String {
    text.chars()
        .filter(|one| !one.is_control())
        .flat_map(|one| match one {
            '"' | '\\' => vec!['\\', one],
            _ => vec![one],
        })
        .collect()
}
