//! Opens untrusted paths only if they are regular files: reading a FIFO without a writer, or a device, never
//! ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// The system's error, or the type of a path that isn't a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    // This flag avoids waiting for a writer, and has no effect on a regular file.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    match what(kind) {
        Some(what) => Err(io::Error::other(what)),
        None => Ok(file),
    }
}

/// Reads a whole file.
///
/// # Errors
/// The errors of [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open(path)?, &mut bytes)?;
    Ok(bytes)
}

/// Describes the type of a path that isn't a regular file.
pub(crate) fn what(kind: std::fs::FileType) -> Option<&'static str> {
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("it is a folder"),
        kind if kind.is_fifo() => Some("it is a FIFO, not a file"),
        kind if kind.is_socket() => Some("it is a socket, not a file"),
        _ => Some("it is a device, not a file"),
    }
}
