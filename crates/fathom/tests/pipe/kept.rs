//! After a session is interrupted, no process is left and every finished run is kept.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Child;

use super::*;

/// Returns the process ids of the shells and sleeps that have this word in their command line.
fn with_argument(argument: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let text = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        ["sh", "sleep", "dash", "bash"].contains(&name.trim())
            && String::from_utf8_lossy(&text).contains(argument)
    })
    .collect()
}

/// Waits until no such process is left; fails if one stays for a minute.
pub(crate) fn wait_for_end_of(argument: &str) {
    while let Some(pid) = with_argument(argument).first() {
        // SAFETY: takes two integers; returns a new descriptor, or fails if the process has ended.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, *pid, 0) };
        if process >= 0 {
            // SAFETY: just created, with no other owner.
            let process = unsafe { OwnedFd::from_raw_fd(process as i32) };
            assert!(readable(&process), "process {pid} did not end");
        }
    }
}

/// Waits up to a minute until the descriptor is readable.
fn readable(descriptor: &OwnedFd) -> bool {
    let mut polled = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: `polled` is one valid entry.
    unsafe { libc::poll(&raw mut polled, 1, 60_000) > 0 }
}

/// Returns the number of lines, of one letter each, that stages have written to this file.
fn lines(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len() / 2)
}

/// Waits until the file has this many lines; its folder reports every change.
fn wait_for_lines(path: &Path, count: u64) {
    let folder = CString::new(text(path.parent().unwrap())).unwrap();
    // SAFETY: takes numbers, returns a new descriptor.
    let changes = unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) };
    assert!(changes >= 0);
    // SAFETY: just created, with no other owner.
    let changes = unsafe { OwnedFd::from_raw_fd(changes) };
    // SAFETY: a live string that ends with zero.
    let watched =
        unsafe { libc::inotify_add_watch(changes.as_raw_fd(), folder.as_ptr(), libc::IN_MODIFY) };
    assert!(watched >= 0);
    let mut changes = File::from(changes);
    while lines(path) < count {
        let events = OwnedFd::from(changes.try_clone().unwrap());
        assert!(readable(&events), "line {count} did not come");
        let _ = changes.read(&mut [0; 4096]);
    }
}

/// Starts a session with stages that never end once they run.
fn endless(argument: &str, more: &[&str]) -> Child {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let says = format!("echo x >> {}", text(&started));
    let left = format!("sh -c 'sleep {argument} & {says}; sleep {argument}'");
    let right = format!("sh -c '{says}; exec sleep {argument}'");
    let mut command = command(more);
    command
        .args([&left, &right])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_for_lines(&started, 2);
    child
}

#[test]
fn a_pipeline_over_its_time_is_ended_with_everything_that_it_started() {
    let argument = "98761.5";
    let stage = format!("sh -c 'sleep {argument} & sleep {argument}'");
    let output = pipe(&["--timeout", "300ms", &stage, "cat"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("still running then: sh, cat"),
        "{}",
        stderr(&output)
    );
    wait_for_end_of(argument);
}

#[test]
fn an_interrupt_ends_the_stages_and_leaves_nothing_behind() {
    for (argument, more) in [("98762.5", &["--no-stage"][..]), ("98763.5", &[])] {
        let mut child = endless(argument, more);
        // SAFETY: a signal to our own child, which is not reaped yet.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
        assert_eq!(child.wait().unwrap().code(), Some(130));
        wait_for_end_of(argument);
    }
}

#[test]
fn a_killed_fathom_leaves_nothing_behind() {
    for (argument, more) in [("98764.5", &["--no-stage"][..]), ("98765.5", &[])] {
        let mut child = endless(argument, more);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for_end_of(argument);
    }
}

#[test]
fn kill_9_amid_rounds_loses_none_that_had_finished() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let stage = format!("sh -c 'echo x >> {}; echo y'", text(&count));
    let mut child = command(&["--no-stage", "-r", "1000000", "--json", text(&path)])
        .args([&stage, "cat"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_lines(&count, 21);
    child.kill().unwrap();
    child.wait().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let rounds = record["rounds"].as_array().unwrap();
    // The first run doesn't count, and the last may have been ended early.
    let made = lines(&count) - 1;
    let recorded = rounds.len() as u64;
    assert!(
        (made - 1..=made).contains(&recorded),
        "{recorded} recorded, {made} made"
    );
    assert_eq!(record["complete"], false);
    let _: fathom_model::PipeRecord = serde_json::from_value(record).unwrap();
}

#[test]
fn kill_9_keeps_the_late_rounds_and_the_stages_alone_too() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let stage = format!("sh -c 'echo x >> {}; echo y'", text(&count));
    let mut child = command(&["--delay", "2=1ms", "-r", "1000000", "--json", text(&path)])
        .args([&stage, "cat"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_lines(&count, 31);
    child.kill().unwrap();
    child.wait().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let length = |list: &Value| list.as_array().unwrap().len() as u64;
    // The stage runs in the pipeline, in the pipeline with a delay, and alone.
    let recorded = length(&record["rounds"])
        + length(&record["delayed"]["rounds"])
        + length(&record["alone"][0]["wall_ns"]);
    let made = lines(&count) - 1;
    assert!(
        (made - 1..=made).contains(&recorded),
        "{recorded} recorded, {made} made"
    );
    assert_eq!(length(&record["staged"]), 1);
    let _: fathom_model::PipeRecord = serde_json::from_value(record).unwrap();
}

#[test]
fn a_failing_stage_does_not_take_the_rounds_before_it_along() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let stage = format!(
        "sh -c 'echo x >> {0}; test $(wc -l < {0}) -lt 6'",
        text(&count)
    );
    let output = pipe(&[
        "--no-stage",
        "-r",
        "50",
        "--json",
        text(&path),
        &stage,
        "cat",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(record["rounds"].as_array().unwrap().len(), 4);
    assert_eq!(record["complete"], false);
}

#[test]
fn kill_9_amid_observed_rounds_keeps_those_that_had_ended() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let stage = format!("sh -c 'echo x >> {}; echo y'", text(&count));
    let more = ["--tier", "sample", "--no-stage", "-r", "2"];
    let mut child = command(&more)
        .args(["--traced", "1000000", "--json", text(&path), &stage, "cat"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_lines(&count, 9);
    child.kill().unwrap();
    child.wait().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(record["rounds"].as_array().unwrap().len(), 2);
    // The first run and the two rounds aren't observed; the last run may have been ended early.
    let made = lines(&count) - 3;
    let recorded = record["observed_rounds"].as_array().unwrap().len() as u64;
    assert!(
        (made - 1..=made).contains(&recorded),
        "{recorded} recorded, {made} made"
    );
    assert_eq!(record["complete"], false);
    let _: fathom_model::PipeRecord = serde_json::from_value(record).unwrap();
}
