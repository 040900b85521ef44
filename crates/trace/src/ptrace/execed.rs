//! Information about a program that was just executed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::entry::auxiliary;
use super::requests;
use crate::rights::{caller_may_gain_rights, capabilities_of, gives_no_rights};
use crate::sample::parse::status_line;

/// Type of the address of the name passed to `execve`, in `/proc/PID/auxv` (`AT_EXECFN`).
const AT_EXECFN: u64 = 31;
/// Maximum length of a name in bytes; the kernel programs truncate names to the same length.
const LONGEST_NAME: usize = 255;

/// Returns the file that was passed to `execve`. For a script, this is the script, while `/proc/PID/exe` is
/// the last of its interpreters. A relative name is prefixed with the working directory. `None` if it is
/// unknown, because the program is a 32-bit one or the thread was killed in the meantime.
pub(super) fn asked(tid: u32) -> Option<PathBuf> {
    let auxv = fs::read(format!("/proc/{tid}/auxv")).ok()?;
    let name = requests::memory(tid, auxiliary(&auxv, AT_EXECFN)?, LONGEST_NAME + 1);
    let end = name.iter().position(|byte| *byte == 0)?;
    let name = Path::new(OsStr::from_bytes(&name[..end]));
    if name.is_absolute() {
        return Some(name.to_owned());
    }
    let here = fs::read_link(format!("/proc/{tid}/cwd")).ok()?;
    Some(here.join(name.strip_prefix(".").unwrap_or(name)))
}

/// Returns whether the file's set-uid or set-gid bit or its capabilities would have given the program
/// privileges, but didn't: the kernel gives none to a traced program, unless root traces it.
pub(super) fn lacks_rights(tid: u32, path: &str) -> bool {
    let Ok(file) = fs::metadata(path) else {
        return false;
    };
    let gives_user = file.mode() & libc::S_ISUID != 0;
    let run_by_group = libc::S_ISGID | libc::S_IXGRP;
    let gives_group = file.mode() & run_by_group == run_by_group;
    let capabilities = capabilities_of(Path::new(path));
    if !gives_user && !gives_group && capabilities == 0 {
        return false;
    }
    let Ok(status) = fs::read_to_string(format!("/proc/{tid}/status")) else {
        return false;
    };
    // If nothing gives privileges anyway, the program behaves the same untraced.
    if !caller_may_gain_rights() || gives_no_rights(Path::new(path)) {
        return false;
    }
    let is_not = |key, wanted| effective(&status, key).is_some_and(|id| id != wanted);
    gives_user && is_not("Uid:", file.uid())
        || gives_group && is_not("Gid:", file.gid())
        || lacks_capabilities(&status, capabilities)
}

/// Returns whether a process lacks some of the capabilities that its file gives, counting only those that the
/// process may have at all.
fn lacks_capabilities(status: &str, given: u64) -> bool {
    let set = |key| u64::from_str_radix(status_line(status, key)?.trim(), 16).ok();
    match (set("CapBnd:"), set("CapPrm:")) {
        (Some(bounding), Some(permitted)) => given & bounding & !permitted != 0,
        _ => false,
    }
}

/// The four ids are real, effective, saved, and file system.
fn effective(status: &str, key: &str) -> Option<u32> {
    status_line(status, key)?
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rights::permitted;
    use crate::sample::parse::status_number;

    #[test]
    fn effective_rights_are_the_second_of_four() {
        let status = "Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t5\t6\t7\t8\nNoNewPrivs:\t0\n";
        assert_eq!(effective(status, "Uid:"), Some(0));
        assert_eq!(effective(status, "Gid:"), Some(6));
        assert_eq!(status_number(status, "NoNewPrivs:"), Some(0));
        assert_eq!(effective(status, "Groups:"), None);
    }

    #[test]
    fn capabilities_of_a_file_are_its_permitted_ones() {
        // The data gives cap_net_raw (13) and cap_bpf (39), effective, in version 2.
        let data = [
            1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(permitted(&data), 1 << 13 | 1 << 39);
        assert_eq!(permitted(&data[..12]), 1 << 13);
        assert_eq!(permitted(&[]), 0);
        let status = |permitted: &str| {
            format!("CapInh:\t0\nCapPrm:\t{permitted}\nCapBnd:\t0000000000002000\n")
        };
        assert!(lacks_capabilities(&status("0000000000000000"), 1 << 13));
        assert!(!lacks_capabilities(&status("0000000000002000"), 1 << 13));
        assert!(!lacks_capabilities(&status("0000000000000000"), 1 << 39));
    }

    #[test]
    fn a_program_without_the_bits_lacks_nothing() {
        let own = fs::read_link("/proc/self/exe").unwrap();
        assert!(!lacks_rights(std::process::id(), own.to_str().unwrap()));
    }

    #[test]
    fn no_bytes_make_the_parsers_panic() {
        let inputs = [
            b"Name:\tx\nUid:\t1000\t0\t0\t0\nCapPrm:\t00ff\nCapBnd:\t00ff\n".to_vec(),
            vec![
                1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0,
            ],
        ];
        fathom_test_memory::survives(&inputs, 1 << 10, |bytes| {
            let status = String::from_utf8_lossy(bytes);
            _ = effective(&status, "Uid:");
            _ = lacks_capabilities(&status, permitted(bytes));
            _ = auxiliary(bytes, AT_EXECFN);
        });
    }
}
