//! Two commands and their difference.

use serde_json::Value;

use crate::world::{allows, fathom, stderr, stdout};

/// Returns the difference between two commands, measured with these additional options, as JSON.
fn differs(more: &[&str], a: &str, b: &str) -> Value {
    let arguments = [&["why", "--runs", "6", "--json", "-"], more, &[a, b]].concat();
    let output = fathom(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Checks that the rows of the wall time and the unexplained rest add up to the difference, to the
/// nanosecond.
fn difference_adds_up(record: &Value) {
    let ns = |value: &Value| (value.as_f64().unwrap() * 1e6).round() as i64;
    let difference = &record["difference"];
    let rows = difference["rows"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["of"] == "wall");
    let sum: i64 = rows.map(|row| ns(&row["milliseconds"])).sum();
    let whole = ns(&difference["wall"]["milliseconds"]);
    assert_eq!(sum + ns(&difference["not_explained"]), whole, "{record}");
}

#[test]
fn of_two_commands_what_the_second_takes_more_is_listed() {
    if !allows("kernel") {
        return;
    }
    let dd = |count: &str| format!("dd if=/dev/zero of=/dev/null bs=1 count={count}");
    let record = differs(&["--tier", "kernel"], &dd("1000"), &dd("101000"));
    difference_adds_up(&record);
    assert_eq!(record["kind"], "difference");
    assert_eq!(record["difference"]["wall"]["rounds"], 6);
    let rows = record["difference"]["rows"].as_array().unwrap();
    // On a busy machine, waits for a CPU form a separate row.
    let is_read = |row: &&Value| row["part"] == "read" && row["of"] == "kernel_io";
    let reads = rows.iter().find(is_read);
    let reads = reads.unwrap_or_else(|| panic!("what is read is most of it: {record}"));
    let count = |side: &str| reads["count"][side].as_u64().unwrap();
    assert_eq!(count("b") - count("a"), 100_000);
    assert!(
        reads["file"].as_str().unwrap().ends_with("/dev/zero"),
        "{reads}"
    );
}

#[test]
fn a_child_that_only_the_second_starts_is_a_row() {
    let Some(tier) = ["kernel", "perf"].into_iter().find(|tier| allows(tier)) else {
        return;
    };
    let b = "sh -c 'sleep 0.3; exit 0'";
    let record = differs(&["--tier", tier], "sh -c 'exit 0'", b);
    difference_adds_up(&record);
    let rows = record["difference"]["rows"].as_array().unwrap();
    let child = rows
        .iter()
        .find(|row| row["by"] == "child")
        .expect("a child");
    assert_eq!(child["part"], "sleep", "{record}");
    assert_eq!(child["of"], "wall");
    assert_eq!(
        child["count"],
        serde_json::json!({"what": "processes", "a": 0, "b": 1})
    );
    assert!(child["milliseconds"].as_f64().unwrap() > 250.0, "{record}");
}

#[test]
fn two_programs_without_arguments_are_two_commands_in_every_tier() {
    for tier in ["kernel", "perf", "sample", "ptrace"] {
        if !allows(tier) {
            continue;
        }
        let record = differs(&["-i", "--tier", tier], "true", "false");
        difference_adds_up(&record);
        assert_eq!(record["commands"][0]["observation"]["tier"], tier);
        assert_eq!(record["commands"][1]["end"], "exit code 1 in 6 of 6 runs");
    }
}

#[test]
fn what_differs_fits_a_screen_with_the_answer_first() {
    let output = fathom(&["why", "--runs", "6", "sleep 0.5", "true"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.starts_with("B takes "), "{said}");
    assert!(said.contains(" less than A ("), "{said}");
    assert!(said.contains("not explained: "), "{said}");
    assert!(
        said.contains("6 rounds in random order; observed"),
        "{said}"
    );
    assert!(said.lines().count() <= 20, "{said}");
}

#[test]
fn of_two_commands_a_page_has_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("why.html");
    let html = format!("--html={}", page.display());
    let output = fathom(&["why", "--runs", "3", &html, "sleep 0.1", "true"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer = stdout(&output);
    let answer = answer.lines().next().unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(answer), "{answer}");
}

#[test]
fn what_shows_one_command_is_refused_for_two() {
    for option in ["--syscalls", "--profile=a.json", "--processes"] {
        let output = fathom(&["why", option, "true", "false"]);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        let said = stderr(&output);
        let name = option.split('=').next().unwrap();
        let expected = format!(
            "error: {name} applies only to one command; with two commands, why shows the difference"
        );
        assert!(said.starts_with(&expected), "{said}");
    }
}
