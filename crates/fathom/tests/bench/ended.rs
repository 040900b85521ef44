//! Sessions that are ended from outside.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::world::{fathom, json, stdout, text};

/// Starts a session whose third run of the command blocks until it is ended.
fn blocked_session(path: &Path, mark: &str) -> std::process::Child {
    let script = format!("[ $FATHOM_ITERATION -lt 2 ] || exec sleep {mark}");
    let child = fathom(&[
        "-w",
        "0",
        "-r",
        "9",
        "--json",
        text(path),
        "--",
        "sh",
        "-c",
        &script,
    ])
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    wait_until(|| is_running(mark));
    child
}

#[test]
fn what_was_measured_survives_kill_9_and_nothing_stays_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let mark = format!("83{}.5", std::process::id());
    let mut session = blocked_session(&path, &mark);
    session.kill().unwrap();
    session.wait().unwrap();
    let record = json(&path);
    assert_eq!(record["runs"].as_array().unwrap().len(), 2);
    assert_eq!(record["complete"], false);
    wait_until(|| !is_running(&mark));
}

#[test]
fn kill_9_amid_short_runs_loses_none_that_had_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let count = folder.path().join("count");
    let line = format!("sh -c 'echo x >> {}'", text(&count));
    let runs = || std::fs::metadata(&count).map_or(0, |file| file.len() / 2);
    let mut session = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args([
            "bench",
            "-w",
            "0",
            "-r",
            "1000000",
            "--json",
            text(&path),
            &line,
        ])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| runs() > 200);
    session.kill().unwrap();
    session.wait().unwrap();
    // When Fathom dies, the launcher first ends the processes that it runs and then exits; nothing is written
    // after that.
    wait_until(|| !is_open(&path));
    let recorded = json(&path)["runs"].as_array().unwrap().len() as u64;
    // The last run may have been ended early.
    assert!(
        (runs() - 1..=runs()).contains(&recorded),
        "{recorded} recorded, {} made",
        runs()
    );
}

#[test]
fn ctrl_c_prints_what_is_there_and_says_that_it_is_partial() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let mark = format!("82{}.5", std::process::id());
    let session = blocked_session(&path, &mark);
    Command::new("kill")
        .args(["-INT", &session.id().to_string()])
        .status()
        .unwrap();
    let output = session.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let printed = stdout(&output);
    assert!(printed.to_lowercase().contains("interrupted"), "{printed}");
    assert!(printed.contains("2 runs"), "{printed}");
    assert!(!is_running(&mark));
    assert_eq!(json(&path)["outcome"]["stop"], "interrupted");
}

fn is_running(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // Match the program itself, not a shell or Fathom with it among the arguments.
        line.starts_with(b"sleep\0") && String::from_utf8_lossy(&line).contains(mark)
    })
}

/// Returns whether any process has the file open.
fn is_open(path: &Path) -> bool {
    let path = path.canonicalize().unwrap();
    let open_files = |process: std::fs::DirEntry| std::fs::read_dir(process.path().join("fd")).ok();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(open_files)
        .flat_map(std::iter::Iterator::flatten)
        .any(|file| std::fs::read_link(file.path()).is_ok_and(|target| target == path))
}

fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}
