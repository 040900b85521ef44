//! Imported records are full records: `history`, `compare` and `export` work on them.

use crate::{done, fathom, json, refused, sample, stderr};

const SLOW: &[u8] = b"BenchmarkA 1 200 ns/op\nBenchmarkA 1 202 ns/op\nBenchmarkA 1 201 ns/op\n\
    BenchmarkA 1 203 ns/op\nBenchmarkA 1 201 ns/op\nBenchmarkA 1 202 ns/op\n";

fn quick() -> Vec<u8> {
    String::from_utf8(SLOW.to_vec())
        .unwrap()
        .replace(" 20", " 10")
        .into_bytes()
}

#[test]
fn what_was_imported_is_followed_compared_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (label, text) in [("v1", SLOW.to_vec()), ("v2", quick())] {
        let output = fathom(here, &["import", "-", "--save", "--label", label], &text);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("saved as "), "{}", stderr(&output));
    }
    let history = json(&done(here, &["history", "--json", "-"], b""));
    let points = history["series"][0]["points"].as_array().unwrap();
    assert_eq!(history["series"][0]["unit"], "seconds");
    assert_eq!((points.len(), points[0]["runs"].as_u64()), (2, Some(6)));
    assert!((points[0]["value"].as_f64().unwrap() - 201.5e-9).abs() < 1e-15);
    let compared = json(&done(here, &["compare", "v1", "v2", "--json", "-"], b""));
    let one = &compared["comparisons"][0];
    assert_eq!(
        (&one["verdict"], &one["together"]),
        (&"faster".into(), &serde_json::Value::Null)
    );
    let go = done(here, &["export", "--format", "gobench", "v1"], b"");
    assert_eq!(go.lines().next(), Some("BenchmarkA 1 200 ns/op"));
    // The series contains the medians of both records.
    let rows = done(here, &["export", "--format", "jsonl", "BenchmarkA"], b"");
    let labels: Vec<String> = rows
        .lines()
        .map(|row| json(row)["labels"][0].to_string())
        .collect();
    assert_eq!(labels, ["\"v1\"", "\"v2\""]);
    let said = refused(here, &["export", "--format", "csv", "nosuch"], b"");
    assert!(said.contains("no benchmark is named \"nosuch\""), "{said}");
}

#[test]
fn a_history_of_others_is_one_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let file = sample("github-action-benchmark-data.js");
    let file = file.to_str().unwrap();
    done(here, &["import", file, "--save"], b"");
    let history = [
        "history",
        "BenchmarkFib10",
        "--metric",
        "wall",
        "--json",
        "-",
    ];
    let history = json(&done(here, &history, b""));
    let points = history["series"][0]["points"].as_array().unwrap();
    let of =
        |key: &str| -> Vec<&serde_json::Value> { points.iter().map(|one| &one[key]).collect() };
    for (value, expected) in of("value").iter().zip([325.3e-9, 310.5e-9]) {
        assert!(
            (value.as_f64().unwrap() / expected - 1.0).abs() < 1e-12,
            "{value}"
        );
    }
    assert_eq!(points.len(), 2);
    let revisions = of("revision");
    assert!(
        revisions[0].as_str().unwrap().starts_with("f79d24cc")
            && revisions[1].as_str().unwrap().starts_with("b2a83495"),
        "{revisions:?}"
    );
}

#[test]
fn many_files_are_saved_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("good.txt"), SLOW).unwrap();
    std::fs::write(here.join("bad.txt"), "words").unwrap();
    refused(
        here,
        &["import", "good.txt", "bad.txt", "--store", "s.sqlite"],
        b"",
    );
    assert!(!here.join("s.sqlite").exists());
    let all = [
        "import",
        "good.txt",
        "bad.txt",
        "--store",
        "s.sqlite",
        "--keep-going",
    ];
    let output = fathom(here, &all, b"");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let info = json(&done(
        here,
        &["store", "info", "--store", "s.sqlite", "--json", "-"],
        b"",
    ));
    assert_eq!(info["records"], 1);
}

#[test]
fn a_file_that_names_its_commit_is_saved_under_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let tree = sample("asv");
    let arguments = ["import", tree.to_str().unwrap(), "--store", "s.sqlite"];
    done(here, &arguments, b"");
    let arguments = ["history", "--store", "s.sqlite", "--json", "-"];
    let history = json(&done(here, &arguments, b""));
    let point = &history["series"][0]["points"][0];
    assert_eq!(
        point["revision"],
        "cbaeb2b4d841b4feb92c9ab75a15e36bd7a252a7"
    );
    assert_eq!(point["time"], "2026-11-21T03:05:02Z");
    let environment = &history["environments"][0];
    assert_eq!(environment["key"], point["environment"]);
    assert_eq!(environment["cpu_model"], "AMD EPYC");
}

#[test]
fn every_tools_sample_is_saved_and_has_points() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let samples = sample("");
    let arguments = ["import", samples.to_str().unwrap(), "--store", "s.sqlite"];
    done(here, &arguments, b"");
    let info = json(&done(
        here,
        &["store", "info", "--store", "s.sqlite", "--json", "-"],
        b"",
    ));
    let records = info["records"].as_u64().unwrap();
    assert!(
        records >= 36 && info["points"].as_u64().unwrap() > 5 * records,
        "{info}"
    );
}
