//! Files that are written under another name and then replace their target atomically.
//!
//! The other name can be guessed, and a user who can write to the folder could have put something there: a
//! link to another file, or a file that the user holds open. Therefore an existing file is never used.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The number of names to try: an earlier process with this pid may have left files when it was killed.
const NAMES: u32 = 16;

/// A new file next to its target; removed unless it replaces the target.
#[derive(Debug)]
pub struct Beside {
    /// The file to write; only its owner may read it.
    pub file: File,
    target: PathBuf,
    path: PathBuf,
    is_placed: bool,
}

impl Beside {
    /// Creates the file as `.NAME.PID`.
    ///
    /// # Errors
    /// If no file can be created in that folder.
    pub fn create(target: &Path) -> io::Result<Beside> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let process = std::process::id();
        let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..NAMES {
            let path = target.with_file_name(match number {
                0 => format!(".{name}.{process}"),
                number => format!(".{name}.{process}.{number}"),
            });
            let made = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path);
            match made {
                Ok(file) => {
                    return Ok(Beside {
                        file,
                        target: target.to_path_buf(),
                        path,
                        is_placed: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// Replaces the target and keeps its permissions. If there was no target, the file gets the permissions
    /// of a new file.
    ///
    /// # Errors
    /// If the target can't be replaced; the new file is then removed.
    pub fn take_place(mut self) -> io::Result<()> {
        let permissions = match std::fs::metadata(&self.target) {
            Ok(about) => about.permissions(),
            Err(_) => Permissions::from_mode(0o666 & !umask()),
        };
        self.file.set_permissions(permissions)?;
        std::fs::rename(&self.path, &self.target)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_placed {
            // Leave no half-written file.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes a file atomically: it exists completely or not at all.
///
/// # Errors
/// If it can't be written; an earlier file is then unchanged.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut beside = Beside::create(path)?;
    beside.file.write_all(bytes.as_ref())?;
    beside.take_place()
}

/// Returns the umask of this process; without `/proc`, a mask that leaves only the owner's permissions.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok())
        .unwrap_or(0o077)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_others_put_under_the_name_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (target, victim) = (folder.path().join("record"), folder.path().join("victim"));
        std::fs::write(&victim, "his").unwrap();
        let guessed = folder
            .path()
            .join(format!(".record.{}", std::process::id()));
        symlink(&victim, &guessed).unwrap();
        write_whole(&target, "mine").unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "his");
        assert!(guessed.is_symlink());
    }

    #[test]
    fn only_its_owner_reads_it_until_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("record");
        let beside = Beside::create(&target).unwrap();
        assert_eq!(mode(&beside.path), 0o600);
        beside.take_place().unwrap();
        assert_eq!(mode(&target), 0o666 & !umask());
        std::fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
        write_whole(&target, "again").unwrap();
        assert_eq!(mode(&target), 0o640);
        drop(Beside::create(&target).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
