//! Exports records to other tools' formats and imports them again.

use std::path::Path;

use serde_json::json;

use crate::{done, fathom, json as parse, refused, sample, stderr};

/// Writes a record of two programs with two runs each.
fn bench(folder: &Path) {
    let arguments = [
        "bench", "-r", "2", "-N", "--style", "none", "--json", "b.json", "-n", "one", "-n", "two",
        "true", "true 2",
    ];
    let printed = done(folder, &arguments, b"");
    assert_eq!(printed, "", "--style none prints nothing");
}

#[test]
fn the_runs_of_bench_are_samples_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    bench(folder.path());
    let export = |form: &str| done(folder.path(), &["export", "--format", form, "b.json"], b"");
    let record = parse(&std::fs::read_to_string(folder.path().join("b.json")).unwrap());
    let first = record["runs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|run| run["benchmark"] == 0);
    let seconds = first.unwrap()["wall_ns"].as_u64().unwrap() as f64 / 1e9;

    let hyperfine = parse(&export("hyperfine"));
    assert_eq!(hyperfine["results"][0]["times"][0], seconds);
    assert_eq!(hyperfine["results"][1]["command"], "two");
    assert_eq!(hyperfine["results"][1]["exit_codes"], json!([0, 0]));

    let go = export("gobench");
    assert!(go.starts_with("BenchmarkOne 1 "), "{go}");
    assert_eq!(go.lines().count(), 4, "{go}");

    let bencher = parse(&export("bencher"));
    assert!(bencher["one"]["latency"]["value"].as_f64().unwrap() > 1000.0);

    let github = parse(&export("github-action-benchmark"));
    assert_eq!(
        (&github[0]["name"], &github[0]["unit"]),
        (&"one".into(), &"s".into())
    );

    let metrics = export("openmetrics");
    assert!(
        metrics.contains("fathom_wall_seconds{benchmark=\"one\"} "),
        "{metrics}"
    );
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");

    let rows = export("jsonl");
    let row = parse(rows.lines().next().unwrap());
    assert_eq!(
        (&row["benchmark"], &row["metric"]),
        (&"one".into(), &"wall".into())
    );
    assert_eq!(row["samples"][0], seconds);

    // `import` reads these files back as samples.
    std::fs::write(folder.path().join("b.csv"), export("csv")).unwrap();
    let again = parse(&done(
        folder.path(),
        &["import", "b.csv", "--json", "-"],
        b"",
    ));
    assert_eq!(again[0]["benchmarks"][0]["samples"][0], seconds);
    assert_eq!(again[0]["left_out"], json!([]));
}

#[test]
fn what_another_tool_measured_is_exported_from_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = sample("go-test-bench.txt");
    let arguments = [
        "export",
        "--format",
        "jsonl",
        "--metric",
        "wall",
        file.to_str().unwrap(),
        "-o",
        "o.jsonl",
    ];
    assert_eq!(done(folder.path(), &arguments, b""), "");
    let text = std::fs::read_to_string(folder.path().join("o.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    // Records of an import can also be exported.
    let import = ["import", file.to_str().unwrap(), "--json", "i.json"];
    done(folder.path(), &import, b"");
    let arguments = ["export", "--format", "jsonl", "--metric", "wall", "i.json"];
    assert_eq!(done(folder.path(), &arguments, b"").lines().count(), 5);
}

#[test]
fn what_a_form_cannot_carry_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = sample("go-test-bench.txt");
    let arguments = [
        "export",
        "--format",
        "github-action-benchmark",
        file.to_str().unwrap(),
    ];
    let output = fathom(folder.path(), &arguments, b"");
    let said = stderr(&output);
    assert!(
        said.contains("x MB/s: higher is better: use --metric to write it to its own file"),
        "{said}"
    );
}

#[test]
fn mistakes_are_answered_with_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    bench(folder.path());
    let said = refused(folder.path(), &["export", "--format", "xml", "b.json"], b"");
    assert!(
        said.starts_with("error: unknown format \"xml\"; the formats are hyperfine, bencher"),
        "{said}"
    );
    let said = refused(
        folder.path(),
        &["export", "--format", "csv", "--metric", "wal", "b.json"],
        b"",
    );
    assert!(
        said.starts_with("error: --metric \"wal\" is unknown; the metrics are wall, "),
        "{said}"
    );
    let said = refused(
        folder.path(),
        &[
            "export",
            "--format",
            "hyperfine",
            "--metric",
            "cpu",
            "b.json",
        ],
        b"",
    );
    assert!(
        said.starts_with(
            "error: nothing in it can be written as hyperfine: it has no command time"
        ),
        "{said}"
    );
    std::fs::write(
        folder.path().join("cut.json"),
        "{\"fathom_version\": \"0.1.0\", \"kind\": \"bench\"",
    )
    .unwrap();
    let said = refused(
        folder.path(),
        &["export", "--format", "csv", "cut.json"],
        b"",
    );
    assert!(said.contains("cut.json: the record is damaged: "), "{said}");
}
