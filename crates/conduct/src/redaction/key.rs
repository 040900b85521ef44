//! The key with which secrets are hashed; it belongs to a user, not to a store.
//!
//! It comes from `FATHOM_REDACTION_KEY`, for machines that are set up again for each job and for teams that
//! compare results; otherwise from the file `fathom/redaction-key` in the user's configuration, which is
//! created when first needed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fathom_store::variables;

/// The length of a key file: 32 bytes as hexadecimal digits.
const LENGTH: usize = 64;
/// The size limit in bytes; a longer file is not a key file.
const LONGEST: u64 = 4096;

static OWN: OnceLock<Option<Vec<u8>>> = OnceLock::new();

/// Returns the key, if one exists or can be created.
pub(super) fn own() -> Option<&'static [u8]> {
    let find = || {
        let given = variables::get("FATHOM_REDACTION_KEY").filter(|key| !key.is_empty());
        given
            .map(String::into_bytes)
            .or_else(|| of_file(&folder(variables::get)?))
    };
    OWN.get_or_init(find).as_deref()
}

/// Returns the folder by the XDG rules, which ignore relative paths.
fn folder(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let configuration =
        absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(configuration?.join("fathom"))
}

fn of_file(folder: &Path) -> Option<Vec<u8>> {
    let path = folder.join("redaction-key");
    if !path.exists() {
        // Another process may create the file at the same time; the first one stays.
        let _ = make(folder, &path);
    }
    read(&path)
}

/// Reads the key, which is valid only if this user owns the file and no other user can read it.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut options = OpenOptions::new();
    // Opening a named pipe would otherwise wait for a writer.
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let about = file.metadata().ok()?;
    // SAFETY: the call takes no arguments and can't fail.
    let own = unsafe { libc::geteuid() };
    if !about.is_file() || about.uid() != own || about.mode() & 0o077 != 0 {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    let key = text.trim();
    (key.len() >= LENGTH).then(|| key.as_bytes().to_vec())
}

/// Creates the file atomically: it is written under a temporary name, then linked to its final path, which
/// must not exist yet.
fn make(folder: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let number = rand::random::<u64>();
    let beside = folder.join(format!(".redaction-key.{number:016x}"));
    let mut options = OpenOptions::new();
    let mut file: File = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    let key: [u8; 32] = rand::random();
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let made = file
        .write_all(digits.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::hard_link(&beside, path));
    std::fs::remove_file(&beside)?;
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_made_once_for_its_user_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new/fathom");
        let made = of_file(&folder).expect("a key");
        assert_eq!(of_file(&folder), Some(made.clone()));
        let file = folder.join("redaction-key");
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        assert_eq!(of_file(&folder), None, "others can read it");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        std::fs::write(&file, "short").unwrap();
        assert_eq!(of_file(&folder), None, "it is not a key");
        std::fs::remove_file(&file).unwrap();
        assert_ne!(of_file(&folder), Some(made), "another one is made");
        assert_eq!(of_file(Path::new("/dev/null/nowhere")), None);
    }

    #[test]
    fn many_that_make_it_at_a_time_get_the_same() {
        let place = tempfile::tempdir().unwrap();
        let keys: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| of_file(place.path()).expect("a key")))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn it_lies_in_the_users_configuration() {
        let of = |known: &'static [(&str, &str)]| {
            folder(|name| Some(known.iter().find(|(key, _)| *key == name)?.1.to_owned()))
        };
        let usual = of(&[("HOME", "/home/u"), ("XDG_CONFIG_HOME", "relative")]);
        assert_eq!(usual, Some("/home/u/.config/fathom".into()));
        assert_eq!(of(&[("XDG_CONFIG_HOME", "/c")]), Some("/c/fathom".into()));
        assert_eq!(of(&[]), None);
    }
}
