//! Processes left running by hooks.

use crate::world::{fathom, mark, sleeps, stderr, wait_until};

/// Returns a command that leaves `sleep MARK` running in a separate session, and exits once the sleep runs.
fn leaves(mark: &str) -> String {
    format!(
        "setsid sh -c 'echo >ready; exec sleep {mark}' </dev/null >/dev/null 2>&1 & until [ -s ready ]; do :; done"
    )
}

#[test]
fn what_hooks_leave_running_is_ended_with_the_measurement() {
    for (at, hook) in (0..).zip(["--setup", "--prepare", "--conclude", "--cleanup"]) {
        let folder = tempfile::tempdir().unwrap();
        let mark = mark(830 + at);
        let output = fathom(&[
            "bench",
            "-r",
            "2",
            "-w",
            "0",
            hook,
            &leaves(&mark),
            "--",
            "true",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
        assert_eq!(output.status.code(), Some(0), "{hook}: {}", stderr(&output));
        assert!(folder.path().join("ready").exists(), "{hook}");
        assert!(!sleeps(&mark), "{hook}");
    }
    for (at, verb) in (0..).zip(["startup", "why", "pipe"]) {
        let folder = tempfile::tempdir().unwrap();
        let mark = mark(840 + at);
        let prepare = leaves(&mark);
        let runs = if verb == "pipe" { "-r" } else { "--runs" };
        let mut words = vec![verb, runs, "2", "--prepare", &prepare];
        words.extend(if verb == "pipe" {
            ["true", "true"]
        } else {
            ["--", "true"]
        });
        let output = fathom(&words).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{verb}: {}", stderr(&output));
        assert!(folder.path().join("ready").exists(), "{verb}");
        assert!(!sleeps(&mark), "{verb}");
    }
}

#[test]
fn a_server_that_setup_leaves_running_serves_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(850);
    let is_there = format!("pgrep -f '^sleep {mark}$' >/dev/null && echo there >> seen");
    let output = fathom(&[
        "bench",
        "-r",
        "2",
        "-w",
        "0",
        "--setup",
        &leaves(&mark),
        "--cleanup",
        &is_there,
        "--",
        "sh",
        "-c",
        &is_there,
    ])
    .current_dir(folder.path())
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    assert_eq!(seen.lines().count(), 3, "two runs and the cleanup: {seen}");
    wait_until(|| !sleeps(&mark));
}

#[test]
fn a_hook_that_stops_its_parent_is_ended_and_named() {
    let mark = mark(860);
    let stops = format!("kill -STOP $PPID; sleep {mark}");
    let output = fathom(&["bench", "-r", "2", "--prepare", &stops, "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("stopped its parent process"),
        "{}",
        stderr(&output)
    );
    assert!(!sleeps(&mark));
}

#[test]
fn cleanup_runs_to_its_end_after_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(870);
    let session = fathom(&[
        "bench",
        "-w",
        "0",
        "--cleanup",
        "sleep 0.01; echo >cleaned",
        "--",
        "sleep",
        &mark,
    ])
    .current_dir(folder.path())
    .spawn()
    .unwrap();
    wait_until(|| sleeps(&mark));
    // SAFETY: a signal to our own child, which has not been reaped.
    unsafe { libc::kill(session.id() as i32, libc::SIGINT) };
    let output = session.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(folder.path().join("cleaned").exists());
    assert!(!sleeps(&mark));
}
