//! Helpers shared by all tests.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) fn fathom(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .arg("startup")
        .args(arguments)
        .env_remove("NO_COLOR")
        // This folder holds no machine profile, so the machine is not compared with one.
        .env("XDG_CACHE_HOME", "/dev/null/no-folder")
        // Cargo sets this, and the loader then searches folders without libraries a hundred times.
        .env_remove("LD_LIBRARY_PATH")
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

/// Returns the record of a few quick rounds.
pub(crate) fn record(arguments: &[&str]) -> Value {
    let mut all = vec!["--json", "-"];
    if !arguments.contains(&"-r") {
        all.extend(["-r", "3", "-w", "1", "--traced", "1"]);
    }
    all.extend(arguments);
    let output = run(&all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Returns the exit code and the first line of standard error.
pub(crate) fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert_eq!(stdout(&output), "", "{arguments:?} prints no result");
    let said = stderr(&output);
    (
        output.status.code().unwrap(),
        said.lines().next().unwrap_or("").to_string(),
    )
}

pub(crate) fn ids(record: &Value) -> Vec<&str> {
    let warnings = record["warnings"].as_array().unwrap();
    warnings.iter().map(|w| w["id"].as_str().unwrap()).collect()
}

pub(crate) fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Returns whether this tier may be used here.
pub(crate) fn is_allowed(tier: &str) -> bool {
    let all = fathom_trace::detect::detect();
    let verdict = all.iter().find(|one| one.tier.name() == tier);
    let verdict = verdict.expect("every tier is tried");
    fathom_test_log::tier(tier, verdict.available, || verdict.why_not.clone())
}

/// Returns the first CPU that this process may use.
pub(crate) fn first_allowed_cpu() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.split("Cpus_allowed_list:").nth(1).unwrap();
    let digits = |c: char| c.is_ascii_digit();
    let first = list.trim_start().split(|c| !digits(c)).next().unwrap();
    first.parse().unwrap()
}

pub(crate) fn is_root() -> bool {
    // SAFETY: the call takes no arguments and can't fail.
    unsafe { libc::geteuid() == 0 }
}
