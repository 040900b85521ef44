//! The exports for other programs and documents.

mod support;

use fathom_model::{BenchRecord, Exit};
use fathom_report::{TimeUnit, asciidoc, csv, hyperfine_json, json, markdown, orgmode};
use support::program::Program;
use support::{outcome, session};

/// Two commands with parameters and awkward names.
fn scan() -> BenchRecord {
    let failing = vec![(1, Exit::Signal(9)), (2, Exit::Code(3))];
    let mut record = session(
        &[
            Program::new("seq 1000 | sort", 0.0021),
            Program {
                failing,
                ..Program::new("echo \"a,b\" `date`\nsleep 0", 0.0107)
            },
        ],
        6,
    );
    record.benchmarks[0].parameters = vec![("n".into(), "1000".into())];
    record.benchmarks[1].parameters =
        vec![("delay".into(), "0".into()), ("n".into(), "|x|".into())];
    record
}

#[test]
fn the_json_of_hyperfine() {
    insta::assert_snapshot!(hyperfine_json(&scan()));
}

#[test]
fn hyperfine_keys_are_those_of_hyperfine() {
    let value: serde_json::Value =
        serde_json::from_str(&hyperfine_json(&scan())).expect("valid JSON");
    let keys: Vec<&String> = value["results"][0]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    let expected = [
        "command",
        "exit_codes",
        "max",
        "mean",
        "median",
        "memory_usage_byte",
        "min",
        "parameters",
        "stddev",
        "system",
        "times",
        "user",
    ];
    let mut keys: Vec<&str> = keys.into_iter().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(
        value["results"][1]["exit_codes"],
        serde_json::json!([0, 0, 0, 0]),
        "the runs that failed are left out"
    );
}

#[test]
fn the_csv_of_hyperfine() {
    insta::assert_snapshot!(csv(&scan()));
}

#[test]
fn one_run_has_no_deviation() {
    let record = session(&[Program::new("true", 0.001)], 1);
    let value: serde_json::Value =
        serde_json::from_str(&hyperfine_json(&record)).expect("valid JSON");
    assert!(value["results"][0]["stddev"].is_null());
    let csv = csv(&record);
    assert!(
        csv.lines()
            .nth(1)
            .is_some_and(|line| line.split(',').nth(2) == Some("")),
        "{csv}"
    );
}

#[test]
fn a_markdown_table() {
    insta::assert_snapshot!(markdown(&scan(), None));
}

#[test]
fn a_markdown_table_in_seconds() {
    insta::assert_snapshot!(markdown(&scan(), Some(TimeUnit::Second)));
}

#[test]
fn an_asciidoc_table() {
    insta::assert_snapshot!(asciidoc(&scan(), None));
}

#[test]
fn an_org_table() {
    insta::assert_snapshot!(orgmode(&scan(), None));
}

#[test]
fn every_markdown_row_has_six_cells() {
    for line in markdown(&scan(), None).lines() {
        let unescaped = line.replace("\\|", "");
        assert_eq!(unescaped.matches('|').count(), 7, "{line}");
    }
}

#[test]
fn a_record_without_outcome_still_exports_its_runs() {
    let mut record = scan();
    record.outcome = None;
    assert_eq!(csv(&record), csv(&scan()));
    assert_eq!(hyperfine_json(&record), hyperfine_json(&scan()));
    assert_eq!(markdown(&record, None).lines().count(), 2);
}

#[test]
fn a_benchmark_without_runs_is_left_out() {
    let mut record = scan();
    record.runs.retain(|run| run.benchmark == 0);
    record.outcome = None;
    assert_eq!(csv(&record).lines().count(), 2);
}

#[test]
fn the_record_survives_being_written_and_read() {
    let mut record = scan();
    record.outcome = Some(outcome(&record));
    let bytes = json(&record).into_bytes();
    assert!(bytes.ends_with(b"}\n"));
    let back: BenchRecord = serde_json::from_slice(&bytes).expect("what was written can be read");
    assert_eq!(back.runs, record.runs);
    assert_eq!(back.benchmarks, record.benchmarks);
}
