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

/// A script that removes the folder once it reads a line. If there is no line, Fathom was killed, and what it
/// started may still write there for a moment.
const REMOVES: &str = "trap '' INT TERM HUP
if read -r line; then rm -rf -- \"$1\"; exit; fi
for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- \"$1\"; sleep 0.1; done";

impl Folder {
    /// Creates a folder.
    ///
    /// # Errors
    /// Errors of the system.
    pub(crate) fn make() -> io::Result<Folder> {
        let mut template = std::env::temp_dir()
            .join("fathom-try-XXXXXX")
            .into_os_string()
            .into_vec();
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
