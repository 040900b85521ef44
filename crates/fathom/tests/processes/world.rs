//! The built Fathom, its output, and the running processes.

use std::process::{Command, Output, Stdio};

pub(crate) fn fathom(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .args(arguments)
        .env("XDG_CACHE_HOME", "/dev/null/no-folder")
        .stdin(Stdio::null());
    command
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns a sleep duration that no other process uses, which identifies the process.
pub(crate) fn mark(number: u32) -> String {
    format!("{number}{}.5", std::process::id())
}

/// Returns whether `sleep MARK` runs.
pub(crate) fn sleeps(mark: &str) -> bool {
    let line = [b"sleep\0", mark.as_bytes(), b"\0"].concat();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|it| it == line))
}

/// Returns whether any process has this word in its command line.
pub(crate) fn runs(word: &str) -> bool {
    let is_named = |line: Vec<u8>| {
        line.split(|byte| *byte == 0)
            .any(|it| it == word.as_bytes())
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(is_named))
}

/// Waits for a condition that must become true.
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}
