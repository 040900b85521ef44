//! Small files that are either complete or missing.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// Converts an I/O error on this file.
pub(crate) fn failed<'a>(
    what: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> Error + 'a {
    move |error| Error::File {
        what,
        path: path.to_owned(),
        error,
    }
}

/// The mode of a folder that only its owner may enter. The sticky bit has no effect here, but it marks the
/// folder as Fathom's: a folder that came with a repository can't have it.
const MODE: u32 = 0o1700;

/// Creates a folder that only its owner can enter; returns false if it already exists.
pub(crate) fn made(folder: &Path) -> Result<bool, Error> {
    match DirBuilder::new().mode(MODE).create(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed("write", folder)(error)),
    }
}

/// Returns whether [`made`] created the folder for this user. Folders of others are not read, because their
/// files name commands to run.
pub(crate) fn is_own(folder: &Path) -> bool {
    // SAFETY: takes no arguments and can't fail.
    let user = unsafe { libc::geteuid() };
    fs::symlink_metadata(folder)
        .is_ok_and(|about| about.is_dir() && about.uid() == user && about.mode() & 0o1777 == MODE)
}

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = fs::read(path).map_err(failed("read", path))?;
    serde_json::from_slice(&text).map_err(|error| failed("read", path)(error.into()))
}

/// Writes a value as JSON.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(value).expect("plain types have a JSON form");
    put(path, 0o600, &text)
}

/// Writes a file completely or not at all, even if the machine crashes.
pub(crate) fn put(path: &Path, mode: u32, text: &[u8]) -> Result<(), Error> {
    let part = path.with_extension("part");
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(true).mode(mode);
    let written = options.open(&part).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&part, path)
    });
    written.map_err(failed("write", path))
}

/// Returns milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
