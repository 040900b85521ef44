//! Locks between concurrent Fathom processes, released when the holder ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use fathom_measure::interrupt;

/// The interval at which a contended lock is retried.
const AGAIN: Duration = Duration::from_millis(50);

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Held by one process alone.
    Alone,
    /// Shared by processes that leave the worktree unchanged.
    Shared,
}

/// Locks this file; `None` if a conflicting lock is held.
///
/// # Errors
/// If the file can't be created.
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

/// Like [`try_take`], but waits for other processes; calls `waits` once if there are any. Returns `None` if
/// Fathom was told to stop.
///
/// # Errors
/// If the file can't be created.
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
