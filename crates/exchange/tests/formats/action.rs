//! Tests github-action-benchmark's list and history.

use fathom_exchange::{Direction, read_all, read_commit};

use crate::{imported, left_out, sample, series, summary, text};

#[test]
fn its_list() {
    let found = imported("github-action-benchmark.json");
    let parse = series(&found, "parse", "wall", &[]);
    assert_eq!(
        (summary(parse).value, parse.unit.as_str(), parse.direction),
        (Some(12.5), "ms", Some(Direction::LowerIsBetter))
    );
    assert_eq!(summary(parse).other["range"], 3.0);
    // The better direction of a percentage is unknown.
    let load = series(&found, "CPU Load", "value", &[]);
    assert_eq!(
        (summary(load).value, load.unit.as_str(), load.direction),
        (Some(50.0), "Percent", None)
    );
    let odd = text(
        r#"[{"name":"a","unit":"ops/sec","value":81.61,"range":"±1.70%"},
        {"name":"b","unit":"iter/sec","value":"5","range":"stddev: 0.5"}]"#,
    )
    .unwrap();
    let rate = series(&odd, "a", "throughput", &[]);
    assert_eq!(rate.direction, Some(Direction::HigherIsBetter));
    assert!(summary(rate).other.is_empty());
    assert_eq!(left_out(&odd, "range", "not a number"), 1);
    let second = summary(series(&odd, "b", "throughput", &[]));
    assert_eq!((second.value, second.other["range"]), (Some(5.0), 0.5));
}

#[test]
fn its_history_is_a_record_for_each_commit() {
    let bytes = sample("github-action-benchmark-data.js");
    let all = read_all(&bytes[..], "data.js", None).unwrap();
    let [first, second] = &all[..] else {
        panic!("{all:#?}")
    };
    let commit = |of: &fathom_exchange::Imported| {
        let facts = &of.source.environment;
        (facts["commit_hash"][..8].to_owned(), facts["date"].clone())
    };
    assert_eq!(
        commit(first),
        ("f79d24cc".to_owned(), "1617396172463".to_owned())
    );
    assert_eq!(commit(second).0, "b2a83495");
    // Each Go metric is read once, although the first one also appears in the entry whose unit contains all
    // of them.
    let go = [("suite", "Go")];
    let names: Vec<&str> = first.benchmarks.iter().map(|one| &*one.metric).collect();
    assert_eq!(names, ["wall", "B/op"]);
    assert_eq!(left_out(first, "BenchmarkFib10", "its own entry"), 1);
    let wall = |of| summary(series(of, "BenchmarkFib10", "wall", &go)).value;
    assert_eq!((wall(first), wall(second)), (Some(325.3), Some(310.5)));
    let allocated = summary(series(first, "BenchmarkFib10", "B/op", &go));
    assert_eq!(allocated.value, Some(64.0));
    // The suites of a commit form one record, and a custom tool states the better direction.
    let memory = series(second, "Free Memory", "value", &[("suite", "Sizes")]);
    assert_eq!(
        (summary(memory).value, memory.direction),
        (Some(150.0), Some(Direction::HigherIsBetter))
    );
    // Read as one file, the history yields its newest commit.
    let newest = imported("github-action-benchmark-data.js");
    assert_eq!(newest.benchmarks, second.benchmarks);
    assert_eq!(left_out(&newest, "earlier measurements", "history"), 1);
}

#[test]
fn its_only_suite_is_no_parameter() {
    let file = |unit: &str| {
        format!(
            r#"window.BENCHMARK_DATA = {{"entries":{{"Benchmark":[{{"commit":{{"id":"c"}},"date":1,"tool":"go",
            "benches":[{{"name":"BenchmarkOld","value":41653,"unit":"{unit}"}}]}}]}}}}"#
        )
    };
    // Earlier versions had no entry for each metric, but only the one whose unit contains all of them.
    for unit in ["ns/op", "ns/op\\t       64 B/op\\t       2 allocs/op"] {
        let found = text(&file(unit)).unwrap();
        let wall = series(&found, "BenchmarkOld", "wall", &[]);
        assert!(wall.parameters.is_empty());
        assert_eq!(
            (summary(wall).value, wall.unit.as_str()),
            (Some(41_653.0), "ns/op")
        );
    }
}

#[test]
fn a_commit_that_was_measured_again_is_a_record_each_time() {
    let run = |commit: &str, date: u64, value: u64| {
        format!(
            r#"{{"commit":{{"id":"{commit}"}},"date":{date},"tool":"go",
            "benches":[{{"name":"a","value":{value},"unit":"ns/op"}}]}}"#
        )
    };
    let (a, b) = ("aaaaaaaa", "bbbbbbbb");
    // The suites of a commit end at different times; `fast` ran three times on the last commit.
    let fast = [
        run(a, 100, 1),
        run(b, 200, 2),
        run(b, 300, 3),
        run(b, 400, 4),
    ]
    .join(",");
    let slow = [run(a, 110, 10), run(b, 230, 20)].join(",");
    let file =
        format!(r#"window.BENCHMARK_DATA = {{"entries":{{"fast":[{fast}],"slow":[{slow}]}}}}"#);
    let all = read_all(file.as_bytes(), "data.js", None).unwrap();
    let said = |of: &fathom_exchange::Imported| {
        let of_suite = |suite| {
            let wanted = |one: &&fathom_exchange::Benchmark| one.parameters["suite"] == suite;
            let found = of.benchmarks.iter().find(wanted);
            found.and_then(|one| summary(one).value)
        };
        let facts = &of.source.environment;
        (
            facts["commit_hash"].clone(),
            facts["date"].clone(),
            of_suite("fast"),
            of_suite("slow"),
        )
    };
    let expected = [
        (a, "110", Some(1.0), Some(10.0)),
        (b, "230", Some(2.0), Some(20.0)),
        (b, "300", Some(3.0), None),
        (b, "400", Some(4.0), None),
    ];
    let expected =
        expected.map(|(commit, date, fast, slow)| (commit.to_owned(), date.to_owned(), fast, slow));
    assert_eq!(all.iter().map(said).collect::<Vec<_>>(), expected);
    // A suite's time is kept if it differs.
    assert_eq!(all[0].source.environment["date of fast"], "100");
    let newest = read_commit(file.as_bytes(), "data.js", None).unwrap();
    assert_eq!(newest.iter().map(said).collect::<Vec<_>>(), expected[1..]);
    assert_eq!(left_out(&newest[2], "earlier measurements", "history"), 1);
}

#[test]
fn a_history_without_end_is_bounded() {
    let run = |at: usize| {
        format!(
            r#"{{"commit":{{"id":"c{at}"}},"date":{at},"tool":"go","benches":[{{"name":"a","value":{at},"unit":"ns/op"}}]}}"#
        )
    };
    let runs: Vec<String> = (0..21_000).map(run).collect();
    let file = format!(
        r#"window.BENCHMARK_DATA = {{"entries":{{"B":[{}]}}}};"#,
        runs.join(",")
    );
    let all = read_all(file.as_bytes(), "data.js", None).unwrap();
    assert_eq!(all.len(), 20_000);
    let newest = &all[19_999];
    assert_eq!(summary(&newest.benchmarks[0]).value, Some(20_999.0));
    assert_eq!(
        left_out(newest, "earlier measurements", "more than 20000"),
        1000
    );
}
