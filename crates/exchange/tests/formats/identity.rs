//! Tests how series are distinguished, by parameters, jobs, environments and conditions, and what a file
//! states about its units.

use fathom_exchange::{Direction, Entry, read_folder};

use crate::{left_out, samples, series, summary, text};

fn benchmark_dot_net(rows: &[(&str, &str, f64)]) -> String {
    let row = |(display, parameters, ns): &(&str, &str, f64)| {
        format!(
            r#"{{"DisplayInfo":"{display}","Namespace":"N","Type":"T","Method":"A","Parameters":"{parameters}",
                "Statistics":{{"Mean":{ns}}},"Measurements":[{{"IterationMode":"Workload","IterationStage":"Result",
                "Operations":1,"Nanoseconds":{ns}}}]}}"#
        )
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!(
        r#"{{"HostEnvironmentInfo":{{"BenchmarkDotNetVersion":"0.14.0"}},"Benchmarks":[{}]}}"#,
        rows.join(",")
    )
}

#[test]
fn a_job_is_a_parameter_by_what_it_sets() {
    let file = benchmark_dot_net(&[
        ("T.A: DefaultJob [N=1]", "N=1", 1.0),
        ("T.A: Job-ABCDEF(Runtime=.NET 8.0) [N=1]", "N=1", 2.0),
        ("T.A: ShortRun(LaunchCount=1) [N=1]", "N=1", 3.0),
        ("T.A: Job-QWERTZ [N=1]", "N=1", 4.0),
    ]);
    let found = text(&file).unwrap();
    let jobs: Vec<Option<&str>> = found
        .benchmarks
        .iter()
        .map(|one| one.parameters.get("job").map(String::as_str))
        .collect();
    let expected = ["Runtime=.NET 8.0", "ShortRun(LaunchCount=1)", "Job-QWERTZ"];
    assert_eq!(jobs[0], None);
    assert_eq!(jobs[1..], expected.map(Some));
}

fn pytest(benchmarks: &[(&str, &str, f64)]) -> String {
    let each = benchmarks.iter().map(|(name, value, seconds)| {
        format!(
            r#"{{"name":"n","fullname":"{name}","params":{{"of":"{value}"}},
            "stats":{{"rounds":3,"iterations":1,"mean":{seconds},"median":{seconds}}}}}"#
        )
    });
    format!(
        r#"{{"machine_info":{{}},"commit_info":{{}},"version":"4.0.0","benchmarks":[{}]}}"#,
        each.collect::<Vec<_>>().join(",")
    )
}

#[test]
fn a_place_in_memory_is_no_parameter() {
    let file = |one: &str, other: &str| {
        text(&pytest(&[
            (
                "t.py::test[a]",
                &format!("UNSERIALIZABLE[<t.Query object at 0x{one}>]"),
                1.0,
            ),
            (
                &format!("t.py::test[<function f at 0x{one}>]"),
                "x at 0x7f2b, y",
                2.0,
            ),
            (
                "t.py::test[a]",
                &format!("UNSERIALIZABLE[<t.Query object at 0x{other}>]"),
                3.0,
            ),
        ]))
        .unwrap()
    };
    let found = file("7f2a9c0d1e50", "7f2a9c0d1f00");
    let known: Vec<_> = found
        .benchmarks
        .iter()
        .map(|one| (one.name.as_str(), &one.parameters["of"]))
        .collect();
    let query = "UNSERIALIZABLE[<t.Query object>]";
    assert_eq!(known[0], ("t.py::test[a]", &query.to_owned()));
    // Text that only looks like an address is kept.
    assert_eq!(
        known[1],
        ("t.py::test[<function f>]", &"x at 0x7f2b, y".to_owned())
    );
    // Another run has the same series, and two objects of a class are distinguished by their position.
    assert_eq!(
        file("7ffd00000010", "7ffd00000020").benchmarks,
        found.benchmarks
    );
    assert_eq!(found.benchmarks[2].parameters["place"], "2");
}

#[test]
fn equal_names_have_their_place() {
    let rows = "a,ns,1,5,1\na,ns,2,5,1\nb,ns,1,5,1\na,ns,3,5,2\na,ns,4,5,1\n";
    let found = text(&format!("name,unit,value,runs,threads\n{rows}")).unwrap();
    let places: Vec<Option<&str>> = found
        .benchmarks
        .iter()
        .map(|one| one.parameters.get("place").map(String::as_str))
        .collect();
    // The number of threads distinguishes benchmarks, too.
    assert_eq!(places, [None, Some("2"), None, None, Some("3")]);
    // In JSON, the series are named as in the store, where the position is the last parameter.
    let last = found.benchmarks[4].series_parameters();
    assert_eq!(last, [("place".to_owned(), "3".to_owned())]);
}

#[test]
fn semicolons_separate_cells_too() {
    let comma = text("name,size,wall (s)\nsort,1000,0.25\n").unwrap();
    for other in [
        "name;size;wall (s)\nsort;1000;0,25\n",
        "name\tsize\twall (s)\nsort\t1000\t0,25\n",
    ] {
        assert_eq!(text(other).unwrap().benchmarks, comma.benchmarks);
    }
}

#[test]
fn a_parameters_value_may_hold_a_comma() {
    let file = benchmark_dot_net(&[
        ("T.A: DefaultJob", "culture=en-US&text=a, b", 1.0),
        ("T.A: DefaultJob", "culture=en-US&text=a, c", 2.0),
        ("T.A: DefaultJob", "Text=a, b, N=3", 3.0),
    ]);
    let found = text(&file).unwrap();
    for (parameters, value) in [
        ([("culture", "en-US"), ("text", "a, b")], 1.0),
        ([("culture", "en-US"), ("text", "a, c")], 2.0),
        ([("Text", "a, b"), ("N", "3")], 3.0),
    ] {
        assert_eq!(
            samples(series(&found, "N.T.A", "wall", &parameters)),
            [value]
        );
    }
}

#[test]
fn what_failed_has_no_memory_either() {
    let failed = r#"{"HostEnvironmentInfo":{},"Benchmarks":[{"DisplayInfo":"T.A: DefaultJob","Namespace":"N","Type":"T",
        "Method":"A","Statistics":null,"Memory":{"BytesAllocatedPerOperation":0,"Gen0Collections":0},"Measurements":[]}]}"#;
    let found = text(failed).unwrap();
    assert!(found.benchmarks.is_empty(), "{found:#?}");
    assert_eq!(left_out(&found, "N.T.A", "failed"), 1);
}

#[test]
fn a_configuration_key_whose_value_changes_is_a_parameter() {
    let file = "goos: linux\ngoarch: amd64\nBenchmarkA-8 100 100 ns/op\nBenchmarkA-8 100 101 ns/op\n\
        goarch: arm64\nBenchmarkA-8 100 200 ns/op\n";
    let found = text(file).unwrap();
    let of = |value| samples(series(&found, "BenchmarkA", "wall", &[("goarch", value)]));
    assert_eq!(
        (of("amd64"), of("arm64")),
        (&[100.0, 101.0][..], &[200.0][..])
    );
    // A value that is the same for all stays in the environment, even if it is repeated.
    assert_eq!(found.source.environment["goos"], "linux");
    assert!(!found.source.environment.contains_key("goarch"));
    let same = text("cpu: X\nBenchmarkA 1 1 ns/op\ncpu: X\nBenchmarkB 1 1 ns/op\n").unwrap();
    assert_eq!(same.source.environment["cpu"], "X");
    assert!(same.benchmarks.iter().all(|one| one.parameters.is_empty()));
    // A parameter of the same name belongs to the benchmark.
    let both = text("note: a\nBenchmarkA/note=1 1 1 ns/op\nnote: b\nBenchmarkA/note=1 1 2 ns/op\n")
        .unwrap();
    let found = series(
        &both,
        "BenchmarkA",
        "wall",
        &[("note", "1"), ("note of the file", "b")],
    );
    assert_eq!(samples(found), [2.0]);
}

#[test]
fn units_have_the_direction_that_the_file_gives_them() {
    let file = "BenchmarkA 1 100 widgets/s 3 cost 7 errors/s 50 ops/ms\nUnit widgets/s better=lower\n\
        Unit cost better=lower assume=exact\n";
    let found = text(file).unwrap();
    let of = |metric| {
        let one = series(&found, "BenchmarkA", metric, &[]);
        (one.direction, one.exact)
    };
    let (lower, higher) = (
        Some(Direction::LowerIsBetter),
        Some(Direction::HigherIsBetter),
    );
    assert_eq!(of("widgets/s"), (lower, false));
    assert_eq!(of("cost"), (lower, true));
    assert_eq!(of("errors/s"), (lower, false));
    assert_eq!(of("ops/ms"), (higher, false));
}

#[test]
fn the_environments_that_asv_made_are_parameters() {
    let result = |python: &str, numpy: &str, value: f64| {
        format!(
            r#"{{"commit_hash":"aaaaaaaa","env_name":"e","date":1600000000000,"params":{{"machine":"vm"}},
            "python":"{python}","requirements":{{"numpy":"{numpy}"}},"env_vars":{{"THREADS":"2"}},
            "result_columns":["result","params"],"results":{{"b.time_x":[[{value}],[["'{numpy}'"]]]}},"version":2}}"#
        )
    };
    let known = r#"{"b.time_x":{"name":"b.time_x","param_names":["numpy"],"params":[["'1'"]],"unit":"seconds"},"version":2}"#;
    let entry = |path: &str, text: &str| Entry {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let folder = [
        entry("benchmarks.json", known),
        entry("vm/a.json", &result("3.8", "1.17", 1.0)),
        entry("vm/b.json", &result("3.11", "2.0", 0.5)),
    ];
    let found = read_folder(&folder, "results", None).imported;
    for (at, python, numpy, value) in [(0, "3.8", "1.17", 1.0), (1, "3.11", "2.0", 0.5)] {
        let parameters = [
            ("python", python),
            ("numpy of the environment", numpy),
            ("THREADS", "2"),
            ("numpy", &*format!("'{numpy}'")),
        ];
        let one = series(&found[at], "b.time_x", "wall", &parameters);
        assert_eq!(summary(one).value, Some(value));
    }
}

#[test]
fn failures_of_a_load_test_are_counted() {
    let file = "Running 10s test @ http://127.0.0.1/\n  2 threads and 50 connections\n  \
        Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     5.51ms   1.48ms  22.72ms   78.43%\n  \
        40752 requests in 10.05s, 168.89MB read\n  Socket errors: connect 0, read 1, write 0, timeout 4400\n  \
        Non-2xx or 3xx responses: 40752\nRequests/sec:   4049.97\n";
    let found = text(file).unwrap();
    let of = |metric| summary(series(&found, "http://127.0.0.1/", metric, &[])).value;
    assert_eq!(of("failed_responses"), Some(40752.0));
    assert_eq!(
        (of("timeouts"), of("read_errors")),
        (Some(4400.0), Some(1.0))
    );
}

#[test]
fn no_program_takes_no_time() {
    let file = |times: &str, mean: f64| {
        let result = format!(
            r#"{{"command":"true","mean":{mean},"stddev":0.0,"median":{mean},"user":0.0,"system":0.001,
                "min":0.0,"max":{mean},"times":[{times}]}}"#
        );
        text(&format!(r#"{{"results":[{result}]}}"#)).unwrap()
    };
    let metrics = |times: &str, mean: f64| -> Vec<String> {
        let benchmarks = file(times, mean).benchmarks;
        benchmarks.into_iter().map(|one| one.metric).collect()
    };
    // A short run may have no CPU time at all.
    for (times, mean) in [
        ("0.0, 0.0, 0.001", 0.0),
        ("-0.001, 0.002, 0.003", 0.002),
        ("", 0.0),
        ("", -0.1),
    ] {
        assert_eq!(metrics(times, mean), ["user", "system"], "{times} {mean}");
    }
    for (times, mean) in [("0.0, 0.001, 0.001", 0.001), ("", 0.001)] {
        assert_eq!(
            metrics(times, mean),
            ["wall", "user", "system"],
            "{times} {mean}"
        );
    }
    let said = left_out(&file("0.0, 0.0", 0.0), "true wall", "a time of 0");
    assert_eq!(said, 1);
}
