//! Two Fathoms at once: locks that end with the process that holds them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use fathom_measure::interrupt;

/// How often a lock that others hold is asked for again.
const AGAIN: Duration = Duration::from_millis(50);

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// By one alone.
    Alone,
    /// By several who leave it as it is.
    Shared,
}

/// A lock of this file, if nobody holds it otherwise.
///
/// # Errors
/// When the file can't be made.
pub(super) fn try_take(path: &Path, kind: Kind) -> io::Result<Option<File>> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        let taken = match kind {
            Kind::Alone => file.try_lock(),
            Kind::Shared => file.try_lock_shared(),
        };
        match taken {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        // Removing a worktree removes its locks: a lock on a deleted file protects nothing.
        match std::fs::metadata(path) {
            Ok(there) if there.ino() == file.metadata()?.ino() => return Ok(Some(file)),
            _ => {}
        }
    }
}

/// The same, waiting for others; `waits` is called once if there are any. `None` if there came a
/// reason to stop.
///
/// # Errors
/// When the file can't be made.
pub(super) fn take(path: &Path, kind: Kind, waits: &mut dyn FnMut()) -> io::Result<Option<File>> {
    let mut waited = false;
    loop {
        if let Some(file) = try_take(path, kind)? {
            return Ok(Some(file));
        }
        if interrupt::stopped() {
            return Ok(None);
        }
        if !std::mem::replace(&mut waited, true) {
            waits();
        }
        std::thread::sleep(AGAIN);
    }
}
