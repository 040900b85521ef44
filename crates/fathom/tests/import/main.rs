//! `fathom import` and `fathom export` as their users see them.
#![cfg(target_os = "linux")]

mod compared;
mod exported;
mod hostile;
mod imported;
mod real_tools;
mod stored;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn sample(file: &str) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exchange/tests/samples");
    samples.join(file)
}

fn fathom(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env_remove("FATHOM_STORE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A process that refuses its arguments doesn't read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the output of a call that must succeed.
fn done(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let output = fathom(folder, arguments, input);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stdout(&output)
}

/// Returns the message of a call that must be refused.
fn refused(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let output = fathom(folder, arguments, input);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{arguments:?}: {}",
        stdout(&output)
    );
    assert_eq!(stdout(&output), "", "{arguments:?}");
    stderr(&output)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
