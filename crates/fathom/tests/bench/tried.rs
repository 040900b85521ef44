//! `bench --try`: runs the command with and without a change. Tests check what is done, never how long it
//! takes.

use std::path::Path;

use crate::world::{fathom, json, refusal, run, stderr, stdout, text};

#[test]
fn the_list_says_what_each_takes_away_and_can_break() {
    let output = run(&["--try", "list"]);
    let listed = stdout(&output);
    for name in ["no-sleep", "no-fsync", "python-buffered", "nothing"] {
        assert!(listed.lines().any(|line| line == name), "{name}: {listed}");
    }
    let is_name = |line: &&str| !line.starts_with(' ') && !line.starts_with("slope:");
    let names = listed.lines().filter(is_name).count();
    assert_eq!(listed.matches("removes").count(), names);
    assert_eq!(listed.matches("can break").count(), names);
}

#[test]
fn what_cannot_be_tried_is_refused_before_anything_is_measured() {
    let (code, said) = refusal(&["--try", "no-slep", "true"]);
    assert_eq!(code, 2);
    assert!(said.contains("did you mean no-sleep?"), "{said}");
    let (code, said) = refusal(&["--try", "nothing", "true", "false"]);
    assert_eq!((code, said.contains("one command")), (2, true), "{said}");
    let (code, said) = refusal(&["--try", "c-locale", "--env", "LC_ALL=C", "true"]);
    assert_eq!((code, said.contains("already C")), (2, true), "{said}");
}

#[test]
fn the_record_has_the_command_with_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record.json");
    let output = run(&[
        "--try",
        "nothing",
        "-r",
        "2",
        "--json",
        text(&record),
        "true",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = json(&record);
    let names: Vec<&str> = record["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["true", "true (--try nothing)"]);
    assert_eq!(record["runs"].as_array().unwrap().len(), 4);
    assert_eq!(record["outcome"]["comparisons"][0]["subject"], 1);
}

/// Returns the sentence at the end of a void comparison.
fn void(name: &str, line: &str, folder: &Path) -> String {
    let variables = ["--env", "LC_ALL=C.UTF-8", "--cwd", text(folder)];
    let arguments = [
        &["--try", name, "-r", "2"],
        &variables[..],
        &["--", "sh", "-c", line],
    ]
    .concat();
    let (code, said) = refusal(&arguments);
    assert_eq!(code, 4, "{said}");
    said
}

#[test]
fn a_command_that_does_something_else_without_it_is_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let prints = void("c-locale", "echo $LC_ALL", folder.path());
    assert!(
        prints.contains("what it prints is not the same"),
        "{prints}"
    );
    let ends = void("c-locale", "test $LC_ALL != C || exit 5", folder.path());
    assert!(ends.contains("ends with exit code 5"), "{ends}");
    let varies = void(
        "c-locale",
        "tr -dc a-z < /dev/urandom | head -c 40",
        folder.path(),
    );
    assert!(varies.contains("differs from run to run"), "{varies}");
}

#[test]
fn numbers_that_differ_by_themselves_are_no_reason() {
    let output = run(&[
        "--try",
        "nothing",
        "-r",
        "2",
        "--",
        "sh",
        "-c",
        "echo took $$ ms",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn nothing_is_left_behind_by_a_fathom_that_is_killed() {
    let scratch = tempfile::tempdir().unwrap();
    let started = scratch.path().join("started");
    let temporary = scratch.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    // The second counted round doesn't end.
    let line = "case $FATHOM_ITERATION in 1) : > \"$0\"; exec sleep 100000;; esac";
    let mut child = fathom(&["--try", "nothing", "--", "sh", "-c", line, text(&started)])
        .env("TMPDIR", &temporary)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let holds = || std::fs::read_dir(&temporary).unwrap().count();
    while !started.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        std::thread::yield_now();
    }
    assert_eq!(holds(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    while holds() > 0 {
        std::thread::yield_now();
    }
}
