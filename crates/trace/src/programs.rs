//! The program that a process runs, from its files in `/proc`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::result::Exec;

/// Returns the program that a process runs, as of `at_ns`; `None` if it is in the middle of an `execve`,
/// before the kernel has copied the arguments.
pub(crate) fn running(pid: u32, at_ns: u64) -> Option<Exec> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if text.is_empty() {
        return None;
    }
    let text = text.strip_suffix(&[0]).unwrap_or(&text);
    let first = text.split(|b| *b == 0).next().unwrap_or_default();
    let words = text
        .split(|b| *b == 0)
        .map(|w| String::from_utf8_lossy(w).into_owned());
    let path = fs::read_link(format!("/proc/{pid}/exe"));
    // For a set-uid program, only the arguments are readable; the first is the name by which it was started.
    let path = path.or_else(|e| match e.kind() {
        io::ErrorKind::PermissionDenied => Ok(PathBuf::from(OsStr::from_bytes(first))),
        _ => Err(e),
    });
    Some(Exec {
        called_ns: None,
        at_ns,
        entered: None,
        path: path.map_or_else(|_| String::new(), |p| p.to_string_lossy().into_owned()),
        arguments: words.take(64).collect(),
        arguments_cut: false,
        asked: None,
    })
}
