//! Verdicts on selected metrics.

use serde_json::Value;

use crate::world::{json, refusal, run, stderr, stdout, text};

/// Returns a command that copies `count` pieces of one byte each.
fn copies(count: u32) -> String {
    format!("dd if=/dev/zero of=/dev/null bs=1 count={count} status=none")
}

fn asked(record: &Value) -> Vec<[&str; 2]> {
    let all = record["outcome"]["comparisons"].as_array().unwrap();
    all.iter()
        .map(|one| ["metric", "verdict"].map(|key| one[key].as_str().unwrap()))
        .collect()
}

#[test]
fn what_is_counted_is_compared_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let output = run(&[
        "-r",
        "3",
        "--metric",
        "write_calls",
        "--metric",
        "read-calls=50%",
        "--json",
        text(&path),
        &copies(500),
        &copies(501),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "three rounds are enough for counts");
    let printed = stdout(&output);
    assert!(
        printed.contains("write calls: 2 has 0.20 % more than 1   (counted, the same in all runs)"),
        "{printed}"
    );
    assert!(
        printed.contains("read calls: 1 and 2 have the same, within"),
        "{printed}"
    );
    let record = json(&path);
    assert_eq!(
        asked(&record),
        [["write_calls", "slower"], ["read_calls", "same"]]
    );
    let ratio = &record["outcome"]["comparisons"][0]["ratio"];
    assert_eq!(
        (ratio["value"].as_f64(), ratio["level"].as_f64()),
        (Some(1.002), Some(1.0))
    );
    assert_eq!(ratio["low"], ratio["high"]);
    let margins = record["conditions"]["metrics"].as_array().unwrap();
    let margins: Vec<f64> = margins
        .iter()
        .map(|one| one["margin"].as_f64().unwrap())
        .collect();
    assert_eq!(margins, [0.0, 0.5]);
}

#[test]
fn memory_has_its_unit_everywhere_and_is_named_without_being_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let [page, table] = ["page.html", "table.md"].map(|name| folder.path().join(name));
    let hungry = "python3 -S -c 'x = bytearray(64 << 20)'";
    let commands = ["python3 -S -c pass", hungry];
    let metric = ["-r", "8", "--metric", "peak_memory"];
    let files = ["--html", text(&page), "--export-markdown", text(&table)];
    let output = run(&[&metric[..], &files, &commands].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("peak memory: 2 has "), "{printed}");
    assert!(
        printed.contains(" MiB") && printed.contains("wall time"),
        "{printed}"
    );
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("<h2>Peak memory</h2>") && page.contains(" MiB</text>"));
    let table = std::fs::read_to_string(&table).unwrap();
    assert!(table.contains("Median peak memory [MiB]"), "{table}");
    let output = run(&[&["-r", "8"][..], &commands].concat());
    let printed = stdout(&output);
    let line = printed.lines().find(|line| line.contains("besides time"));
    assert!(
        line.is_some_and(|line| line.contains("peak memory")),
        "{printed}"
    );
}

#[test]
fn a_metric_that_there_is_not_is_refused_with_those_that_there_are() {
    for (option, said) in [
        (
            "speed",
            "no metric \"speed\"; the metrics are wall, cpu_wait_free",
        ),
        ("wall=fast", "wall=fast"),
    ] {
        let (code, line) = refusal(&["--metric", option, "true", "false"]);
        assert_eq!(code, 2);
        assert!(line.contains(said), "{line}");
    }
    let (code, line) = refusal(&["--metric", "wall", "--metric", "wall=2%", "true", "true"]);
    assert_eq!(code, 2);
    assert!(line.contains("--metric wall is given twice"), "{line}");
}
