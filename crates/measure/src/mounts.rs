//! Mounts that only a measured command sees. The launcher makes them in a mount namespace of the command's own,
//! so nothing of them is left when its processes have ended.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    source: OsString,
    target: PathBuf,
    /// The type; empty for a bind mount.
    kind: &'static str,
    options: OsString,
}

impl Mount {
    /// A file or folder that appears at `target` instead of what is there.
    pub fn bind(source: &Path, target: &Path) -> Mount {
        Mount {
            source: source.into(),
            target: target.into(),
            kind: "",
            options: OsString::new(),
        }
    }

    /// The folder `below`, which appears at `target`; what is written there goes to the folder `written`
    /// instead. `aside` is an empty folder next to it.
    pub fn overlay(below: &Path, written: &Path, aside: &Path, target: &Path) -> Mount {
        let mut options = OsString::new();
        for (name, folder) in [
            ("lowerdir=", below),
            (",upperdir=", written),
            (",workdir=", aside),
        ] {
            options.push(name);
            options.push(escaped(folder));
        }
        // The previous run's mount may still use these folders.
        options.push(",index=off");
        if !may_mount() {
            options.push(",userxattr");
        }
        Mount {
            source: "fathom".into(),
            target: target.into(),
            kind: "overlay",
            options,
        }
    }

    /// Where it appears.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

/// Escapes the characters that separate the options of an overlay.
fn escaped(path: &Path) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    let bytes = path.as_os_str().as_bytes().iter();
    let all = bytes.flat_map(|byte| match byte {
        b',' | b':' | b'\\' => vec![b'\\', *byte],
        other => vec![*other],
    });
    OsString::from_vec(all.collect())
}

/// Makes the mounts in a process that ends at once, to find out whether that is possible.
///
/// # Errors
/// The error of the first step that failed.
pub fn try_mounts(mounts: &[Mount], directory: &Path) -> io::Result<()> {
    let strings = strings(mounts, directory)?;
    // SAFETY: the child makes system calls on memory that it has a copy of, and exits.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let made = fathom_launcher::make_mounts(strings.as_ptr() as usize);
            libc::_exit((-made.min(0)) as i32);
        }
        let mut status = 0;
        if child < 0 || libc::waitpid(child, &raw mut status, 0) != child {
            return Err(io::Error::last_os_error());
        }
        match libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)) {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(error)),
            None => Err(io::ErrorKind::Interrupted.into()),
        }
    }
}

/// Returns the strings that the launcher needs; none without mounts.
///
/// # Errors
/// `InvalidInput` if a path contains a zero byte.
pub(crate) fn strings(mounts: &[Mount], directory: &Path) -> io::Result<Vec<u8>> {
    if mounts.is_empty() {
        return Ok(Vec::new());
    }
    let ids = match may_mount() {
        true => [String::new(), String::new()],
        // SAFETY: takes no arguments and returns a number.
        false => unsafe { [libc::geteuid(), libc::getegid()].map(|id| format!("{id} {id} 1\n")) },
    };
    let mut all: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
    all.push(directory.as_os_str().as_bytes());
    for mount in mounts {
        all.extend([
            mount.source.as_bytes(),
            mount.target.as_os_str().as_bytes(),
            mount.kind.as_bytes(),
            mount.options.as_bytes(),
        ]);
    }
    all.push(b"");
    if all.iter().any(|string| string.contains(&0)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = all.join(&0);
    bytes.push(0);
    Ok(bytes)
}

/// Returns the strings about control groups that the launcher needs; none without groups.
pub(crate) fn groups(folders: &[PathBuf]) -> Vec<u8> {
    let paths = folders.iter().map(|folder| folder.join("cgroup.procs"));
    let mut bytes: Vec<u8> = paths
        .flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat())
        .collect();
    if !bytes.is_empty() {
        bytes.push(0);
    }
    bytes
}

/// Reports whether this process may mount without a user namespace (`CAP_SYS_ADMIN`).
fn may_mount() -> bool {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let allowed = line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    allowed.is_some_and(|allowed| allowed & CAP_SYS_ADMIN != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_may_contain_what_separates_options() {
        let mount = Mount::overlay(
            Path::new("/a,b:c"),
            Path::new("/u"),
            Path::new("/w"),
            Path::new("/t"),
        );
        let options = mount.options.into_string().unwrap();
        assert!(
            options.starts_with(r"lowerdir=/a\,b\:c,upperdir=/u,workdir=/w"),
            "{options}"
        );
    }

    #[test]
    fn a_zero_byte_is_refused_and_no_mounts_need_no_strings() {
        assert_eq!(strings(&[], Path::new("/")).unwrap(), Vec::<u8>::new());
        let odd = Mount::bind(Path::new("/a\0b"), Path::new("/c"));
        assert!(strings(&[odd], Path::new("/")).is_err());
        let usual = Mount::bind(Path::new("/a"), Path::new("/b"));
        let bytes = strings(&[usual], Path::new("/")).unwrap();
        assert!(bytes.ends_with(b"/\0/a\0/b\0\0\0\0"), "{bytes:?}");
    }
}
