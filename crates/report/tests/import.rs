//! Reports of `fathom import` on the terminal and in JSON.

mod schemas;

use std::path::Path;

use fathom_exchange::{Imported, read};
use fathom_model::{ImportedEnvironment, ImportedRecord, ImportedRevision, SCHEMA_VERSION};
use fathom_report::{ImportOptions, Screen, columns, import_terminal, json};
use schemas::assert_fits;
use serde_json::Value;

fn sample(file: &str) -> ImportedRecord {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exchange/tests/samples");
    let bytes = std::fs::read(folder.join(file)).expect("the sample is there");
    record(read(&bytes[..], file, None).expect("the sample is read"))
}

fn record(imported: Imported) -> ImportedRecord {
    ImportedRecord {
        schema_version: SCHEMA_VERSION,
        kind: "imported".into(),
        fathom_version: "0.1.0".into(),
        started_at: "2026-11-25T12:00:00Z".into(),
        time_from_file: false,
        revision: None,
        environment: ImportedEnvironment::default(),
        source: imported.source,
        benchmarks: imported.benchmarks,
        left_out: imported.left_out,
    }
}

fn options() -> ImportOptions {
    ImportOptions {
        screen: Screen::default(),
        saved: false,
        of_no_format: 0,
    }
}

#[test]
fn samples_in_a_table_that_fits_a_screen() {
    let text = import_terminal(&[sample("go-test-bench.txt")], &options());
    assert!(
        text.lines().count() <= 24 && text.lines().all(|line| columns(line) <= 80),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn summaries_say_what_their_intervals_rest_on() {
    let records = [sample("hyperfine.csv")];
    insta::assert_snapshot!(import_terminal(&records, &options()));
}

#[test]
fn of_several_files_a_line_each() {
    let mut records = vec![sample("go-test-bench.txt"), sample("oha.json")];
    records.extend((0..20).map(|_| sample("nanobench.csv")));
    let of_no_format = ImportOptions {
        of_no_format: 3,
        ..options()
    };
    let text = import_terminal(&records, &of_no_format);
    assert!(text.lines().count() <= 24, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn names_of_others_reach_no_terminal_as_they_are() {
    let mut record = sample("nanobench.csv");
    let evil = "\u{1b}[2Jx\u{202e}\n".to_owned();
    record.source.file.clone_from(&evil);
    record.benchmarks[0].name.clone_from(&evil);
    record.benchmarks[0].metric.clone_from(&evil);
    record.benchmarks[0].unit.clone_from(&evil);
    record.left_out = sample("go-test-bench.txt").left_out;
    record.left_out[0].what.clone_from(&evil);
    let verbose = ImportOptions {
        screen: Screen {
            verbose: true,
            ..Screen::default()
        },
        ..options()
    };
    let text = import_terminal(&[record], &verbose);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
}

#[test]
fn every_record_fits_the_schema() {
    let mut full = sample("google-benchmark.json");
    full.revision = Some(ImportedRevision {
        id: "cbaeb2b4d841b4feb92c9ab75a15e36bd7a252a7".into(),
        branch: Some("main".into()),
        dirty: true,
    });
    full.environment = ImportedEnvironment {
        kernel: Some("Linux".into()),
        architecture: Some("x86_64".into()),
        cpu_model: Some("EPYC".into()),
        cpus: Some(2),
        memory_bytes: Some(1 << 30),
        host: Some("vm".into()),
    };
    let mut records = vec![full];
    let files = [
        "oha.json",
        "wrk.txt",
        "catch2-xml.xml",
        "bencher-bmf.json",
        "divan-stdout.txt",
        "pyperf.json",
        "mitata.json",
        "tinybench-raw.json",
        "k6-summary-export.json",
        "iai.txt",
    ];
    records.extend(files.map(sample));
    let out = json(&records).into_bytes();
    let values: Vec<Value> = serde_json::from_slice(&out).expect("what was written is JSON");
    assert_fits("imported", values);
    let again: Vec<ImportedRecord> = serde_json::from_slice(&out).expect("it is read again");
    assert_eq!(again, records);
}
