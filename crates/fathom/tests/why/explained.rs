//! Explanations of one command.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::world::{allows, fathom, parts_add_up, stderr, stdout, text, why};

#[test]
fn a_command_without_quotes_is_answered_with_both_right_forms() {
    let refusal = |arguments: &[&str]| {
        let output = fathom(&[&["why"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    assert_eq!(
        refusal(&["gzip", "-k", "-c", "f"]),
        "error: -k follows \"gzip\", where the command begins; for one command with arguments, write: fathom why -- gzip -k -c f, or: fathom why 'gzip -k -c f'\n"
    );
    // If the second word is not a program, the words were probably meant as one command.
    assert_eq!(
        refusal(&["ls", "no-such-file-here"]),
        "error: no such program: no-such-file-here; for one command with arguments, write: fathom why -- ls \
         no-such-file-here, or: fathom why 'ls no-such-file-here'\n"
    );
    assert_eq!(
        refusal(&["echo", "true", "false"]),
        "error: why takes one command, or two in quotes, not 3; for one command with arguments, write: fathom why \
         -- echo true false, or: fathom why 'echo true false'\n"
    );
    assert_eq!(
        refusal(&["sleep 1", "sleep 2", "sleep 3"]),
        "error: why takes one command, or two in quotes, not 3; to compare more, use fathom bench, then fathom why \
         for two of them\n"
    );
}

#[test]
fn every_tier_that_is_allowed_explains_a_program_and_its_account_adds_up() {
    for tier in ["kernel", "perf", "sample", "ptrace"]
        .into_iter()
        .filter(|tier| allows(tier))
    {
        let explanation = why(tier, &[], &["sh", "-c", "sleep 0.05; exit 0"]);
        assert_eq!(explanation["kind"], "why");
        assert_eq!(explanation["observation"]["tier"], tier);
        assert_eq!(explanation["timed"]["runs"], 3);
        parts_add_up(&explanation);
        if tier == "ptrace" {
            // This tier takes its times from the stops. Of the timed runs, only the CPU time charged by the
            // kernel is known.
            let parts = explanation["account"]["parts"].as_array().unwrap();
            let known = ["user_code", "kernel", "unaccounted"];
            let is_known = |part: &Value| known.contains(&part["category"].as_str().unwrap());
            assert!(parts.iter().all(is_known), "{parts:?}");
        }
    }
}

#[test]
fn a_pipeline_is_accounted_for_by_what_it_waited_for() {
    if !allows("kernel") {
        return;
    }
    let explanation = why("kernel", &[], &["sh", "-c", "sleep 0.2 | cat"]);
    parts_add_up(&explanation);
    let ns = |part: &str| {
        let parts = explanation["account"]["parts"].as_array().unwrap();
        let found = parts.iter().find(|row| row["category"] == part);
        found.map_or(0, |row| row["ns"].as_u64().unwrap())
    };
    // The shell waits for cat, and cat for sleep.
    assert!(ns("sleeping") >= 150_000_000, "{explanation}");
    assert!(ns("waiting_for_child") < ns("sleeping"));
}

#[test]
fn calls_are_counted_exactly_in_the_kernel() {
    if !allows("kernel") {
        return;
    }
    let command = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=50000"];
    let explanation = why("kernel", &[], &command);
    let calls = |name: &str| {
        explanation["calls"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["name"] == name)
            .unwrap()["calls"]
            .as_u64()
            .unwrap()
    };
    assert!(
        (50_000..50_020).contains(&calls("read")),
        "{}",
        calls("read")
    );
    assert!(
        (50_000..50_020).contains(&calls("write")),
        "{}",
        calls("write")
    );
    parts_add_up(&explanation);
}

#[test]
fn the_picture_runs_nothing_that_the_program_put_into_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("why.html");
    let evil = "<script>alert(1)</script>";
    let output = fathom(&[
        "why",
        "--runs",
        "2",
        "--html",
        text(&page),
        "--",
        "echo",
        evil,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("alert(1)"), "the argument is shown");
    assert!(!html.contains(evil), "but not as markup");
    assert!(html.len() < 1_000_000);
}

#[test]
fn a_program_that_never_ends_is_explained_up_to_its_time_limit() {
    let Some(tier) = ["kernel", "perf", "sample", "ptrace"]
        .into_iter()
        .find(|tier| allows(tier))
    else {
        return;
    };
    let explanation = why(tier, &["--timeout", "300ms"], &["sleep", "1000"]);
    for finding in explanation["findings"].as_array().unwrap() {
        assert_eq!(
            finding["saving_ns"], 0,
            "a run that was cut off wins nothing"
        );
    }
    assert_eq!(
        explanation["timed"]["runs"], 1,
        "one run that took too long is enough"
    );
    assert!(
        explanation["end"].as_str().unwrap().contains("--timeout"),
        "{}",
        explanation["end"]
    );
}

/// A script that ends by itself a few times and then never ends; each start appends a line.
const NEVER_ENDS_AT_LAST: &str = "echo x >> $0; test $(wc -l < $0) -lt $1 || exec sleep 1000";

/// Runs `fathom why` and sends it SIGINT when the command has started for the `last` time.
fn interrupted(last: usize) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let last = last.to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["why", "--runs", "3", "--", "sh", "-c", NEVER_ENDS_AT_LAST])
        .args([text(&begun), &last])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = || std::fs::read_to_string(&begun).map_or(0, |all| all.lines().count());
    while lines().to_string() != last {
        let ended = child.try_wait().unwrap();
        assert_eq!(ended, None, "it ended by itself after {} starts", lines());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // SAFETY: a process that this test started and has not reaped.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    child.wait_with_output().unwrap()
}

#[test]
fn what_was_seen_until_a_signal_is_explained() {
    // One warm-up, three timed runs and the observed one.
    let output = interrupted(5);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("by a signal to Fathom"), "{said}");
    assert!(said.contains("3 untraced runs"), "{said}");
    assert!(said.contains("did not finish"), "{said}");
}

#[test]
fn a_signal_before_the_command_was_observed_leaves_what_was_timed() {
    let output = interrupted(3);
    assert_eq!(output.status.code(), Some(130));
    let said = stderr(&output);
    assert!(said.contains("there is nothing to explain"), "{said}");
    assert!(said.contains("1 untraced run, median"), "{said}");
    let output = interrupted(1);
    assert_eq!(output.status.code(), Some(130));
    assert!(
        stderr(&output).contains("--timeout 10s"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_failing_program_is_explained_and_its_failure_is_said() {
    let Some(tier) = ["kernel", "perf", "sample", "ptrace"]
        .into_iter()
        .find(|tier| allows(tier))
    else {
        return;
    };
    let explanation = why(tier, &["-i"], &["sh", "-c", "exit 3"]);
    assert_eq!(explanation["end"], "exit code 3 in 3 of 3 runs");
}

#[test]
fn a_program_that_crashes_ends_it_with_its_last_words() {
    let output = fathom(&["why", "--", "sh", "-c", "echo alas >&2; kill -SEGV $$"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("was ended by SIGSEGV in"), "{said}");
    assert!(said.contains("  | alas"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_crash_that_is_ignored_is_not_passed_over() {
    let output = fathom(&[
        "why",
        "-i",
        "--runs",
        "2",
        "--",
        "sh",
        "-c",
        "kill -SEGV $$",
    ]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("signal 11 in 2 of 2 runs"), "{said}");
    assert!(!said.contains("Nothing stands out"), "{said}");
}

#[test]
fn a_sleep_is_as_long_as_it_is_and_every_share_is_of_the_median_wall_time() {
    if !allows("kernel") {
        return;
    }
    let explanation = why("kernel", &[], &["sleep", "0.3"]);
    let wall = explanation["timed"]["wall"]["value"].as_f64().unwrap();
    let account = &explanation["account"];
    let whole = account["wall_ns"].as_f64().unwrap() / 1e9;
    assert!((whole - wall).abs() < 1e-6, "{whole} {wall}");
    let finding = &explanation["findings"][0];
    assert_eq!(finding["id"], "sleeping");
    let parts = account["parts"].as_array().unwrap();
    let slept = parts
        .iter()
        .find(|part| part["category"] == "sleeping")
        .unwrap();
    let slept = slept["ns"].as_f64().unwrap() / 1e9;
    assert!((0.3..=wall).contains(&slept), "{slept} of {wall}");
    let share = finding["share"].as_f64().unwrap();
    assert!(
        (share - slept / wall).abs() < 0.002,
        "{share}: {slept} of {wall}"
    );
    let explaining = &explanation["observation"];
    let slowdown = explaining["wall_ns"].as_f64().unwrap() / 1e9 / wall;
    assert!((explaining["slowdown"].as_f64().unwrap() - slowdown).abs() < 1e-6);
}

#[test]
fn wrong_arguments_are_refused() {
    let cases: &[(&[&str], &str)] = &[
        (&["why"], "error: no command; try: fathom why -- "),
        (
            &["why", "no-such-program-here"],
            "error: no such program: no-such-program-here",
        ),
        (
            &["why", "true", "--", "false"],
            "error: commands in quotes and a command after -- can't be mixed",
        ),
        (
            &["why", "--runs", "0", "true"],
            "error: invalid value '0' for '--runs <N>'",
        ),
        (
            &["why", "--html", "/dev/null/folder/x.html", "true"],
            "error: can't write /dev/null/folder",
        ),
    ];
    for (arguments, expected) in cases {
        let output = fathom(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).starts_with(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}
