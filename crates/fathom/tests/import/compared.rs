//! Two files of other tools: which results form one series, what may be compared, and by which figure.

use std::path::Path;

use serde_json::Value;

use crate::{done, fathom, json, sample, stderr};

fn write(here: &Path, name: &str, text: &str) {
    std::fs::write(here.join(name), text).unwrap();
}

fn compared(here: &Path, base: &str, head: &str) -> Value {
    json(&done(here, &["compare", base, head, "--json", "-"], b""))
}

/// Returns the verdicts in order.
fn verdicts(record: &Value) -> Vec<&str> {
    let all = record["comparisons"].as_array().unwrap().iter();
    all.map(|one| one["verdict"].as_str().unwrap()).collect()
}

fn gate(here: &Path, base: &str, head: &str) -> (Option<i32>, String) {
    let output = fathom(here, &["gate", "--stored", base, head], b"");
    (
        output.status.code(),
        crate::stdout(&output) + &stderr(&output),
    )
}

const TWICE: &str = r#"{"results":[
    {"command":"make","mean":1,"stddev":0,"median":1,"times":[0.99,1.0,1.01,1.0,0.99,1.01],"exit_codes":[]},
    {"command":"make","mean":2,"stddev":0,"median":2,"times":[1.99,2.0,2.01,2.0,1.99,2.01],"exit_codes":[]}]}"#;

#[test]
fn every_sample_is_the_same_as_itself() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let mut files = 0;
    for entry in std::fs::read_dir(sample("")).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_file() {
            continue;
        }
        // Use a copy, so that the names don't reveal that both files are the same.
        let copy = here.join("copy.txt");
        std::fs::copy(&path, &copy).unwrap();
        let (path, copy) = (path.to_str().unwrap(), copy.to_str().unwrap());
        let found = compared(here, path, copy);
        let verdicts = verdicts(&found);
        assert!(!verdicts.is_empty(), "{path}: {found:#}");
        assert!(
            verdicts.iter().all(|one| *one == "same"),
            "{path}: {found:#}"
        );
        let left_out = found["left_out"].as_array().unwrap();
        assert!(left_out.is_empty(), "{path}: {left_out:?}");
        let (code, said) = gate(here, path, copy);
        assert_eq!(code, Some(0), "{path}: {said}");
        // The files differ in their bytes but not in their figures: each series in one file is also in the
        // other, and none differs.
        let mut bytes = std::fs::read(path).unwrap();
        bytes.push(b'\n');
        std::fs::write(copy, bytes).unwrap();
        let found = compared(here, path, copy);
        for one in found["comparisons"].as_array().unwrap() {
            let verdict = one["verdict"].as_str().unwrap();
            assert!(["same", "undecided"].contains(&verdict), "{path}: {one:#}");
            let ratio = one["ratio"]["value"].as_f64().unwrap();
            assert!((ratio - 1.0).abs() < 1e-9, "{path}: {one:#}");
        }
        files += 1;
    }
    assert!(files >= 54, "{files}");
}

#[test]
fn equal_names_belong_together_by_their_place_or_are_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, "base.json", TWICE);
    write(
        here,
        "head.json",
        &TWICE.replace("[1.99,2.0,", "[1.98,2.0,"),
    );
    let found = compared(here, "base.json", "head.json");
    assert_eq!(verdicts(&found), ["undecided", "undecided"]);
    let imported = crate::stdout(&fathom(here, &["import", "base.json"], b""));
    assert!(imported.contains("[place=2]"), "{imported}");
    let ratio = |at: usize| found["comparisons"][at]["ratio"]["value"].as_f64().unwrap();
    assert!((ratio(0) - 1.0).abs() < 0.01 && (ratio(1) - 1.0).abs() < 0.01);
    // With only one result of that name, it is unknown which of the two it was.
    let mut once: Value = serde_json::from_str(TWICE).unwrap();
    once["results"].as_array_mut().unwrap().remove(0);
    write(here, "once.json", &once.to_string());
    let output = fathom(here, &["compare", "base.json", "once.json"], b"");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let said = crate::stdout(&output).replace('\n', " ");
    assert!(said.contains("ambiguous"), "{said}");
}

#[test]
fn two_machines_are_refused_as_from_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let of = |cpus: u32, time: u32| {
        format!(
            r#"{{"context":{{"date":"2024-01-01T10:00:00+00:00","host_name":"h","num_cpus":{cpus}}},"benchmarks":[
            {{"name":"BM_a","run_name":"BM_a","run_type":"iteration","iterations":9,"real_time":{time},"cpu_time":9,
            "time_unit":"ns"}}]}}"#
        )
    };
    write(here, "a.json", &of(4, 100));
    write(here, "b.json", &of(64, 50));
    write(here, "c.json", &of(4, 50));
    let output = fathom(here, &["compare", "a.json", "b.json"], b"");
    assert_eq!(output.status.code(), Some(4));
    assert!(crate::stdout(&output).contains("CPUs 4 and 64"));
    let (code, said) = gate(here, "a.json", "b.json");
    assert_eq!(code, Some(4), "{said}");
    assert_eq!(verdicts(&compared(here, "a.json", "c.json")), ["faster"]);
    let across = ["compare", "a.json", "b.json", "--across", "--json", "-"];
    let across = json(&done(here, &across, b""));
    assert_eq!(across["comparisons"][0]["across_environments"], true);
}

#[test]
fn what_is_counted_exactly_is_compared_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let iai = |long: u32| {
        format!(
            "short\n  Instructions:  1243\n  L1 Accesses:  1580\n  Estimated Cycles:  1655\n\n\
            long\n  Instructions:  {long}\n  L1 Accesses:  1580\n  Estimated Cycles:  1655\n"
        )
    };
    write(here, "base.txt", &iai(18_454_953));
    write(here, "head.txt", &iai(18_824_053));
    let found = compared(here, "base.txt", "head.txt");
    assert_eq!(verdicts(&found), ["same", "slower"]);
    let one = &found["comparisons"][1];
    assert!((one["ratio"]["value"].as_f64().unwrap() - 1.02).abs() < 1e-6);
    assert_eq!(one["ratio"]["low"], one["ratio"]["high"]);
    assert_eq!(one["drift"]["source"], "none");
    let fails = ["gate", "--stored", "base.txt", "head.txt", "--margin", "1%"];
    assert_eq!(fathom(here, &fails, b"").status.code(), Some(1));
    // Values that a file calls exact are exact, and others aren't.
    let go = |value: u32, unit: &str| format!("{unit}BenchmarkA 1 {value} steps\n");
    for (unit, expected) in [
        ("Unit steps better=lower assume=exact\n", "slower"),
        ("", "undecided"),
    ] {
        write(here, "a.txt", &go(1000, unit));
        write(here, "b.txt", &go(1020, unit));
        assert_eq!(verdicts(&compared(here, "a.txt", "b.txt")), [expected]);
    }
}

#[test]
fn a_load_test_is_judged_by_its_rate_or_latency() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let wrk = |rate: &str| {
        format!(
            "Running 10s test @ http://h/\n  2 threads and 50 connections\n  \
            Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Req/Sec     4.34k    76.54     5.00k    91.06%\n  \
            90752 requests in 10.05s, 168.89MB read\nRequests/sec:   {rate}\n"
        )
    };
    write(here, "a.txt", &wrk("9049.97"));
    write(here, "b.txt", &wrk("4049.97"));
    let k6 = |median: u32| {
        format!(
            r#"{{"metrics":{{"checks":{{"type":"rate","values":{{"passes":1,"fails":0,"rate":1}}}},
            "data_received":{{"type":"counter","values":{{"count":1,"rate":1}}}},
            "iterations":{{"type":"counter","values":{{"count":1,"rate":1}}}},
            "http_req_duration":{{"type":"trend","contains":"time","values":{{"avg":{median},"med":{median}}}}}}}}}"#
        )
    };
    write(here, "a.json", &k6(330));
    write(here, "b.json", &k6(990));
    for (base, head, metric) in [
        ("a.txt", "b.txt", "requests_per_second"),
        ("a.json", "b.json", "http_req_duration"),
    ] {
        let found = compared(here, base, head);
        assert_eq!(found["comparisons"][0]["metric"], metric);
        assert_eq!(verdicts(&found), ["slower"]);
        let (code, said) = gate(here, base, head);
        assert_eq!(code, Some(1), "{said}");
        if metric == "http_req_duration" {
            assert!(said.contains("330 ms -> 990 ms"), "{said}");
        }
        // Fewer requests are not better.
        assert!(!said.contains("Better"), "{said}");
    }
}

#[test]
fn errors_that_come_fast_are_no_gain() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let wrk = |rate: &str, failed: &str| {
        format!(
            "Running 10s test @ http://h/\n  2 threads and 50 connections\n  \
            Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     5.51ms    1.00ms  20.00ms    90.00%\n  \
            90752 requests in 10.05s, 168.89MB read\n{failed}Requests/sec:   {rate}\n"
        )
    };
    let all = "  Non-2xx or 3xx responses: 90752\n";
    write(here, "good.txt", &wrk("9000", ""));
    write(here, "fast.txt", &wrk("20000", all));
    write(here, "slow.txt", &wrk("4000", all));
    write(
        here,
        "few.txt",
        &wrk("20000", "  Non-2xx or 3xx responses: 1815\n"),
    );
    let late = "  Socket errors: connect 0, read 0, write 0, timeout 90000\n";
    write(here, "late.txt", &wrk("20000", late));
    for (base, head, verdict, code) in [
        ("good.txt", "late.txt", "undecided", 1),
        ("good.txt", "fast.txt", "undecided", 1),
        ("good.txt", "slow.txt", "slower", 1),
        ("fast.txt", "good.txt", "undecided", 0),
        ("good.txt", "few.txt", "faster", 0),
    ] {
        let found = compared(here, base, head);
        assert_eq!(verdicts(&found), [verdict], "{base} {head}");
        let shown = fathom(here, &["compare", base, head], b"");
        let shown = crate::stdout(&shown);
        let said = match (base, head) {
            (_, "few.txt") => "2.0 % of the requests in few.txt failed.".to_owned(),
            (_, "late.txt") => "99 % of the requests in late.txt failed".to_owned(),
            ("good.txt", failed) | (failed, _) => format!("All requests in {failed} failed"),
        };
        let second = shown.lines().nth(1).unwrap_or_default();
        assert!(second.starts_with(&said), "{shown}");
        let (exit, said) = gate(here, base, head);
        assert_eq!(exit, Some(code), "{said}");
        assert!(said.contains("failed"), "{said}");
    }
    // Comparing a file with itself still gives `same`.
    assert_eq!(verdicts(&compared(here, "fast.txt", "fast.txt")), ["same"]);
}

#[test]
fn the_direction_decides_what_is_better() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (unit, less, more) in [("ops/ms", "slower", "faster"), ("cost", "less", "more")] {
        write(here, "a.txt", &format!("BenchmarkA-8 1 100000 {unit}\n"));
        write(here, "b.txt", &format!("BenchmarkA-8 1 80000 {unit}\n"));
        for (base, head, word) in [("a.txt", "b.txt", less), ("b.txt", "a.txt", more)] {
            let text = done(here, &["compare", base, head], b"");
            assert!(text.contains(&format!(": {word}, ")), "{unit}: {text}");
        }
    }
    write(here, "a.txt", "BenchmarkA-8 1 100000 ops/s\n");
    write(here, "b.txt", "BenchmarkA-8 1 80000 ops/s\n");
    let (code, said) = gate(here, "a.txt", "b.txt");
    assert!(code == Some(1) && !said.contains("Better"), "{said}");
    let (code, said) = gate(here, "b.txt", "a.txt");
    assert!(
        code == Some(0) && said.contains("Better: BenchmarkA"),
        "{said}"
    );
}

#[test]
fn environments_of_asv_make_series_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::create_dir_all(here.join("results/vm")).unwrap();
    for (at, commit) in ["aaaaaaaa", "bbbbbbbb"].iter().enumerate() {
        for (python, value) in [("3.8", 1.0), ("3.11", 0.5)] {
            let text = format!(
                r#"{{"commit_hash":"{commit}","env_name":"e","date":160000000000{at},"params":{{"machine":"vm","cpu":"C"}},
                "python":"{python}","requirements":{{}},"result_columns":["result","params"],
                "results":{{"b.time_x":[[{value}],[]]}},"version":2}}"#
            );
            write(here, &format!("results/vm/{commit}-{python}.json"), &text);
        }
    }
    done(here, &["import", "results", "--store", "s.sqlite"], b"");
    let history = done(
        here,
        &["history", "--store", "s.sqlite", "--json", "-"],
        b"",
    );
    let history = json(&history);
    let all = history["series"].as_array().unwrap();
    assert_eq!(all.len(), 2, "{history:#}");
    for one in all {
        let values: Vec<f64> = one["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["value"].as_f64().unwrap())
            .collect();
        assert!(values == [1.0, 1.0] || values == [0.5, 0.5], "{values:?}");
    }
}
