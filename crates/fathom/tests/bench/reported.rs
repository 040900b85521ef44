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
        "sh -c 'sleep 0.3'",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    let first: Vec<&str> = printed.lines().take(6).collect();
    assert!(first.join(" ").contains("2 is "), "{printed}");
    assert!(first.join(" ").contains("slower than 1"), "{printed}");
    assert!(printed.lines().count() <= 14, "{printed}");
    assert!(printed.contains("12 rounds in random order, "), "{printed}");
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
        "2 commands: measuring until the comparison is decided, for at most 10 s but at least 10 rounds (--time 5m allows longer)\n"
    );
    for limited in [&["-r", "8"][..], &["--time", "1s"], &["-M", "8"]] {
        let output = run(&[limited, &commands].concat());
        assert_eq!(stderr(&output), "", "{limited:?}");
    }
}

/// Makes four rounds more than a claim needs. Both commands wait for a random time, so the comparison is
/// undecided on every machine.
#[test]
fn the_command_that_would_decide_runs_as_it_is_printed() {
    let wait = |name: &str| {
        format!("sh -c 'sleep 0.0$(od -An -N1 -tu1 /dev/urandom | tr -d \" \")' {name}")
    };
    let (one, other) = (wait("it's"), wait("b"));
    let one = one.replace("it's", "\"it's\"");
    let output = run(&["-r", "12", "--margin", "0.1%", &one, &other]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    let Some((_, after)) = printed.split_once("would decide:\n") else {
        assert!(printed.contains("than 1"), "decided by chance: {printed}");
        return;
    };
    let command: Vec<&str> = after
        .lines()
        .take_while(|line| line.starts_with("    "))
        .collect();
    assert!(
        command[0].starts_with("    fathom bench --time "),
        "{printed}"
    );
    // A shell accepts the printed command, which repeats the arguments with a different amount of measuring.
    let script = format!(
        "fathom() {{ printf '%s\\n' \"$@\"; }}\n{}",
        command.join("\n")
    );
    let words = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words[..2], ["bench", "--time"], "{words:?}");
    assert_eq!(words[3..], ["--margin", "0.1%", &one, &other]);
}

#[test]
fn brief_is_a_line_for_each_command() {
    let output = run(&["-r", "12", "--brief", "true", "sleep 0.3"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[0].starts_with("1: true ") && lines[0].ends_with("reference"),
        "{printed}"
    );
    assert!(
        lines[1].starts_with("2: sleep 0.3 ") && lines[1].ends_with("slower"),
        "{printed}"
    );
    assert!(lines[2].starts_with("median "), "{printed}");
    assert!(
        lines[2].contains("12 rounds; verdicts against 1"),
        "{printed}"
    );
}

#[test]
fn too_few_rounds_are_reported_before_and_after() {
    let output = run(&["-r", "5", "--brief", "true", "sleep 0.05"]);
    assert_eq!(
        stderr(&output),
        "warning: -r 5: too few rounds for a verdict (5, but at least 8 are needed)\n"
    );
    let printed = stdout(&output);
    assert!(
        printed
            .lines()
            .nth(1)
            .unwrap()
            .ends_with("too few rounds (5 of 8)"),
        "{printed}"
    );
    for enough in [&["-r", "8", "true", "true"][..], &["-r", "1", "true"]] {
        assert_eq!(stderr(&run(enough)), "", "{enough:?}");
    }
}

#[test]
fn all_that_is_known_stands_under_headings() {
    let output = run(&["-r", "8", "-v", "--seed", "5", "true", "sleep 0.05"]);
    let printed = stdout(&output);
    for heading in [
        "Comparison",
        "Figures of each command",
        "How it was measured",
    ] {
        assert!(printed.lines().any(|line| line == heading), "{printed}");
    }
    assert!(
        printed.contains("8 rounds in random order (seed 5)"),
        "{printed}"
    );
}

#[test]
fn piped_input_that_is_not_used_is_reported_and_left_alone() {
    let said =
        "warning: standard input is not used; to use it, save it to a file and give --input FILE\n";
    let with_input = |arguments: &[&str]| {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"abc").unwrap();
        drop(writer);
        let own = reader.try_clone().unwrap();
        let output = fathom(arguments).stdin(own).output().unwrap();
        let mut left = String::new();
        std::io::Read::read_to_string(&mut reader, &mut left).unwrap();
        assert_eq!(left, "abc", "nothing was consumed");
        stderr(&output)
    };
    assert_eq!(with_input(&["-r", "1", "cat"]), said);
    assert_eq!(
        with_input(&["-r", "1", "--input", "/etc/passwd", "cat"]),
        ""
    );
    assert_eq!(with_input(&["-r", "1", "--input", "null", "cat"]), "");
}

#[test]
fn a_first_run_far_from_all_others_is_reported_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (made, path) = (
        folder.path().join("made"),
        folder.path().join("record.json"),
    );
    let script = format!("[ -s {0} ] || {{ sleep 0.5; echo x > {0}; }}", text(&made));
    let output = run(&["-r", "3", "-S", &script, "--json", text(&path)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("the warm-up run took "),
        "{}",
        stdout(&output)
    );
    let record = json(&path);
    assert_eq!(record["outcome"]["warnings"][0]["id"], "slow_warmup");
    let warmups = record["outcome"]["warmups"].as_array().unwrap();
    assert_eq!(warmups.len(), 1);
    assert!(warmups[0]["wall_ns"].as_u64().unwrap() > 500_000_000);
    assert_eq!(record["runs"].as_array().unwrap().len(), 3);
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
fn who_does_less_for_dev_null_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let big = folder.path().join("big");
    std::fs::write(&big, "a line of text\n".repeat(100_000)).unwrap();
    let big = text(&big);
    let warned = |arguments: &[&str]| {
        let output = run(&[&["-r", "2", "--json", "-"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let warnings = record["outcome"]["warnings"].as_array().unwrap();
        let of_null = warnings
            .iter()
            .filter(|warning| warning["id"] == "less_for_null");
        of_null
            .map(|warning| warning["benchmark"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    // If standard output is `/dev/null`, GNU tar opens no files, and GNU grep stops at the first match.
    assert_eq!(warned(&["--", "tar", "cfP", "-", big]), [0]);
    assert_eq!(warned(&["--", "grep", "-c", "line", big]), [0]);
    // The warning also applies to one of several commands.
    let (tar, cat) = (format!("tar cfP - {big}"), format!("cat {big}"));
    assert_eq!(warned(&["echo x", &tar, &cat]), [1]);
    // Without a run into a pipe to compare with, there is no warning. With a pipe, programs always do all
    // their work.
    assert_eq!(warned(&["-w", "0", &tar]), [0; 0]);
    assert_eq!(warned(&["--output", "pipe", &tar]), [0; 0]);
    assert_eq!(warned(&["echo x", &cat, "true"]), [0; 0]);
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
