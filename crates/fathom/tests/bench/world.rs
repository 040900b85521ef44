//! Runs the built Fathom and holds the outcome of a call.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) fn fathom(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .arg("bench")
        .args(arguments)
        .env_remove("NO_COLOR")
        // This folder holds no machine profile, so the machine is not compared with one.
        .env("XDG_CACHE_HOME", "/dev/null/no-folder")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    fathom(arguments).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the exit code and the first line of standard error.
pub(crate) fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert_eq!(stdout(&output), "", "{arguments:?} prints no result");
    (
        output.status.code().unwrap(),
        stderr(&output).lines().next().unwrap_or("").to_string(),
    )
}

pub(crate) fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
