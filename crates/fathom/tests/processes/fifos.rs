//! Input without a writer: the timeout or a signal ends the wait for it.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::world::{fathom, stderr, wait_until};

fn fifo(folder: &Path) -> PathBuf {
    let path = folder.join("input");
    let text = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a string that ends with zero.
    assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
    path
}

/// Returns whether a process or one of its children waits in the call with this number.
fn is_in(pid: u32, call: libc::c_long) -> bool {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
    let calls = read("syscall").unwrap_or_default();
    let children = read(&format!("task/{pid}/children")).unwrap_or_default();
    calls.starts_with(&format!("{call} "))
        || children
            .split_whitespace()
            .any(|child| is_in(child.parse().unwrap(), call))
}

#[test]
fn a_fifo_that_nobody_writes_is_named_when_the_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(folder.path());
    for verb in ["bench", "startup", "why"] {
        let output = fathom(&[verb, "--timeout", "200ms", "--input"])
            .arg(&path)
            .args(["--", "cat"])
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{verb}: {said}");
        assert!(said.contains("is a FIFO, and no process"), "{verb}: {said}");
    }
}

#[test]
fn a_signal_ends_the_wait_for_who_writes_a_fifo() {
    // SAFETY: the call takes no arguments and can't fail.
    if unsafe { libc::getuid() } != 0 {
        fathom_test_log::skipped("only root sees in which call another process waits");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(folder.path());
    for verb in ["bench", "startup"] {
        let mut child = fathom(&[verb, "--input"])
            .arg(&path)
            .args(["--", "cat"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Wait until the process stays in this call: before that, it opens other files.
        let mut times = 0;
        wait_until(|| {
            times = if is_in(child.id(), libc::SYS_openat) {
                times + 1
            } else {
                0
            };
            times > 1000
        });
        // SAFETY: a child of ours that has not been waited for.
        unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        assert_eq!(child.wait().unwrap().code(), Some(130), "{verb}");
    }
}
