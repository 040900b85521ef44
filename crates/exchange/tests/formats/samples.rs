//! Checks values against those computed from the samples by hand or with Python.

use fathom_exchange::{Direction, FORMATS, read_folder, walk};

use crate::{folder, imported, left_out, samples, series, summary};

#[test]
fn each_sample_is_of_one_format() {
    let mut seen = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let found = FORMATS
                .iter()
                .filter(|one| one.can_read(&bytes))
                .map(|one| one.name)
                .collect::<Vec<_>>();
            assert_eq!(found.len(), 1, "{:?}: {found:?}", entry.path());
            seen.insert(found[0]);
        }
    }
    let missing = FORMATS
        .iter()
        .map(|one| one.name)
        .filter(|name| !seen.contains(name))
        .collect::<Vec<_>>();
    // asv's sample is in its folder; plain CSV has no tool.
    assert_eq!(missing, ["asv", "csv"]);
}

#[test]
fn hyperfine() {
    let first = imported("hyperfine-1.15.json");
    let sleep = series(&first, "sleep 0.01", "wall", &[("n", "2000")]);
    assert_eq!(samples(sleep).len(), 8);
    let seq = series(&first, "seq 1000", "wall", &[("n", "1000")]);
    assert_eq!(samples(seq)[..3], [0.001065798, 0.001129233, 0.003597971]);
    assert_eq!(
        (seq.unit.as_str(), seq.direction),
        ("s", Some(Direction::LowerIsBetter))
    );
    // User time only has means.
    assert_eq!(
        summary(series(&first, "seq 1000", "user", &[])).mean,
        Some(0.00108025)
    );
    assert_eq!(left_out(&first, "exit_codes", "not a measurement"), 32);
    let memory = imported("hyperfine-hf1.json");
    assert_eq!(
        samples(series(&memory, "seq 1000", "peak_memory", &[]))[0],
        3_293_184.0
    );
    let second = imported("hyperfine-hf2.json");
    assert_eq!(second.source.version.as_deref(), Some("2.0.0"));
    let wall = samples(series(&second, "seq 1000", "wall", &[]));
    assert_eq!((wall.len(), wall[1]), (5, 0.0010610910000000001));
    assert_eq!(samples(series(&second, "seq 1000", "user", &[]))[0], 0.0);
    let csv = imported("hyperfine.csv");
    let wall = summary(series(&csv, "seq 2000", "wall", &[("n", "2000")])).clone();
    assert_eq!(
        (wall.mean, wall.max),
        (Some(0.0028862317500000004), Some(0.007120299))
    );
}

#[test]
fn go() {
    let text = imported("go-test-bench.txt");
    let sort = [("n", "10k"), ("pkg", "example.com/gobench")];
    let wall = series(&text, "BenchmarkSort", "wall", &sort);
    assert_eq!(
        samples(wall),
        [687_324.0, 610_684.0, 597_516.0, 854_748.0, 1_184_520.0]
    );
    assert_eq!(
        (&wall.iterations[..], wall.threads),
        (&[91, 87, 86, 92, 96][..], Some(2))
    );
    let rate = series(&text, "BenchmarkSort", "MB/s", &sort);
    assert_eq!(
        (samples(rate)[4], rate.direction),
        (67.54, Some(Direction::HigherIsBetter))
    );
    assert_eq!(
        samples(series(&text, "BenchmarkSort", "elems/op", &sort))[0],
        10_000.0
    );
    // There are five names, of which two have five metrics each and three have three.
    assert_eq!(text.benchmarks.len(), 19);
    assert_eq!(text.source.environment["cpu"], "AMD EPYC");
    assert_eq!(left_out(&text, "lines", "PASS"), 2);
    let json = imported("go-test-bench-json.jsonl");
    let builder = series(&json, "BenchmarkBuilder", "wall", &[]);
    assert_eq!(
        (samples(builder), &builder.iterations[..]),
        (&[281.0, 205.6][..], &[119_149, 130_232][..])
    );
    let stat = imported("benchstat.csv");
    let new = ("file", "../../samples/go-test-bench-new.txt");
    let sort = summary(series(&stat, "Sort", "wall", &[("n", "10k"), new])).clone();
    assert_eq!(
        (sort.median, sort.count, sort.low),
        (Some(0.000585739), Some(5), None)
    );
    assert_eq!(
        summary(series(&stat, "Sort", "B/s", &[("n", "100"), new])).median,
        Some(2.2211e8)
    );
    assert_eq!(left_out(&stat, "geomean", ""), 5);
}

#[test]
fn google_benchmark() {
    let json = imported("google-benchmark.json");
    let sort = series(&json, "BM_Sort/8", "wall", &[]);
    assert_eq!(samples(sort).iter().sum::<f64>(), 2867.791352659441);
    assert_eq!(
        (sort.unit.as_str(), &sort.iterations[..]),
        ("ns", &[43020, 43020, 43020][..])
    );
    assert_eq!(
        samples(series(&json, "BM_Sort/8", "cmp", &[])),
        [42.0, 42.0, 42.0]
    );
    assert_eq!(
        samples(series(&json, "BM_Sort/8", "bytes_per_second", &[]))[0],
        48059211.02585565
    );
    let threads = series(
        &json,
        "BM_Thr/real_time/threads:2",
        "wall",
        &[("label", "lab,el\"q\"")],
    );
    assert_eq!((threads.threads, samples(threads).len()), (Some(2), 3));
    assert_eq!(left_out(&json, "aggregates", "samples"), 20);
    assert_eq!(left_out(&json, "BM_Err", "demo error"), 3);
    assert_eq!(
        left_out(&json, "BM_Sort_BigO", "fit") + left_out(&json, "BM_Sort_RMS", "fit"),
        2
    );
    assert_eq!(json.source.environment["library_build_type"], "debug");
    let csv = imported("google-benchmark.csv");
    let sort = summary(series(&csv, "BM_Sort/64", "cpu", &[])).clone();
    assert_eq!(
        (sort.mean, sort.median, sort.standard_deviation),
        (Some(1765.03), Some(1775.31), Some(26.3012))
    );
    assert_eq!(left_out(&csv, "BM_Sort/8_cv", "unit"), 1);
}

#[test]
fn rust() {
    let tree = read_folder(
        &walk(&folder().join("criterion")).unwrap(),
        "criterion",
        None,
    );
    assert!(tree.refused.is_empty(), "{:?}", tree.refused);
    let [tree] = &tree.imported[..] else {
        panic!("{} results", tree.imported.len())
    };
    let sum = series(tree, "sum/iter", "wall", &[("value", "1000")]);
    assert_eq!(
        (samples(sum)[0], sum.iterations[0], samples(sum).len()),
        (419.149306789904, 2813, 20)
    );
    assert_eq!(tree.benchmarks.len(), 3);
    assert_eq!(left_out(tree, "sum/iter/1000 / base", "earlier"), 1);
    assert_eq!(left_out(tree, "change", "comparison"), 3);
    let messages = imported("cargo-criterion-messages.jsonl");
    let fib = series(&messages, "fib 15", "wall", &[]);
    assert_eq!(
        (samples(fib)[0], fib.iterations[19]),
        (2_639_212.0 / 1424.0, 28480)
    );
    let libtest = imported("libtest-bench.txt");
    assert_eq!(
        summary(series(&libtest, "t::bench_bytes", "wall", &[])).median,
        Some(1195.18)
    );
    assert_eq!(
        summary(series(&libtest, "t::bench_bytes", "throughput", &[])).value,
        Some(3427.0)
    );
    assert_eq!(left_out(&libtest, "t::bench_ign", "ignored"), 1);
    let json = imported("libtest-bench.jsonl");
    assert_eq!(
        summary(series(&json, "t::bench_vec", "wall", &[])).other["max - min"],
        193.66748472026327
    );
    let bencher = imported("criterion-output-format-bencher.txt");
    assert_eq!(
        summary(series(&bencher, "sum/iter/10000", "wall", &[])).median,
        Some(6146.0)
    );
    let divan = imported("divan-stdout.txt");
    let copy = series(&divan, "div::copy", "wall", &[]);
    let figures = (
        summary(copy).min,
        summary(copy).max,
        summary(copy).median,
        summary(copy).mean,
    );
    assert_eq!(
        figures,
        (Some(86.95), Some(1531.0), Some(101.9), Some(250.2))
    );
    assert_eq!(
        (summary(copy).count, &copy.iterations[..]),
        (Some(10), &[4][..])
    );
    assert_eq!(
        summary(series(&divan, "div::copy", "throughput", &[])).median,
        Some(40.17e9)
    );
    assert_eq!(
        summary(series(&divan, "div::vecpush::1000", "alloc", &[])).median,
        Some(8000.0)
    );
    assert_eq!(
        summary(series(&divan, "div::vecpush::10", "alloc count", &[])).median,
        Some(1.0)
    );
    assert_eq!(
        summary(series(&divan, "div::dflt::u8", "wall", &[])).max,
        Some(0.266)
    );
    let iai = imported("iai.txt");
    assert_eq!(
        summary(series(&iai, "iai_benchmark_long", "Instructions", &[])).value,
        Some(18_454_953.0)
    );
    let gungraun = imported("gungraun-json.txt");
    let name = "play_game::bench_play_game_group::bench_play_game_100";
    assert_eq!(
        summary(series(&gungraun, name, "D1mr", &[("id", "some_id")])).value,
        Some(6.0)
    );
}

#[test]
fn python() {
    let benchmark = imported("pytest-benchmark.json");
    let sorted = series(
        &benchmark,
        "test_b.py::test_sorted[10]",
        "wall",
        &[("n", "10")],
    );
    assert_eq!(
        (samples(sorted).len(), &sorted.iterations[..]),
        (31, &[100][..])
    );
    assert!((samples(sorted).iter().sum::<f64>() - 5.5789900079616926e-06).abs() < 1e-18);
    let codspeed = imported("pytest-codspeed-walltime.json");
    let fib = series(&codspeed, "test_b.py::test_fib", "wall", &[]);
    assert_eq!(
        (summary(fib).median, &fib.iterations[..]),
        (Some(6291.496732026144), &[153][..])
    );
    let pyperf = imported("pyperf.json");
    let sorted = series(&pyperf, "sorted100", "wall", &[]);
    assert_eq!(
        (
            samples(sorted).len(),
            sorted.iterations[0],
            samples(sorted)[0]
        ),
        (20, 2000, 4.788034999592128e-07)
    );
    assert!((samples(sorted).iter().sum::<f64>() - 1.1372955500291938e-05).abs() < 1e-18);
    let asv = read_folder(&walk(&folder().join("asv")).unwrap(), "asv", None);
    assert!(asv.refused.is_empty(), "{:?}", asv.refused);
    let asv = &asv.imported[0];
    let sorted = series(
        asv,
        "b.S.time_sorted",
        "wall",
        &[("n", "1000"), ("k", "'a'")],
    );
    assert_eq!(samples(sorted), [8.052000112002133e-06]);
    let length = series(asv, "b.S.track_len", "value", &[("n", "10"), ("k", "'b'")]);
    assert_eq!(
        (summary(length).value, length.unit.as_str()),
        (Some(10.0), "items")
    );
    assert_eq!(
        summary(series(asv, "b.peakmem_x", "peak_memory", &[])).value,
        Some(36_728_832.0)
    );
    assert_eq!(left_out(asv, "b.time_fail", "failed"), 1);
}

#[test]
fn jvm_and_net() {
    let jmh = imported("jmh.json");
    let rate = series(
        &jmh,
        "d.B.sum",
        "throughput",
        &[("mode", "thrpt"), ("n", "100")],
    );
    assert_eq!(
        (samples(rate)[1], rate.direction),
        (19.456789318188303, Some(Direction::HigherIsBetter))
    );
    assert_eq!((samples(rate).len(), rate.unit.as_str()), (6, "ops/us"));
    // The samples come from a histogram; each time is repeated as often as it occurred.
    let sampled = series(&jmh, "d.B.sum", "wall", &[("mode", "sample")]);
    assert_eq!(
        (samples(sampled).len(), sampled.direction),
        (16_919, Some(Direction::LowerIsBetter))
    );
    let gc = series(&jmh, "d.B.sum", "gc.alloc.rate", &[("mode", "thrpt")]);
    assert_eq!(
        (samples(gc)[0], gc.unit.as_str()),
        (0.05567554395908876, "MB/sec")
    );
    let net = imported("benchmarkdotnet-full-compressed.json");
    let name = "BenchmarkDotNet.Samples.Intro.IntroJsonExport.Sleep10";
    let ten = series(&net, name, "wall", &[]);
    if let fathom_exchange::Values::Summary(figures) = &ten.values {
        assert_eq!(
            (figures.median, figures.count),
            (Some(10360382.6953125), Some(20))
        );
    } else {
        assert!(!samples(ten).is_empty());
    }
}

#[test]
fn javascript() {
    let mitata = imported("mitata.json");
    let array = series(&mitata, "new Array(100)", "wall", &[("n", "100")]);
    assert_eq!(
        (summary(array).mean, summary(array).quantiles["99.9"]),
        (Some(361.8260364197848), 2192.392578125)
    );
    assert_eq!(
        summary(series(&mitata, "noop", "heap", &[])).count,
        Some(530_169)
    );
    assert_eq!(left_out(&mitata, "throws", "failed"), 1);
    let tinybench = imported("tinybench-raw.json");
    assert_eq!(
        summary(series(&tinybench, "async", "wall", &[])).mean,
        Some(0.0007068040598803545)
    );
    assert_eq!(left_out(&tinybench, "boom", "errored"), 1);
    let vitest = imported("vitest-bench.json");
    let rate = series(&vitest, "a.bench.ts > sort > reverse", "throughput", &[]);
    assert_eq!(summary(rate).mean, Some(13355828.441182535));
    let old = imported("benchmarkjs-stdout.txt");
    assert_eq!(
        summary(series(&old, "indexOf", "throughput", &[])).mean,
        Some(547_127_638.0)
    );
}

#[test]
fn cpp() {
    let catch2 = imported("catch2-xml.xml");
    let fib = series(&catch2, "Fibonacci / fib 15", "wall", &[]);
    let figures = (
        summary(fib).mean,
        summary(fib).low,
        summary(fib).high,
        summary(fib).level,
    );
    assert_eq!(
        figures,
        (Some(799.516), Some(797.027), Some(811.732), Some(0.95))
    );
    assert_eq!(
        (summary(fib).count, &fib.iterations[..]),
        (Some(20), &[37][..])
    );
    let junit = imported("catch2-junit.xml");
    assert_eq!(
        samples(series(&junit, "c2.global.Fibonacci", "wall", &[])),
        [3.025]
    );
    let nanobench = imported("nanobench.json");
    let append = series(
        &nanobench,
        "string append",
        "wall",
        &[("title", "demo"), ("batch", "1000 char")],
    );
    assert_eq!(
        (samples(append).len(), samples(append)[1]),
        (11, 8.60402764976959e-06)
    );
    assert_eq!(append.iterations[1], 1085);
    let csv = imported("nanobench.csv");
    assert_eq!(
        summary(series(&csv, "string append", "wall", &[])).median,
        Some(9.43936e-07)
    );
    let pyperf = imported("nanobench-pyperf.json");
    assert_eq!(
        series(&pyperf, "demo", "wall", &[]).iterations[0],
        3897 * 1000
    );
}

#[test]
fn load() {
    let k6 = imported("k6-summary-export.json");
    let expected = series(
        &k6,
        "k6",
        "http_req_duration",
        &[("expected_response", "true")],
    );
    assert_eq!(
        (summary(expected).median, summary(expected).quantiles["95"]),
        (Some(2.225296), 5.0574143000000005)
    );
    assert_eq!(expected.unit, "ms");
    assert_eq!(
        summary(series(&k6, "k6", "http_reqs", &[])).value,
        Some(40.0)
    );
    let points = imported("k6-out-json-head.ndjson");
    assert_eq!(
        samples(series(
            &points,
            "k6",
            "http_req_duration",
            &[("status", "200")]
        )),
        [4.945098]
    );
    assert_eq!(left_out(&points, "declarations of metrics", ""), 4);
    let oha = imported("oha.json");
    let response = summary(series(&oha, "oha", "response", &[])).clone();
    assert_eq!(
        (response.count, response.quantiles["99.9"]),
        (Some(200), 0.015682666)
    );
    let wrk = imported("wrk.txt");
    let url = "http://127.0.0.1:18080/hyperfine.csv";
    let response = summary(series(&wrk, url, "response", &[("connections", "4")])).clone();
    assert_eq!(
        (response.mean, response.quantiles["99"], response.count),
        (Some(3.21), 15.96, Some(2682))
    );
    assert_eq!(
        summary(series(&wrk, url, "requests_per_second", &[])).value,
        Some(1338.11)
    );
    let hey = imported("hey.txt");
    let response = summary(series(&hey, "hey", "response", &[])).clone();
    assert_eq!(
        (response.mean, response.quantiles["90"], response.count),
        (Some(0.0110), 0.0163, Some(100))
    );
    let requests = imported("hey.csv");
    let response = samples(series(&requests, "hey", "response", &[("status", "200")])).to_vec();
    assert_eq!((response.len(), response[2]), (20, 0.0025));
    let bmf = imported("bencher-bmf.json");
    let latency = series(&bmf, "tests::benchmark_c", "latency", &[]);
    assert_eq!(
        (summary(latency).value, summary(latency).low),
        (Some(3361.0), Some(1093.0))
    );
}

#[test]
fn plain_csv() {
    let rows = "name,size,wall (s),peak (B)\nsort,10,0.5,100\nsort,10,0.25,200\nsort,20,1,x\n";
    let wide = crate::text(rows).unwrap();
    assert_eq!(
        samples(series(&wide, "sort", "wall", &[("size", "10")])),
        [0.5, 0.25]
    );
    assert_eq!(
        samples(series(&wide, "sort", "peak", &[("size", "10")])),
        [100.0, 200.0]
    );
    assert_eq!(left_out(&wide, "sort", "no number: x"), 1);
    let long =
        crate::text("benchmark,metric,unit,value,direction\na,rate,1/s,5,higher_is_better\n")
            .unwrap();
    assert_eq!(
        series(&long, "a", "rate", &[]).direction,
        Some(Direction::HigherIsBetter)
    );
}

#[test]
fn json_has_the_keys_of_the_interface() {
    let imported = imported("hyperfine-hf1.json");
    assert_eq!(imported.source.tool, "hyperfine");
    let json = serde_json::to_value(&imported.benchmarks).unwrap();
    assert_eq!(json[0]["direction"], "lower_is_better");
    assert!(json[0]["samples"].is_array() && json[1]["summary"].is_object());
    assert!(!imported.left_out[0].reason.is_empty());
}
