//! Commands that are measured, compared and reported.

use serde_json::Value;

use crate::world::{fathom, json, run, stderr, stdout, text};

#[test]
fn two_commands_are_measured_and_compared() {
    let output = run(&[
        "-r",
        "12",
        "--seed",
        "5",
        "sh -c 'exit 0'",
        "sh -c 'sleep 0.05'",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("slower"), "{printed}");
    assert!(
        printed.contains("12 rounds in random order (seed 5)"),
        "{printed}"
    );
    assert!(!printed.contains('\x1b'), "no colour when piped");
    assert!(
        printed.lines().all(|line| line.chars().count() <= 80),
        "{printed}"
    );
    assert_eq!(stderr(&output), "", "no progress when piped");
}

#[test]
fn a_comparison_without_a_limit_says_first_how_long_it_may_take() {
    let commands = ["true", "sleep 0.1"];
    let output = run(&commands);
    assert_eq!(
        stderr(&output),
        "2 commands are measured until they are decided, for at most 5 minutes: --time 30s or -r 20 makes it \
         shorter\n"
    );
    for limited in [&["-r", "2"][..], &["--time", "1s"], &["-M", "2"]] {
        let output = run(&[limited, &commands].concat());
        assert_eq!(stderr(&output), "", "{limited:?}");
    }
}

#[test]
fn brief_is_a_line_for_each_command() {
    let output = run(&["-r", "12", "--brief", "true", "sleep 0.05"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[0].starts_with("1: true ") && lines[0].ends_with("reference"),
        "{printed}"
    );
    assert!(
        lines[1].starts_with("2: sleep 0.05 ") && lines[1].ends_with("slower"),
        "{printed}"
    );
    assert!(lines[2].starts_with("median wall time, "), "{printed}");
    assert!(
        lines[2].contains("12 rounds; verdicts against 1 by "),
        "{printed}"
    );
}

#[test]
fn arguments_that_are_no_text_are_shown_and_kept() {
    use std::os::unix::ffi::OsStringExt;

    let raw = std::ffi::OsString::from_vec(vec![b'a', 0xff, 0xfe]);
    let mut command = fathom(&["-r", "1", "--json", "-", "--", "echo"]);
    let output = command.arg(raw).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let benchmark = &record["benchmarks"][0];
    assert_eq!(benchmark["name"], "echo a\\xff\\xfe");
    let kept = serde_json::json!([b"echo", [b'a', 0xff, 0xfe]]);
    assert_eq!(benchmark["arguments_bytes"], kept);
    let output = run(&["-r", "1", "--json", "-", "--", "echo", "ä"]);
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(record["benchmarks"][0]["arguments_bytes"].is_null());
}

#[test]
fn a_grep_into_dev_null_is_told_to_stop_early() {
    let warned = |more: &[&str]| {
        let arguments = [
            &["-r", "1"],
            more,
            &["--", "grep", "-c", "a", "/etc/passwd"],
        ]
        .concat();
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).contains("GNU grep stops at the first match")
    };
    assert!(warned(&[]));
    assert!(!warned(&["--output", "pipe"]));
}

#[test]
fn one_command_after_two_dashes_is_taken_word_by_word() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let output = run(&[
        "-r",
        "1",
        "--output",
        text(&target),
        "--",
        "printf",
        "%s|",
        "a b",
        "*",
        "$HOME",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(target).unwrap(), "a b|*|$HOME|");
}

#[test]
fn the_reference_may_be_another_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let output = run(&[
        "-r",
        "6",
        "--reference",
        "echo base",
        "true",
        "--json",
        text(&path),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = json(&path);
    assert_eq!(record["benchmarks"][0]["command"], "echo base");
    assert_eq!(record["outcome"]["comparisons"][0]["reference"], 0);
    assert_eq!(record["outcome"]["comparisons"][0]["subject"], 1);
}
