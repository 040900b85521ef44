//! How large a folder is, and removing it whatever its permissions.

use std::collections::HashSet;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Bytes that the files below `folder` take on the device; links are not followed, and a file with
/// several names counts once. What can't be read counts nothing.
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

/// Removes a folder with all that is in it; one that isn't there is removed. Build tools leave
/// folders that may not be written, such as Go's modules.
///
/// # Errors
/// When something can't be removed.
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
    // Removing says what still can't be done.
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            allow(&entry.path());
        }
    }
}
