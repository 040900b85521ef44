//! Helpers shared by the tests of `fathom why`.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) fn fathom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns whether this user may use the tier here, and prints a message if not.
pub(crate) fn allows(tier: &str) -> bool {
    let listed = stdout(&fathom(&["why", "--tiers"]));
    let allowed = listed.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some(tier) && words.next() == Some("yes")
    });
    fathom_test_log::tier(tier, allowed, || "not allowed here".to_string())
}

/// Returns the explanation as JSON.
pub(crate) fn why(tier: &str, more: &[&str], command: &[&str]) -> Value {
    let mut arguments = vec!["why", "--runs", "3", "--json", "-", "--tier", tier];
    arguments.extend(more);
    arguments.push("--");
    arguments.extend(command);
    let output = fathom(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

pub(crate) fn parts_add_up(explanation: &Value) {
    let account = &explanation["account"];
    let parts = account["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["ns"].as_u64().unwrap()).sum();
    assert_eq!(sum, account["wall_ns"].as_u64().unwrap(), "{account}");
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
