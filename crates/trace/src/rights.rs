//! Programs that have privileges their user doesn't have, and who may observe them.
//!
//! Fathom's own file may have capabilities with which it sees all users' processes, but its user must see no
//! more through Fathom than without it. Therefore commands that it observes gain no privileges
//! (`PR_SET_NO_NEW_PRIVS`), and a running process is followed only until it executes a program that gives it
//! privileges. Root may see everything.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::result::Trace;
use crate::sample::parse::status_number;

/// Returns whether the real user of this process is root.
pub(crate) fn caller_is_root() -> bool {
    // SAFETY: getuid only returns this process's user id.
    unsafe { libc::getuid() == 0 }
}

/// Returns whether programs could gain privileges if this process executed them directly.
pub(crate) fn caller_may_gain_rights() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status_number(&status, "NoNewPrivs:") != Some(1)
}

/// Notes which programs of an observed command ran without the privileges that their files give. `folder` is
/// the command's initial working directory.
pub(crate) fn note_those_withheld(trace: &mut Trace, folder: Option<&Path>) {
    if caller_is_root() || !caller_may_gain_rights() {
        return;
    }
    let folder = folder.unwrap_or(Path::new("."));
    let execs = trace.processes.iter().flat_map(|process| &process.execs);
    for exec in execs {
        let path = &exec.path;
        if !trace.without_rights.contains(path) && gives_rights(&folder.join(path)) {
            trace.without_rights.push(path.clone());
        }
    }
    let lacking = trace.rights_not_visible();
    trace.not_visible.extend(lacking);
}

/// Returns whether executing the file gives privileges that this user doesn't have.
pub fn gives_rights(path: &Path) -> bool {
    let Ok(file) = fs::metadata(path) else {
        return false;
    };
    // SAFETY: both only return ids of this process.
    let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
    let gives_user = file.mode() & libc::S_ISUID != 0 && file.uid() != user;
    let run_by_group = libc::S_ISGID | libc::S_IXGRP;
    let gives_group = file.mode() & run_by_group == run_by_group && file.gid() != group;
    (gives_user || gives_group || capabilities_of(path) != 0)
        && !gives_no_rights(path)
        && !is_script(path)
}

/// Returns whether the file is a script. The kernel gives a script no privileges, because its interpreter
/// runs.
fn is_script(path: &Path) -> bool {
    let mut start = [0u8; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"#!"
}

/// Returns the capabilities that a file gives when executed, one bit each; 0 if none.
pub(crate) fn capabilities_of(path: &Path) -> u64 {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return 0;
    };
    let mut flags = [0u8; 24];
    // SAFETY: both names end with a zero, and at most the buffer's length is written.
    let length = unsafe {
        libc::getxattr(
            path.as_ptr(),
            c"security.capability".as_ptr(),
            flags.as_mut_ptr().cast(),
            flags.len(),
        )
    };
    let length = usize::try_from(length).unwrap_or(0);
    permitted(flags.get(..length).unwrap_or_default())
}

/// Returns the permitted set of `struct vfs_cap_data`. This consists of a word with the version and flags,
/// and bits 0 to 31 of the permitted and the inheritable set; since the second version, these are followed by
/// the bits from 32 on, in the same form.
pub(crate) fn permitted(data: &[u8]) -> u64 {
    let word = |at: usize| {
        let bytes = data.get(at..at + 4)?;
        Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
    };
    word(4).unwrap_or(0) | word(12).unwrap_or(0) << 32
}

/// Returns whether the mount options of the file's file system prevent its files from giving privileges.
pub(crate) fn gives_no_rights(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: an all-zero statvfs is valid; the call reads the name and fills the statvfs.
    unsafe {
        let mut flags: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &raw mut flags) == 0 && flags.f_flag & libc::ST_NOSUID != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_a_program_of_another_user_gives_rights() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let file = |name: &str, content: &[u8], mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        assert!(!gives_rights(&file("own", b"\x7fELF", 0o4755)));
        assert!(!gives_rights(&file("plain", b"\x7fELF", 0o755)));
        let other = file("other", b"\x7fELF", 0o755);
        let script = file("script", b"#!/bin/sh\n", 0o755);
        if !caller_is_root() || gives_no_rights(folder.path()) {
            fathom_test_log::skipped("only root can make a set-uid program of another user");
            return;
        }
        for path in [&other, &script] {
            std::os::unix::fs::chown(path, Some(65534), None).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o4755)).unwrap();
        }
        assert!(gives_rights(&other));
        assert!(!gives_rights(&script));
    }
}
