//! Computes the size of a folder, and removes folders regardless of their permissions.

use std::collections::HashSet;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Returns the bytes that the files below `folder` take on the device. Links are not followed, a file with
/// several names counts once, and unreadable files count as 0.
pub(super) fn of(folder: &Path) -> u64 {
    let (mut sum, mut seen) = (0, HashSet::new());
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else {
                continue;
            };
            if about.is_dir() {
                folders.push(entry.path());
            }
            if about.nlink() < 2 || about.is_dir() || seen.insert((about.dev(), about.ino())) {
                sum += about.blocks() * 512;
            }
        }
    }
    sum
}

/// Removes a folder with its contents, even if parts are read-only: build tools leave such folders, for
/// example for Go's modules. A missing folder is not an error.
///
/// # Errors
/// If something can't be removed.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            allow(folder);
            std::fs::remove_dir_all(folder)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn allow(folder: &Path) {
    // The removal reports whatever still fails.
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            allow(&entry.path());
        }
    }
}
