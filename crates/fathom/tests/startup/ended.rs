//! Refusals, failures, and interruption from outside.

use std::process::Stdio;

use serde_json::Value;

use super::world::{fathom, ids, record, refusal, stderr, stdout};

#[test]
fn what_cant_be_started_is_refused_with_the_way_out() {
    let (code, said) = refusal(&["no-such-program-here"]);
    assert_eq!(code, 2);
    assert!(said.contains("no such program"), "{said}");
    let (code, said) = refusal(&["echo", "3"]);
    assert_eq!(code, 2);
    assert_eq!(
        said,
        "error: no such program: 3; for one command with arguments, write: fathom startup -- echo 3, or: fathom \
         startup 'echo 3'"
    );
    // The script exists, but it is not an executable program.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tool.py"), "").unwrap();
    let output = fathom(&["sh", "tool.py"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(
        stderr(&output),
        "error: no such program: tool.py; for one command with arguments, write: fathom startup -- sh tool.py, or: \
         fathom startup 'sh tool.py'\n"
    );
    assert_eq!(refusal(&[]).0, 2);
    let (code, said) = refusal(&["--output", "null", "echo x"]);
    assert_eq!(code, 2);
    assert!(said.contains("through a pipe"), "{said}");
    assert_eq!(refusal(&["--budget", "fast", "echo x"]).0, 2);
    let (code, said) = refusal(&["--budget", "20", "echo x"]);
    assert_eq!(code, 2);
    assert!(said.ends_with("add its unit: 20s, or 20ms"), "{said}");
}

#[test]
fn a_failing_program_ends_it_unless_failures_are_let_pass() {
    let (code, said) = refusal(&["-r", "2", "sh -c 'echo x; exit 7'"]);
    assert_eq!(code, 3);
    assert!(said.contains("exit code 7"), "{said}");
    let record = record(&["-i", "sh -c 'echo x; exit 7'"]);
    assert!(ids(&record).contains(&"failures"));
    let (code, said) = refusal(&["--timeout", "200ms", "sleep 1000"]);
    assert_eq!(code, 3);
    assert!(said.contains("--timeout"), "{said}");
}

#[test]
fn runs_that_were_ended_have_no_time_to_the_exit() {
    let record = record(&["-i", "--timeout", "300ms", "sleep 1000"]);
    assert_eq!(record["summaries"], Value::Array(Vec::new()));
    let warnings = record["warnings"].to_string();
    assert!(
        warnings.contains("3 of 3 runs were ended by --timeout"),
        "{warnings}"
    );
    for trace in record["traces"].as_array().unwrap() {
        assert_eq!(trace["phases"], Value::Array(Vec::new()));
        assert!(trace["slowdown"].is_null());
    }
}

#[test]
fn a_failure_loses_no_finished_run() {
    let folder = tempfile::tempdir().unwrap();
    let (counter, file) = (
        folder.path().join("counter"),
        folder.path().join("record.json"),
    );
    let script = format!(
        "echo x; echo . >> {0}; test $(wc -l < {0}) -lt 5",
        counter.display()
    );
    let output = fathom(&[
        "-r",
        "9",
        "-w",
        "0",
        "--json",
        file.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        &script,
    ])
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(record["complete"], false);
    let codes: Vec<&Value> = record["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["exit"]["code"])
        .collect();
    assert_eq!(codes, [0, 0, 0, 0, 1]);
}

#[test]
fn a_daemon_is_reported_and_does_not_stay() {
    let mark = format!("30{}", std::process::id());
    let command = format!("sh -c 'sleep {mark} >/dev/null 2>&1 & echo started'");
    let record = record(&[&command]);
    assert!(ids(&record).contains(&"left_behind"), "{:?}", ids(&record));
    let still_there = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        arguments == format!("sleep\0{mark}\0").as_bytes()
    });
    assert!(!still_there);
}

#[test]
fn ctrl_c_prints_what_is_there_and_says_that_it_is_partial() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("began");
    let command = format!(
        "sh -c 'echo x; echo . >> {}; exec sleep 0.05'",
        marker.display()
    );
    let child = fathom(&["-r", "100000", "--traced", "0", &command])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // After six starts, three warm-ups and at least two counted runs are complete.
    while std::fs::metadata(&marker).map_or(0, |m| m.len()) < 12 {
        std::thread::yield_now();
    }
    // SAFETY: our own child, not reaped yet.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("PARTIAL: interrupted"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn kill_9_amid_rounds_loses_no_run_that_had_finished() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let path = folder.path().join("record.json");
    let line = format!("sh -c 'echo x; echo . >> {}'", count.display());
    let runs = || std::fs::metadata(&count).map_or(0, |file| file.len() / 2);
    let mut child = fathom(&["-r", "100000", "-w", "0", "--traced", "0", "--json"])
        .arg(&path)
        .arg(&line)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while runs() <= 30 {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let recorded = record["runs"].as_array().unwrap().len() as u64;
    // The last run may have been ended early.
    assert!(
        (runs() - 1..=runs()).contains(&recorded),
        "{recorded} recorded, {} made",
        runs()
    );
    assert_eq!(record["complete"], false);
    assert_eq!(record["conditions"]["rounds"], recorded);
    let _: fathom_model::StartupRecord = serde_json::from_value(record).unwrap();
}
