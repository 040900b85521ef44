//! Files of others are opened only if they are files: a FIFO nobody writes to, or a device, never ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file to read it.
///
/// # Errors
/// What the system says, or what it is instead of a file.
pub fn open(path: &Path) -> io::Result<File> {
    // Without waiting for somebody who writes; of a file it changes nothing.
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

/// The whole of a file.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open(path)?, &mut bytes)?;
    Ok(bytes)
}

/// What something is that isn't a file.
pub(crate) fn what(kind: std::fs::FileType) -> Option<&'static str> {
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("it is a folder"),
        kind if kind.is_fifo() => Some("it is a FIFO, not a file"),
        kind if kind.is_socket() => Some("it is a socket, not a file"),
        _ => Some("it is a device, not a file"),
    }
}
