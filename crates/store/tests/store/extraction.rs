//! Tests the points of real records, one of each kind (reduced in size).

use fathom_store::{Draft, NewPoint};

fn points(text: &str) -> Vec<NewPoint> {
    Draft::of(text.to_owned()).unwrap().points
}

fn find<'a>(points: &'a [NewPoint], metric: &str) -> &'a NewPoint {
    points.iter().find(|point| point.metric == metric).unwrap()
}

#[test]
fn bench_has_every_metric_of_every_benchmark() {
    let points = points(include_str!("../fixtures/bench.json"));
    assert_eq!(points.len(), 30);
    let wall = find(&points, "wall");
    assert_eq!(
        (wall.benchmark.as_str(), wall.unit.as_str(), wall.runs),
        ("seq 10", "seconds", 5)
    );
    assert_eq!(
        (wall.low, wall.value, wall.high),
        (0.000884089, 0.001026324, 0.001338146)
    );
    assert_eq!(find(&points, "peak_memory").unit, "bytes");
    assert!(
        points
            .iter()
            .all(|point| !point.meaning.is_empty() && point.direction.is_some())
    );
}

#[test]
fn startup_has_first_output_and_exit_by_cache() {
    let points = points(include_str!("../fixtures/startup.json"));
    assert_eq!(points.len(), 2);
    let first = find(&points, "first_output");
    assert_eq!(first.parameters, [("cache".to_owned(), "warm".to_owned())]);
    assert_eq!(
        (first.benchmark.as_str(), first.value),
        ("seq 10", 0.001173719)
    );
    assert_eq!(find(&points, "exit").value, 0.001462138);
}

#[test]
fn serve_has_its_start_and_each_load() {
    let points = points(include_str!("../fixtures/serve.json"));
    // There are the first answer, the throughput and CPU time of three closed loops, each with a p99 if there
    // was one, and the CPU time of the open loop.
    let first = find(&points, "first_answer");
    assert!((first.value - 0.188423302).abs() < 1e-12 && first.runs == 5);
    let throughput: Vec<_> = points
        .iter()
        .filter(|p| p.metric == "requests_per_second")
        .collect();
    assert_eq!(throughput.len(), 3);
    assert_eq!(
        (throughput[2].value, throughput[2].unit.as_str()),
        (1310.0, "requests/s")
    );
    let connections = ("connections".to_owned(), "64".to_owned());
    assert_eq!(
        throughput[2].parameters,
        [connections, ("loop".to_owned(), "closed".to_owned())]
    );
    assert_eq!(
        points.iter().filter(|p| p.metric == "request_cpu").count(),
        4
    );
    assert!(points.iter().all(|point| !point.meaning.is_empty()));
}

#[test]
fn pipe_has_the_pipeline_and_its_stages() {
    let points = points(include_str!("../fixtures/pipe.json"));
    assert_eq!(points.len(), 5);
    let whole = find(&points, "pipeline_wall");
    assert_eq!(
        (whole.benchmark.as_str(), whole.value),
        ("seq 1000 | wc", 0.006096602)
    );
    assert_eq!(
        points[3].parameters,
        [("stage".to_owned(), "wc".to_owned())]
    );
}

#[test]
fn machine_has_what_can_be_believed() {
    let points = points(include_str!("../fixtures/machine.json"));
    let clock = find(&points, "core_clock");
    assert_eq!(
        (clock.benchmark.as_str(), clock.unit.as_str()),
        ("machine", "GHz")
    );
    assert_eq!(clock.direction.as_deref(), Some("higher_is_better"));
    assert_eq!(
        find(&points, "timer_cost").direction.as_deref(),
        Some("lower_is_better")
    );
}

#[test]
fn run_has_the_results_of_its_measures() {
    let points = points(include_str!("../fixtures/run.json"));
    assert_eq!(points.len(), 4);
    let wall = find(&points, "wall");
    assert_eq!(
        (wall.benchmark.as_str(), wall.value),
        ("Two lists / lists / ten", 0.004000232)
    );
    assert_eq!(wall.direction.as_deref(), Some("lower_is_better"));
}

#[test]
fn gate_has_what_head_takes_and_how_far_programs_are_from_themselves() {
    let record = |rule: &str, failed: bool| {
        format!(
            r#"{{"kind": "gate", "fathom_version": "1", "started_at": "2026-11-21", "rule": {{"name": "{rule}"}},
            "benchmarks": [{{"name": "a", "metric": "wall", "rounds": 10, "budget": null,
                "head": {{"value": 2.0, "low": 1.9, "high": 2.1, "level": 0.95}}}},
              {{"name": "a", "metric": "read_calls", "rounds": 10, "budget": "<= 3",
                "head": {{"value": 3.0, "low": 3.0, "high": 3.0, "level": 0.95}}}}],
            "null_arm": {{"failed": {failed}, "benchmarks": [{{"name": "a",
                "ratio": {{"value": 0.99, "low": 0.98, "high": 1.01, "level": 0.95}}}}]}}}}"#
        )
    };
    let all = points(&record("paired", false));
    assert_eq!(all.len(), 2, "{all:?}");
    let wall = find(&all, "wall");
    assert_eq!(
        (wall.value, wall.runs, wall.unit.as_str()),
        (2.0, 20, "seconds")
    );
    let null = find(&all, "null_arm");
    assert_eq!((null.value, null.unit.as_str()), (0.99, "ratio"));
    // If the null arm failed, the times say more about the machine than about the program.
    let blamed = points(&record("paired", true));
    assert_eq!((blamed.len(), blamed[0].metric.as_str()), (1, "null_arm"));
    assert_eq!(points(&record("best_of", false)), []);
}

#[test]
fn what_is_no_record_is_refused_and_other_kinds_have_no_points() {
    for (text, named) in [
        ("", "EOF"),
        ("[1]", "started_at"),
        (
            r#"{"kind": "bench", "fathom_version": "1", "started_at": "today"}"#,
            "point in time",
        ),
        (
            r#"{"kind": 3, "fathom_version": "1", "started_at": "2026-11-21"}"#,
            "kind",
        ),
    ] {
        let said = Draft::of(text.to_owned()).unwrap_err().to_string();
        assert!(said.contains(named), "{said}");
    }
    let other = r#"{"kind": "why", "fathom_version": "1", "started_at": "2026-11-21T00:00:00Z"}"#;
    assert_eq!(points(other), []);
    let cut = r#"{"kind": "bench", "fathom_version": "1", "started_at": "2026-11-21", "outcome": null,
        "benchmarks": [{"name": "a"}]}"#;
    assert_eq!(points(cut), []);
}

#[test]
fn imports_have_one_unit_and_say_what_their_intervals_rest_on() {
    let text = r#"{"schema_version": 2, "kind": "imported", "fathom_version": "1", "time_from_file": true,
        "started_at": "2026-11-21T03:05:02Z", "environment": {"cpu_model": "EPYC"},
        "revision": {"id": "cbaeb2b4", "dirty": false}, "left_out": [],
        "source": {"tool": "go test", "version": null, "file": "-"}, "benchmarks": [
        {"name": "A", "parameters": {"n": "1"}, "metric": "wall", "unit": "ns/op", "threads": 2,
            "direction": "lower_is_better", "samples": [1000, 3000, 2000]},
        {"name": "A", "parameters": {}, "metric": "rate", "unit": "ops/ms", "direction": null,
            "summary": {"mean": 5, "standard_deviation": 1, "count": 100}},
        {"name": "A", "parameters": {}, "metric": "size", "unit": "B", "direction": null,
            "summary": {"value": 7}},
        {"name": "A", "parameters": {}, "metric": "most", "unit": "B", "direction": null,
            "summary": {"max": 7}}]}"#;
    let draft = Draft::of(text.to_owned()).unwrap();
    assert_eq!(
        draft.revision.map(|revision| revision.id).as_deref(),
        Some("cbaeb2b4")
    );
    assert_eq!(draft.segment.facts["cpu_model"], "EPYC");
    let points = draft.points;
    assert_eq!(points.len(), 3);
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 1e-12;
    let wall = find(&points, "wall");
    assert!(near(wall.value, 2e-6) && near(wall.low, 1e-6) && near(wall.high, 3e-6));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(wall.parameters, [pair("n", "1"), pair("threads", "2")]);
    assert_eq!((wall.unit.as_str(), wall.runs), ("seconds", 3));
    assert_eq!(wall.meaning, "median of samples, measured by go test");
    let rate = find(&points, "rate");
    assert!(near(rate.value, 5000.0) && near(rate.high, 5196.0) && rate.unit == "ops/s");
    assert!(rate.meaning.contains("from the standard deviation"));
    let size = find(&points, "size");
    assert_eq!(
        (size.low, size.high, size.unit.as_str()),
        (7.0, 7.0, "bytes")
    );
}
