//! `fathom pipe` as its users see it. Tests check counts, words and lower bounds, never speed.
#![cfg(target_os = "linux")]

mod ends;
mod kept;
mod options;
mod waits;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("pipe").args(arguments).stdin(Stdio::null());
    command
}

fn pipe(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the record of a session that must succeed.
fn record(arguments: &[&str]) -> Value {
    let mut all = vec!["--json", "-", "--rounds", "2", "--traced", "1"];
    all.extend(arguments);
    let output = pipe(&all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn note<'a>(record: &'a Value, id: &str) -> &'a str {
    let notes = record["notes"].as_array().unwrap();
    let found = notes.iter().find(|note| note["id"] == id);
    let found = found.unwrap_or_else(|| panic!("no note {id} in {notes:?}"));
    found["message"].as_str().unwrap()
}

/// Returns the tiers that this user may use here.
fn tiers() -> Vec<&'static str> {
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let listed = Command::new(fathom)
        .args(["why", "--tiers"])
        .output()
        .unwrap();
    let listed = stdout(&listed);
    let allowed = |tier: &&str| {
        let available = listed.lines().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(*tier) && words.next() == Some("yes")
        });
        fathom_test_log::tier(tier, available, || "not allowed here".to_string())
    };
    let tiers = ["kernel", "perf", "sample"].into_iter();
    tiers.filter(allowed).collect()
}

fn ns(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
