//! What is read of the other verbs' records, and what is not made of what they lack.

use fathom_experiment::results::Samples;
use fathom_experiment::run::records;
use serde_json::json;

fn values(samples: &[Samples], metric: &str, subject: Option<&str>) -> Option<Vec<f64>> {
    samples
        .iter()
        .find(|s| s.metric == metric && s.subject.as_deref() == subject)
        .map(Samples::plain)
}

fn explanation(tier: &str) -> String {
    let estimate = json!({"value": 0.1, "low": 0.1, "high": 0.1, "level": 0.9375});
    json!({
        "schema_version": 1, "kind": "why", "fathom_version": "0", "started_at": "",
        "environment": {"kernel": "", "architecture": "", "cpu_model": null, "cpus": 1, "memory_bytes": null,
            "host": null, "governor": null, "virtual_machine": null, "load_average": null},
        "command": "a", "arguments": ["a"], "end": "",
        "timed": {"runs": 5, "wall": estimate, "cpu": estimate, "peak_memory": estimate, "floor": null},
        "explaining": {"tier": tier, "wall_ns": 1000, "slowdown": 1.5, "times_are_quoted": false,
            "not_visible": [], "lost": []},
        "account": {"wall_ns": 1000, "parts": [{"spent": "user_code", "ns": 750}, {"spent": "disk", "ns": 250}]},
        "threads": [], "io": [],
        "calls": [{"name": "read", "calls": 3007, "errors": 1, "total_ns": 1, "blocked_ns": null, "bytes": 3007}],
        "processes": [], "phases": [],
        "findings": [{"id": "unbuffered-input", "statement": "", "evidence": [], "share": 0.5,
            "could_win_ns": 1, "advice": "", "confidence": "certain", "limit": null,
            "place": {"pid": null, "tid": null, "fd": null, "path": null}}],
        "timeline": [], "warnings": []
    })
    .to_string()
}

#[test]
fn counts_shares_and_findings_are_read_of_why() {
    let asked = ["calls_read", "errors_read", "calls_openat"].map(str::to_string);
    let read = records::why(&explanation("kernel"), "cause", "a", &Vec::new(), &asked);
    let (samples, findings) = read.expect("a record");
    let of = |metric: &str| values(&samples, metric, Some("a"));
    assert_eq!(of("calls_read"), Some(vec![3007.0]));
    assert_eq!(of("errors_read"), Some(vec![1.0]));
    assert_eq!(of("calls_openat"), Some(vec![0.0]));
    assert_eq!(of("share_user_code"), Some(vec![0.75]));
    assert_eq!(of("share_locks"), Some(vec![0.0]));
    for one in &samples {
        assert_eq!(
            one.is_share,
            one.metric.starts_with("share_"),
            "{}",
            one.metric
        );
    }
    // Observing took half as long again: shares hold, times don't.
    assert_eq!(of("account_user_code"), None);
    assert_eq!(findings.ids, ["unbuffered-input"]);
    assert_eq!(findings.limited, None);
}

#[test]
fn a_tier_that_counts_no_calls_yields_no_zeros() {
    let asked = ["calls_read", "calls_openat"].map(str::to_string);
    let read = records::why(&explanation("sample"), "cause", "a", &Vec::new(), &asked);
    let (samples, findings) = read.expect("a record");
    for metric in ["calls", "calls_read", "calls_openat"] {
        assert_eq!(values(&samples, metric, Some("a")), None, "{metric}");
    }
    assert!(
        findings
            .limited
            .is_some_and(|why| why.contains("tier sample"))
    );
}

#[test]
fn warm_cold_and_void_starts_are_told_apart() {
    let run = |program: u32, round: u32, cache: &str, first: Option<u64>, void: bool| {
        json!({"program": program, "round": round, "cache": cache, "first_output_ns": first,
            "exit_ns": 2_000_000, "major_faults": 3, "read_bytes": null, "void": void})
    };
    let record = json!({"kind": "startup", "runs": [
        run(0, 0, "warm", Some(1_000_000), false),
        run(0, 0, "cold", Some(9_000_000), false),
        run(0, 1, "cold", Some(1_000_000), true),
        run(1, 0, "warm", None, false),
        {"program": 1, "round": 1, "cache": "warm", "exit_ns": 9_000_000, "exit": "timed_out"},
    ]});
    let subjects = [("a".to_string(), Vec::new()), ("b".to_string(), Vec::new())];
    let (samples, _) = records::startup(&record.to_string(), "start", &subjects).expect("a record");
    assert_eq!(
        values(&samples, "first_output", Some("a")),
        Some(vec![0.001])
    );
    assert_eq!(
        values(&samples, "cold_first_output", Some("a")),
        Some(vec![0.009])
    );
    assert_eq!(values(&samples, "first_output", Some("b")), None);
    assert_eq!(values(&samples, "exit", Some("b")), Some(vec![0.002]));
    assert_eq!(values(&samples, "cold_exit", Some("b")), None);
    assert_eq!(values(&samples, "read_bytes", Some("a")), None);
}

#[test]
fn starts_say_what_they_waited_for_a_cpu_where_it_is_known() {
    let record = json!({"kind": "startup", "runs": [
        {"program": 0, "exit_ns": 2_000_000, "run_queue_wait_ns": 500_000},
        {"program": 0, "exit_ns": 2_000_000},
    ]});
    let (_, waits) = records::startup(&record.to_string(), "start", &[]).expect("a record");
    assert_eq!((waits.runs, waits.waited_ns), (1, 500_000));
    assert!(waits.busy());
    assert!(records::startup("no record", "start", &[]).is_err());
}

#[test]
fn waits_of_a_pipeline_are_quoted_only_where_observing_did_not_slow_it() {
    let stage = |wait: Option<u64>| json!({"start_ns": 0, "end_ns": 1_000, "cpu_ns": 100, "wait_input_ns": wait, "wait_output_ns": wait});
    let record = |quoted: bool| {
        json!({"kind": "pipe",
            "rounds": [{"wall_ns": 2_000_000_000u64, "stages": [stage(None), stage(None)]}],
            "explained": [{"wall_ns": 3, "stages": [stage(Some(0)), stage(Some(900))]}],
            "explaining": {"times_are_quoted": quoted},
            "alone": [{"stage": 1, "wall_ns": [500_000_000u64, null]}]})
        .to_string()
    };
    let names = ["one", "two"].map(str::to_string);
    let read =
        |quoted| records::pipe(&record(quoted), "line", &names, &Vec::new()).expect("a record");
    let samples = read(true);
    assert_eq!(values(&samples, "wall", Some("line")), Some(vec![2.0]));
    assert_eq!(values(&samples, "wall", None), Some(vec![2.0]));
    let waits = values(&samples, "wait_input", Some("two")).expect("waits");
    assert!((waits[0] - 900e-9).abs() < 1e-15);
    assert_eq!(
        values(&samples, "share_wait_input", Some("two")),
        Some(vec![0.9])
    );
    assert_eq!(values(&samples, "alone", Some("two")), Some(vec![0.5]));
    let samples = read(false);
    assert_eq!(values(&samples, "wait_input", Some("two")), None);
    assert_eq!(
        values(&samples, "share_wait_input", Some("two")),
        Some(vec![0.9])
    );
}

#[test]
fn a_probe_without_an_answer_has_no_value() {
    let probes = json!([
        {"id": "core_clock", "unit": "GHz", "value": 3.7, "note": null},
        {"id": "energy", "unit": "J", "value": null, "note": "no powercap"},
    ]);
    for record in [probes.clone(), json!({"kind": "machine", "probes": probes})] {
        let (samples, without) = records::machine(&record.to_string(), "m").expect("a record");
        assert_eq!(values(&samples, "core_clock", None), Some(vec![3.7e9]));
        assert_eq!(without, [("energy".to_string(), "no powercap".to_string())]);
    }
    assert!(records::machine("[]", "m").is_err());
    assert!(records::pipe("not json", "m", &[], &Vec::new()).is_err());
}

#[test]
fn what_a_record_says_of_the_load_is_kept_and_nothing_else() {
    let startup = json!({"kind": "startup", "warnings": [
        {"id": "late_stamps", "benchmark": 0, "message": "first bytes were seen late"},
        {"id": "failures", "benchmark": 0, "message": "1 of 5 runs failed"},
    ]});
    let said = records::said_of_load(&startup.to_string());
    assert_eq!(said, ["first bytes were seen late"]);
    let pipe = json!({"kind": "pipe", "notes": [{"id": "no_cpu", "stage": 1, "message": "xxd had no CPU"}]});
    assert_eq!(records::said_of_load(&pipe.to_string()), ["xxd had no CPU"]);
    assert!(records::said_of_load("no record").is_empty());
}

#[test]
fn a_work_folder_of_another_user_is_refused_with_the_way_out() {
    let said = |kind: std::io::ErrorKind| {
        let error = fathom_experiment::session::RunError::Work {
            path: "/somewhere".into(),
            error: kind.into(),
        };
        error.to_string()
    };
    use std::io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    for kind in [PermissionDenied, ReadOnlyFilesystem] {
        let text = said(kind);
        assert!(text.starts_with("can't use the work folder /somewhere: "));
        assert!(text.ends_with("--work DIR"), "{text}");
    }
    assert!(!said(NotFound).contains("--work"));
}
