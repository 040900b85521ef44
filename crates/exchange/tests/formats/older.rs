//! Tests formats that tools wrote in earlier releases or write on other systems.

use std::io::BufReader;

use fathom_exchange::{Direction, Entry, read, read_folder};

use crate::{imported, left_out, sample, samples, series, summary, text};

#[test]
fn asv_version_1() {
    let result = r#"{"commit_hash":"03378f1399413fcff76ad2df9e41c4e907701b2a","date":1404281124000,
        "params":{"machine":"vm","python":"2.7"},"python":"2.7","requirements":{"numpy":"1.9"},"profiles":{},
        "results":{
            "b.T.time_plain":0.0776,
            "b.T.time_failed":null,
            "b.T.mem_two":{"result":[1024,null],"params":[["'a'","'b'"]]},
            "b.T.time_stats":{"result":[0.25],"stats":[{"ci_99":[0.2,0.3],"q_25":0.24,"q_75":0.26,"mean":0.251,
                "min":0.2,"max":0.3,"std":0.01,"number":5,"repeat":10}]},
            "b.T.time_samples":{"result":[0.5,0.75],"params":[["10","20"]],"samples":[[0.4,0.5,0.6],null],
                "stats":[{"ci_99":[0.4,0.6],"number":3,"repeat":3},null]}
        },"version":1}"#;
    let known = r#"{"b.T.time_samples":{"param_names":["n"],"unit":"seconds"},
        "b.T.mem_two":{"param_names":["kind"],"unit":"bytes"},"version":1}"#;
    let entry = |path: &str, text: &str| Entry {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let folder = [
        entry("benchmarks.json", known),
        entry("vm/a.json", result),
        entry("vm/machine.json", "{}"),
    ];
    let found = read_folder(&folder, "results", None);
    assert!(found.refused.is_empty(), "{:?}", found.refused);
    let [found] = &found.imported[..] else {
        panic!("{:#?}", found.imported)
    };
    assert_eq!(found.source.version.as_deref(), Some("1"));
    let of = [("python", "2.7"), ("numpy", "1.9")];
    let plain = series(found, "b.T.time_plain", "wall", &of);
    assert_eq!(summary(plain).value, Some(0.0776));
    let kinds = [("kind", "'a'"), of[0]];
    assert_eq!(
        summary(series(found, "b.T.mem_two", "memory", &kinds)).value,
        Some(1024.0)
    );
    assert_eq!(left_out(found, "b.T.mem_two", "failed"), 1);
    assert_eq!(left_out(found, "b.T.time_failed", "failed"), 1);
    let stats = series(found, "b.T.time_stats", "wall", &[]);
    let figures = summary(stats).clone();
    assert_eq!(
        (figures.low, figures.high, figures.level, figures.count),
        (Some(0.2), Some(0.3), Some(0.99), Some(10))
    );
    assert_eq!(
        (figures.quantiles["25"], &stats.iterations[..]),
        (0.24, &[5][..])
    );
    let ten = series(found, "b.T.time_samples", "wall", &[("n", "10")]);
    assert_eq!(samples(ten), [0.4, 0.5, 0.6]);
    let twenty = series(found, "b.T.time_samples", "wall", &[("n", "20")]);
    assert_eq!(summary(twenty).value, Some(0.75));
    assert_eq!(
        text(&result.replace("\"version\":1", "\"version\":3"))
            .unwrap_err()
            .to_string(),
        "asv: form 3 is not known (known: 1 and 2)"
    );
}

#[test]
fn jmh_without_its_version_and_as_csv() {
    let old = imported("jmh-without-version.json");
    let wall = series(&old, "a.B.m", "wall", &[("mode", "avgt"), ("size", "1024")]);
    assert_eq!(samples(wall), [16.9, 17.0, 17.1]);
    assert_eq!((wall.unit.as_str(), &old.source.version), ("ns/op", &None));
    let csv = imported("jmh.csv");
    let name = "net.greypanther.BenchmarkByteArrayCopy.benchmarkArrayManualCopy";
    let parameters = [("mode", "thrpt"), ("arraySizeInKb", "1000")];
    let rate = series(&csv, name, "throughput", &parameters);
    let figures = summary(rate);
    assert_eq!(
        (rate.unit.as_str(), rate.direction, rate.threads),
        ("ops/s", Some(Direction::HigherIsBetter), Some(1))
    );
    let (score, half) = (2655.708143, 16.343424);
    assert_eq!(
        (figures.mean, figures.low, figures.high, figures.level),
        (
            Some(score),
            Some(score - half),
            Some(score + half),
            Some(0.999)
        )
    );
    assert_eq!(figures.count, Some(90));
}

#[test]
fn jmh_csv_of_profilers_and_of_other_locales() {
    let header = |separator: &str| {
        let columns = [
            "Benchmark",
            "Mode",
            "Threads",
            "Samples",
            "Score",
            "Score Error (99.9%)",
            "Unit",
        ];
        columns
            .map(|column| format!("\"{column}\""))
            .join(separator)
    };
    let rows = format!(
        "{}\n\"a.B.m\",\"avgt\",1,5,12.500000,0.750000,\"us/op\"\n\
        \"a.B.m:·gc.alloc.rate.norm\",\"avgt\",1,5,24.0,NaN,\"B/op\"\n",
        header(",")
    );
    let found = text(&rows).unwrap();
    let wall = series(&found, "a.B.m", "wall", &[("mode", "avgt")]);
    assert_eq!(
        (summary(wall).mean, summary(wall).high),
        (Some(12.5), Some(13.25))
    );
    let allocated = series(&found, "a.B.m", "·gc.alloc.rate.norm", &[]);
    assert_eq!(
        (summary(allocated).mean, summary(allocated).low),
        (Some(24.0), None)
    );
    let german = format!(
        "{}\n\"a.B.m\";\"avgt\";1;5;2953256,471106;0,750000;\"us/op\"\n",
        header(";")
    );
    let found = text(&german).unwrap();
    assert_eq!(
        summary(series(&found, "a.B.m", "wall", &[])).mean,
        Some(2_953_256.471106)
    );
    // If commas also separate the cells, the two can't be told apart.
    let split = format!(
        "{}\n\"a.B.m\",\"avgt\",1,5,12,500000,0,750000,\"us/op\"\n",
        header(",")
    );
    let refused = text(&split).unwrap_err().to_string();
    assert!(refused.contains("decimal comma"), "{refused}");
}

#[test]
fn google_benchmark_before_run_type() {
    let old = imported("google-benchmark-1.4.json");
    let names: Vec<(&str, &str)> = old
        .benchmarks
        .iter()
        .map(|one| (one.name.as_str(), one.metric.as_str()))
        .collect();
    let name = "BM_memcpy/8/repeats:3";
    assert_eq!(
        names,
        [(name, "wall"), (name, "cpu"), (name, "bytes_per_second")]
    );
    assert_eq!(samples(series(&old, name, "wall", &[])), [10.0, 11.0, 12.0]);
    assert_eq!(left_out(&old, "aggregates", "samples"), 3);
    assert_eq!(left_out(&old, "BM_sort_BigO", "fit"), 1);
    assert_eq!(left_out(&old, "BM_sort_RMS", "fit"), 1);
    // This is output with `--benchmark_report_aggregates_only`. A name that merely ends in `_mean` is a
    // benchmark, and so is one that begins like another benchmark's name.
    let row = |name: &str, time: f64| {
        format!(
            r#"{{"name":"{name}","iterations":3,"real_time":{time},"cpu_time":1,"time_unit":"ns"}}"#
        )
    };
    let rows = [
        row("BM_x_mean", 2.0),
        row("BM_x_median", 1.0),
        row("BM_x_stddev", 0.5),
        row("BM_x_big_mean", 20.0),
        row("BM_x_big_median", 10.0),
        row("BM_x_big_stddev", 5.0),
        row("BM_geometric_mean", 7.0),
    ];
    let file = format!(
        r#"{{"context":{{"num_cpus":4}},"benchmarks":[{}]}}"#,
        rows.join(",")
    );
    let found = text(&file).unwrap();
    for (name, mean, median, deviation) in [("BM_x", 2.0, 1.0, 0.5), ("BM_x_big", 20.0, 10.0, 5.0)]
    {
        let figures = summary(series(&found, name, "wall", &[]));
        assert_eq!(
            (figures.mean, figures.median, figures.standard_deviation),
            (Some(mean), Some(median), Some(deviation)),
            "{name}"
        );
    }
    assert_eq!(
        samples(series(&found, "BM_geometric_mean", "wall", &[])),
        [7.0]
    );
    assert_eq!(found.benchmarks.len(), 6);
}

#[test]
fn numbers_of_extra_info_are_metrics() {
    let found = imported("pytest-benchmark-extra-info.json");
    let metric = |n: &str, metric: &str| {
        let name = format!("tests/t.py::test_q[{n}]");
        summary(series(&found, &name, metric, &[("n", n)])).value
    };
    assert_eq!(
        (metric("1", "query_count"), metric("1", "bytes")),
        (Some(12.0), Some(1_048_576.0))
    );
    assert_eq!(metric("2", "query_count"), Some(15.0));
    let first = series(&found, "tests/t.py::test_q[1]", "query_count", &[]);
    assert_eq!((first.direction, first.unit.as_str()), (None, ""));
    let json = String::from_utf8(sample("pytest-benchmark-extra-info.json")).unwrap();
    let json = json.replace("\"query_count\": 15", "\"wall\": 15, \"how\": \"cold\"");
    let found = text(&json).unwrap();
    let name = "tests/t.py::test_q[2]";
    assert_eq!(
        summary(series(&found, name, "wall", &[])).median,
        Some(0.0011)
    );
    assert_eq!(left_out(&found, "extra_info how", "no number"), 1);
    assert_eq!(left_out(&found, "extra_info wall", ""), 1);
}

/// Returns the same text in UTF-16, in both byte orders, with and without a byte order mark.
fn utf16(text: &str) -> Vec<Vec<u8>> {
    let encoded = |big: bool, mark: bool| {
        let units = mark
            .then_some(0xfeff)
            .into_iter()
            .chain(text.encode_utf16());
        let bytes = units.map(|unit| match big {
            true => unit.to_be_bytes(),
            false => unit.to_le_bytes(),
        });
        bytes.flatten().collect()
    };
    let forms = [(false, true), (true, true), (false, false), (true, false)];
    forms.map(|(big, mark)| encoded(big, mark)).into()
}

#[test]
fn utf_16_is_read_as_the_same_text() {
    for file in [
        "go-test-bench.txt",
        "hyperfine-hf2.json",
        "catch2-xml.xml",
        "criterion-stdout.txt",
        "hyperfine.csv",
    ] {
        let text = String::from_utf8(sample(file)).unwrap();
        let expected = imported(file).benchmarks;
        for bytes in utf16(&text) {
            let found =
                read(&bytes[..], file, None).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(found.benchmarks, expected, "{file}");
            // This must also work if only a few bytes arrive at a time.
            let found = read(BufReader::with_capacity(1, &bytes[..]), file, None).unwrap();
            assert_eq!(found.benchmarks, expected, "{file}");
        }
    }
    // A surrogate pair, a lone half, and half a character at the end.
    let mut bytes = utf16("BenchmarkA😀-2 10 5 ns/op\n").swap_remove(0);
    bytes.extend([0x3d, 0xd8, b'x']);
    let found = read(BufReader::with_capacity(1, &bytes[..]), "f", None).unwrap();
    assert_eq!(samples(series(&found, "BenchmarkA😀", "wall", &[])), [5.0]);
}
