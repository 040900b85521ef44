//! Opens a command's input if Fathom opens it itself, and stops waiting when the user interrupts.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::{MeasureError, interrupt};

/// Opens the input. For a FIFO, waits for the first bytes unless interrupted.
///
/// # Errors
/// If it can't be opened, or the wait was interrupted.
pub(crate) fn open(path: &Path) -> Result<File, MeasureError> {
    match opened(path) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(MeasureError::Interrupted),
        Err(error) => Err(MeasureError::Input {
            path: path.to_path_buf(),
            error,
        }),
    }
}

/// Opens the input; returns `None` if the wait was interrupted.
fn opened(path: &Path) -> io::Result<Option<File>> {
    if !std::fs::metadata(path)?.file_type().is_fifo() {
        return File::open(path).map(Some);
    }
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let watch = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut both = [watch(file.as_raw_fd()), watch(interrupt::descriptor())];
    while both[0].revents == 0 {
        // SAFETY: passes two entries.
        unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
        if interrupt::stopped() {
            return Ok(None);
        }
    }
    // SAFETY: takes only numbers.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some(file)),
    }
}
