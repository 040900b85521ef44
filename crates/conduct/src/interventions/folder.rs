//! A folder for the runs of one measurement, removed however the measurement ends.

use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// A folder that only its owner can access. It is removed when this value is dropped or Fathom is killed.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// A process that removes the folder once no process holds the other end of its standard input.
    remover: Child,
    input: Option<ChildStdin>,
}

/// A script that removes the folder once it reads a line, and the control groups that are listed in it. If
/// there is no line, Fathom was killed, and what it started may still write there for a moment.
const REMOVES: &str = r#"trap '' INT TERM HUP
read -r line; killed=$?
groups=
[ -e "$1/groups" ] && groups=$(cat "$1/groups")
set -f
IFS='
'
for try in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf -- "$1"
  left=
  for group in $groups; do
    rmdir -- "$group" || [ ! -e "$group" ] || left=1
  done
  if [ $killed = 0 ] && [ -z "$left" ]; then exit; fi
  sleep 0.1
done"#;

/// The type of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disk {
    /// Its files have a place on a disk or another machine.
    Real,
    /// Its files lie in memory.
    Memory,
    /// Its files are the kernel's, or there is no such file.
    Other,
}

/// Returns the type of the file system with this file. A file that doesn't exist counts as its folder.
pub(super) fn disk_of(path: &Path) -> Disk {
    const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];
    const OF_THE_KERNEL: [i64; 6] = [
        0x9fa0,
        0x6265_6572,
        0x27_e0eb,
        0x6367_7270,
        0x6462_6720,
        0x7472_6163,
    ];
    let mut existing = path.ancestors().filter(|part| part.exists());
    let path = existing.next().map(|part| part.as_os_str().to_owned());
    let Some(Ok(path)) = path.map(|path| std::ffi::CString::new(path.into_vec())) else {
        return Disk::Other;
    };
    // SAFETY: a structure of numbers, which the call fills in for a path that ends with zero.
    let (failed, about) = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        (libc::statfs(path.as_ptr(), &raw mut about), about)
    };
    let kind = about.f_type;
    match failed {
        0 if IN_MEMORY.contains(&kind) => Disk::Memory,
        0 if !OF_THE_KERNEL.contains(&kind) => Disk::Real,
        _ => Disk::Other,
    }
}

impl Folder {
    /// Creates a folder for temporary files.
    ///
    /// # Errors
    /// Errors of the system.
    pub(crate) fn make() -> io::Result<Folder> {
        Folder::make_in(&std::env::temp_dir())
    }

    /// Creates a folder whose files lie in memory; `None` if there is no place for it.
    pub(crate) fn in_memory() -> Option<Folder> {
        let own = std::env::temp_dir();
        let mut places = [own.as_path(), Path::new("/dev/shm"), Path::new("/run")].into_iter();
        places.find_map(|place| match disk_of(place) {
            Disk::Memory => Folder::make_in(place).ok(),
            _ => None,
        })
    }

    fn make_in(place: &Path) -> io::Result<Folder> {
        let mut template = place.join("fathom-try-XXXXXX").into_os_string().into_vec();
        template.push(0);
        // SAFETY: the argument is a NUL-terminated string that we own, and the call writes the name into it.
        if unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) }.is_null() {
            return Err(io::Error::last_os_error());
        }
        template.pop();
        let path = PathBuf::from(std::ffi::OsString::from_vec(template));
        // The remover runs in its own process group, so that a terminal signal that ends Fathom doesn't end
        // the remover too.
        let remover = Command::new("/bin/sh")
            .args(["-c", REMOVES, "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn();
        match remover {
            Ok(mut remover) => Ok(Folder {
                path,
                input: remover.stdin.take(),
                remover,
            }),
            Err(error) => {
                let _ = std::fs::remove_dir(&path);
                Err(error)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(mut input) = self.input.take() {
            let _ = input.write_all(b"\n");
        }
        let _ = self.remover.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_gone_with_all_that_is_in_it() {
        let folder = Folder::make().unwrap();
        let path = folder.path().to_owned();
        std::fs::create_dir(path.join("a")).unwrap();
        std::fs::write(path.join("a/b"), "c").unwrap();
        drop(folder);
        assert!(!path.exists());
    }
}
