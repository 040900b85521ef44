//! Criterion's output other than its samples: its text, saved baselines, and critcmp's export.

use fathom_exchange::{Direction, Imported, Summary, read_folder, walk};

use crate::{folder, imported, left_out, samples, series, summary, text};

fn interval(of: &Imported, name: &str) -> [Option<f64>; 3] {
    let Summary {
        low, value, high, ..
    } = summary(series(of, name, "wall", &[])).clone();
    [low, value, high]
}

/// Compares three figures in nanoseconds, each of which was written in its own unit.
fn near(of: &Imported, name: &str, expected: [f64; 3]) {
    for (figure, expected) in interval(of, name).into_iter().zip(expected) {
        let figure = figure.unwrap_or_default();
        assert!((figure / expected - 1.0).abs() < 1e-12, "{name}: {figure}");
    }
}

#[test]
fn its_text() {
    let found = imported("criterion-stdout.txt");
    near(&found, "fib 15", [2510.4, 3138.0, 3747.1]);
    near(&found, "sum/iter/1000", [580.18, 625.53, 679.10]);
    near(&found, "sum/iter/10000", [6689.9, 7071.2, 7383.5]);
    let fib = series(&found, "fib 15", "wall", &[]);
    assert_eq!(
        (fib.unit.as_str(), fib.direction, summary(fib).level),
        ("ns", Some(Direction::LowerIsBetter), Some(0.95))
    );
    assert_eq!(found.benchmarks.len(), 3);
    // A change is on the line with `change:`, or below it for time and throughput.
    assert_eq!(left_out(&found, "change", "comparison"), 5);
    assert_eq!(left_out(&found, "thrpt", "computed"), 2);
}

#[test]
fn its_text_as_terminals_and_other_measurements_have_it() {
    let found = text(
        "Benchmarking crate instance of Enforcer: Warming up for 3.0000 s\r\u{1b}[KBenchmarking crate instance of \
        Enforcer: Analyzing\r\u{1b}[Kcrate instance of Enforcer\n                        \
        time:   [987.52 ns 993.59 ns 1.0006 us]\n\
        Benchmarking alone: Analyzing\n                        time:   [1.0000 ms 2.0000 ms 3.0000 ms]\n\
        keccak-p[1600, 12] (cached) time:   [170.97 ns 171.45 ns 172.03 ns]                               \n\
        stream/8192             time:   [9225.6952 cycles 9272.7785 cycles 9329.4163 cycles]\n                        \
        change: [\u{2212}1.8536% \u{2212}1.1345% \u{2212}0.4642%] (p = 0.00 < 0.05)\n",
    )
    .unwrap();
    let names: Vec<&str> = found.benchmarks.iter().map(|one| &*one.name).collect();
    assert_eq!(
        names,
        [
            "crate instance of Enforcer",
            "alone",
            "keccak-p[1600, 12] (cached)",
            "stream/8192"
        ]
    );
    near(&found, names[0], [987.52, 993.59, 1000.6]);
    let cycles = series(&found, names[3], "value", &[]);
    assert_eq!(
        (
            cycles.unit.as_str(),
            cycles.direction,
            summary(cycles).value
        ),
        ("cycles", Some(Direction::LowerIsBetter), Some(9272.7785))
    );
    assert_eq!(left_out(&found, "change", "comparison"), 1);
}

#[test]
fn baselines_that_were_saved() {
    let mut entries = walk(&folder().join("criterion")).unwrap();
    let mut saved = entries.clone();
    saved.retain(|entry| entry.path.starts_with("fib 15/"));
    // Two baselines were saved under a name: an earlier run, and one that is also `new`.
    for (name, of) in [("main", "base"), ("topic", "new")] {
        let from = format!("fib 15/{of}/");
        for entry in &saved {
            if let Some(file) = entry.path.strip_prefix(&from) {
                let mut copy = entry.clone();
                copy.path = format!("fib 15/{name}/{file}");
                if name == "main" && file == "sample.json" {
                    let samples = String::from_utf8(copy.bytes).unwrap();
                    copy.bytes = samples.replace("5527656.0", "5527657.0").into_bytes();
                }
                entries.push(copy);
            }
        }
    }
    let found = read_folder(&entries, "criterion", None);
    assert!(found.refused.is_empty(), "{:?}", found.refused);
    let found = &found.imported[0];
    let all = found.benchmarks.iter().filter(|one| one.name == "fib 15");
    let baselines: Vec<_> = all.map(|one| one.parameters.get("baseline")).collect();
    assert_eq!(baselines, [Some(&"main".to_owned()), None]);
    let main = series(found, "fib 15", "wall", &[("baseline", "main")]);
    assert_eq!(samples(main).len(), 20);
    assert_eq!(left_out(found, "fib 15 / topic", "same run"), 1);
    assert_eq!(left_out(found, "fib 15 / base", "earlier"), 1);
}

#[test]
fn benchmarks_with_one_name_are_told_apart_by_their_title() {
    let mut entries = walk(&folder().join("criterion")).unwrap();
    entries.retain(|entry| entry.path.starts_with("fib 15/new/"));
    for mut copy in entries.clone() {
        copy.path = copy.path.replace("fib 15/", "fib 15_2/");
        let text = String::from_utf8(copy.bytes).unwrap();
        let title = "\"title\":\"fib 15\"";
        assert!(
            text.contains(title) || !copy.path.ends_with("/benchmark.json"),
            "{text}"
        );
        copy.bytes = text.replace(title, "\"title\":\"fib 15 #2\"").into_bytes();
        entries.push(copy);
    }
    let found = read_folder(&entries, "criterion", None);
    let found = &found.imported[0];
    let places: Vec<_> = found
        .benchmarks
        .iter()
        .map(|one| one.parameters.get("place"))
        .collect();
    assert_eq!(places, [None, Some(&"2".to_owned())]);
}

#[test]
fn micro_that_a_code_page_has_changed_is_micro() {
    for unit in ["µs", "Âµs", "┬╡s", "┬Ás", "碌s"] {
        let line = format!("sum                     time:   [1.0 {unit} 2.0 {unit} 3.0 {unit}]\n");
        near(&text(&line).unwrap(), "sum", [1e3, 2e3, 3e3]);
    }
}

#[test]
fn critcmp() {
    let found = imported("critcmp.json");
    let byte = series(&found, "count/byte", "wall", &[]);
    let figures = summary(byte);
    assert_eq!(
        (figures.mean, figures.low, figures.high, figures.level),
        (Some(100.0), Some(99.0), Some(101.0), Some(0.95))
    );
    assert_eq!((figures.median, byte.unit.as_str()), (Some(99.0), "ns"));
    // Two exports hold two baselines with the same series.
    assert!(byte.parameters.is_empty());
    assert_eq!(found.source.environment["baseline"], "before");
    assert_eq!(left_out(&found, "count/byte", "throughput"), 1);
}
