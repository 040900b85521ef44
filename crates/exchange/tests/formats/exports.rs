//! Tests that written output can be read again, as far as a format can represent it.

use std::collections::BTreeMap;

use fathom_exchange::export::{EXPORTS, Export, Figure, Written};
use fathom_exchange::{Benchmark, Imported, Summary, Values, read};

use crate::{folder, imported, samples, series, summary};

fn export(imported: Imported) -> Export {
    let figures = imported.benchmarks.into_iter().map(|benchmark| Figure {
        benchmark,
        exit_codes: Vec::new(),
    });
    Export {
        tool: imported.source.tool,
        milliseconds: 1_795_230_302_250,
        time: "2026-11-21T03:05:02Z".into(),
        context: imported.source.environment,
        figures: figures.collect(),
        ..Export::default()
    }
}

fn written(form: &str, exports: &[Export]) -> Written {
    let found = EXPORTS.iter().find(|one| one.name == form).expect("a form");
    (found.write)(exports)
}

/// Reads the text written in a format again.
fn again(form: &str, format: &str, file: &str) -> Imported {
    let written = written(form, &[export(imported(file))]);
    read(written.text.as_bytes(), "again", Some(format)).expect("it is read")
}

#[test]
fn csv_carries_samples_parameters_iterations_and_summaries_as_they_are() {
    for file in ["go-test-bench.txt", "jmh.json", "google-benchmark.json"] {
        let before = imported(file);
        assert_eq!(
            again("csv", "csv", file).benchmarks,
            before.benchmarks,
            "{file}"
        );
    }
    let one = Benchmark {
        values: Values::Summary(Box::new(Summary {
            count: Some(7),
            median: Some(0.1 + 0.2),
            low: Some(0.25),
            high: Some(0.4),
            ..Summary::default()
        })),
        ..imported("hyperfine.csv").benchmarks.remove(0)
    };
    let mut all = export(imported("hyperfine.csv"));
    all.figures.truncate(1);
    all.figures[0].benchmark = one;
    let text = written("csv", &[all]).text;
    let back = read(text.as_bytes(), "again", None).expect("it is read");
    let back = summary(&back.benchmarks[0]).clone();
    assert_eq!(
        (back.count, back.value, back.low),
        (Some(7), Some(0.1 + 0.2), Some(0.25))
    );
}

#[test]
fn csv_marks_what_a_spreadsheet_would_calculate_and_reads_it_as_it_was() {
    let mut all = export(imported("go-test-bench.txt"));
    all.figures.truncate(1);
    let one = &mut all.figures[0].benchmark;
    one.name = "=HYPERLINK(\"http://localhost\")".into();
    one.parameters.insert("+column".into(), "-Xmx1g".into());
    one.parameters.insert("number".into(), "-5".into());
    let before = all.figures[0].benchmark.clone();
    let text = written("csv", &[all]).text;
    assert!(text.starts_with("name,'+column,"), "{text}");
    let row = text.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("\"'=HYPERLINK("), "{row}");
    assert!(row.contains(",'-Xmx1g,") && row.contains(",-5,"), "{row}");
    let back = read(text.as_bytes(), "again", Some("csv")).expect("it is read");
    assert_eq!(back.benchmarks, [before]);
}

#[test]
fn go_carries_its_own_text_whole() {
    let before = imported("go-test-bench.txt");
    let after = again("gobench", "gobench", "go-test-bench.txt");
    assert_eq!(after.benchmarks, before.benchmarks);
    assert_eq!(after.source.environment, before.source.environment);
}

#[test]
fn go_carries_the_samples_of_commands_by_other_names() {
    let after = again("gobench", "gobench", "hyperfine-hf2.json");
    let wall = series(&after, "BenchmarkSeq_1000", "wall", &[]);
    assert_eq!((samples(wall).len(), wall.unit.as_str()), (5, "ns/op"));
    assert!((samples(wall)[0] - 1_190_053.0).abs() < 1e-6);
}

#[test]
fn names_of_commands_are_words_of_go() {
    let one = |name: &str, threads: Option<u64>| {
        let benchmark = Benchmark {
            name: name.into(),
            parameters: BTreeMap::from([("a b".to_owned(), "c/d".to_owned())]),
            threads,
            ..imported("nanobench.csv").benchmarks.remove(0)
        };
        let mut all = export(imported("nanobench.csv"));
        all.figures = vec![Figure {
            benchmark,
            exit_codes: Vec::new(),
        }];
        let text = written("gobench", &[all]).text;
        let line = text.lines().find(|line| line.starts_with("Benchmark"));
        line.and_then(|line| line.split(' ').next())
            .map(str::to_owned)
            .unwrap_or_default()
    };
    assert_eq!(one("xz\t-9  x", None), "BenchmarkXz_-9_x/a_b=c_d");
    assert_eq!(one("Benchmarks", None), "BenchmarkBenchmarks/a_b=c_d");
    assert_eq!(one("BenchmarkSort", Some(4)), "BenchmarkSort/a_b=c_d-4");
    assert_eq!(one("é", Some(1)), "BenchmarkÉ/a_b=c_d");
}

#[test]
fn hyperfine_carries_runs_and_parameters() {
    for file in [
        "hyperfine-1.15.json",
        "hyperfine-hf1.json",
        "hyperfine-hf2.json",
    ] {
        let before = imported(file);
        let after = again("hyperfine", "hyperfine", file);
        let walls = |of: &Imported| {
            let walls = of.benchmarks.iter().filter(|one| one.metric == "wall");
            walls.cloned().collect::<Vec<_>>()
        };
        assert_eq!(walls(&after), walls(&before), "{file}");
    }
    // A summary stays a summary: no times are invented.
    let text = written("hyperfine", &[export(imported("hyperfine.csv"))]).text;
    assert!(!text.contains("\"times\""), "{text}");
    let after = again("hyperfine", "hyperfine", "hyperfine.csv");
    let wall = summary(series(&after, "seq 2000", "wall", &[])).clone();
    assert_eq!(
        (wall.mean, wall.max),
        (Some(0.0028862317500000004), Some(0.007120299))
    );
}

#[test]
fn bencher_carries_medians_with_their_intervals() {
    let after = again("bencher", "bencher", "hyperfine-hf2.json");
    let wall = summary(series(&after, "seq 1000", "latency", &[])).clone();
    let near =
        |value: Option<f64>, nanoseconds: f64| (value.unwrap_or(0.0) - nanoseconds).abs() < 1e-3;
    assert!(
        near(wall.value, 1_132_828.0) && near(wall.high, 1_255_561.0),
        "{wall:?}"
    );
    let own = imported("bencher-bmf.json");
    let rewritten = written("bencher", &[export(own)]);
    assert_eq!(rewritten.left_out, []);
}

#[test]
fn openmetrics_has_a_point_for_each_time() {
    let mut earlier = export(imported("hyperfine-hf2.json"));
    earlier.milliseconds -= 1000;
    let text = written(
        "openmetrics",
        &[export(imported("hyperfine-hf2.json")), earlier],
    )
    .text;
    let begin = "# TYPE fathom_wall_seconds gauge\n# UNIT fathom_wall_seconds seconds\n\
                 fathom_wall_seconds{benchmark=\"seq 1000\"} 0.001132828 1795230301.250\n\
                 fathom_wall_seconds{benchmark=\"seq 1000\"} 0.001132828 1795230302.250\n";
    assert!(text.contains(begin), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn labels_are_escaped_and_never_twice_the_same() {
    let mut all = export(imported("hyperfine-hf2.json"));
    all.figures.truncate(1);
    let one = &mut all.figures[0].benchmark;
    one.name = "a\"b\\\n".into();
    one.metric = "p 99/x".into();
    one.parameters = [("a-b", "1"), ("a.b", "2"), ("benchmark", "3"), ("9", "4")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let text = written("openmetrics", &[all]).text;
    let labels =
        "{benchmark=\"a\\\"b\\\\\\n\",parameter_9=\"4\",a_b=\"1\",a_b_=\"2\",benchmark_=\"3\"}";
    assert!(text.contains(labels), "{text}");
    assert!(text.contains("fathom_p_99_per_x"), "{text}");
}

#[test]
fn one_direction_a_file_for_github() {
    let go = written(
        "github-action-benchmark",
        &[export(imported("go-test-bench.txt"))],
    );
    assert!(!go.text.contains("MB/s"), "{}", go.text);
    let rates: u64 = go.left_out.iter().map(|entry| entry.count).sum();
    assert_eq!(
        rates, 4,
        "two of MB/s, and two of elems/op whose direction isn't known"
    );
    let mut rates = export(imported("go-test-bench.txt"));
    rates
        .figures
        .retain(|figure| figure.benchmark.metric == "MB/s");
    let text = written("github-action-benchmark", &[rates]).text;
    assert_eq!(text.matches("\"unit\": \"MB/s\"").count(), 2, "{text}");
}

#[test]
fn nothing_of_what_no_form_can_carry_is_written() {
    for form in EXPORTS {
        let nothing = (form.write)(&[]);
        assert!(
            nothing.text.is_empty() || form.name == "hyperfine",
            "{}",
            form.name
        );
    }
    let rates = written("hyperfine", &[export(imported("benchmarkjs-stdout.txt"))]);
    assert_eq!(rates.text, "");
    assert!(
        rates
            .left_out
            .iter()
            .all(|entry| entry.reason.contains("no command time"))
    );
}

#[test]
fn every_sample_is_written_in_every_form_that_has_a_place_for_it() {
    for entry in fathom_exchange::walk(&folder()).expect("samples") {
        let Ok(imported) = read(&entry.bytes[..], &entry.path, None) else {
            continue;
        };
        let all = [export(imported)];
        for form in ["csv", "jsonl", "gobench", "openmetrics", "bencher"] {
            let written = written(form, &all);
            assert!(!written.text.is_empty(), "{} {form}", entry.path);
        }
    }
}
