//! Files that are written under another name and take their place whole.
//!
//! The other name can be guessed, and whoever may write to the folder could have put something
//! there: a link to another file, or a file that he holds open. So a new file is made, or none.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Names that are tried: another process of this number may have left some when it was killed.
const NAMES: u32 = 16;

/// A new file beside another one; removed if it doesn't take its place.
#[derive(Debug)]
pub struct Beside {
    /// What is written; only its owner may read it.
    pub file: File,
    target: PathBuf,
    path: PathBuf,
    is_placed: bool,
}

impl Beside {
    /// Makes it, as `.NAME.PID`.
    ///
    /// # Errors
    /// When no file can be made in that folder.
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

    /// Puts it in the place of the file that it was made beside, with that one's permissions, or
    /// those of a new file.
    ///
    /// # Errors
    /// When it can't; it is removed then.
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
            // Nothing half-written stays.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes a file so that it is there whole or not at all.
///
/// # Errors
/// When it can't be written; what was there before is there still.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut beside = Beside::create(path)?;
    beside.file.write_all(bytes.as_ref())?;
    beside.take_place()
}

/// The permissions that new files of this process don't get; without `/proc` only its owner's stay.
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
