//! Tests what is extracted from other verbs' records, and that nothing is invented for missing values.

use fathom_experiment::results::Samples;
use fathom_experiment::run::records;
use fathom_machine::ProbeResult;
use fathom_model::{Exit, Explanation, PipeRecord, StageRun, StartupRecord, StartupRun};
use serde_json::{Value, json};

fn values(samples: &[Samples], metric: &str, subject: Option<&str>) -> Option<Vec<f64>> {
    samples
        .iter()
        .find(|s| s.metric == metric && s.subject.as_deref() == subject)
        .map(Samples::plain)
}

fn explanation(tier: &str) -> Explanation {
    let estimate = json!({"value": 0.1, "low": 0.1, "high": 0.1, "level": 0.9375});
    typed(json!({
        "schema_version": 1, "kind": "why", "fathom_version": "0", "started_at": "",
        "environment": environment(),
        "command": "a", "arguments": ["a"], "end": "",
        "timed": {"runs": 5, "wall": estimate, "cpu": estimate, "peak_memory": estimate, "floor": null},
        "observation": {"tier": tier, "wall_ns": 1000, "slowdown": 1.5, "times_are_measured": false,
            "not_visible": [], "lost": []},
        "account": {"wall_ns": 1000, "parts": [{"category": "user_code", "ns": 750}, {"category": "waiting_for_disk", "ns": 250}]},
        "threads": [], "io": [],
        "calls": [{"name": "read", "calls": 3007, "errors": 1, "total_ns": 1, "blocked_ns": null, "bytes": 3007}],
        "processes": [], "phases": [],
        "findings": [{"id": "unbuffered-input", "statement": "", "evidence": [], "share": 0.5,
            "saving_ns": 1, "advice": "", "confidence": "certain", "limit": null,
            "place": {"pid": null, "tid": null, "fd": null, "path": null}}],
        "timeline": [], "warnings": []
    }))
}

fn typed<T: serde::de::DeserializeOwned>(record: Value) -> T {
    serde_json::from_value(record).expect("a record")
}

fn environment() -> Value {
    json!({"kernel": "", "architecture": "", "cpu_model": null, "cpus": 1, "memory_bytes": null,
        "host": null, "governor": null, "virtual_machine": null, "load_average": null})
}

/// Returns a warm run of a program that took 2 ms and wrote nothing.
fn start(program: usize, round: u32) -> StartupRun {
    typed(
        json!({"program": program, "round": round, "position": round, "cache": "warm",
            "first_output_ns": null, "first_output_by": null, "first_output_uncertainty_ns": null,
            "exit_ns": 2_000_000, "exit_corrected": true, "output_bytes": 0, "cpu_ns": 0,
            "minor_faults": 0, "major_faults": 3, "read_bytes": null, "not_cold": false, "left_behind": 0,
            "exit": {"code": 0}}),
    )
}

/// Returns a record of a pipeline with two stages, in which these fields are changed.
fn pipe_record(changed: Value) -> PipeRecord {
    let estimate = json!({"value": 2.0, "low": 2.0, "high": 2.0, "level": 0.95});
    let mut record = json!({"schema_version": 1, "kind": "pipe", "fathom_version": "0", "started_at": "",
        "environment": environment(),
        "conditions": {"seed": 1, "warmup_rounds": 1, "pinned_cpus": null, "timeout_seconds": null,
            "shell": null, "input": "null", "output": "null", "pipe_capacity_bytes": 65536},
        "stages": [], "rounds": [], "observed_rounds": [], "observation": null, "staged": [], "alone": [],
        "summary": {"wall": estimate, "stages": []}, "bottleneck": null, "model": null, "delayed": null,
        "notes": [], "complete": true, "stop": "run_count"});
    for (key, value) in changed.as_object().expect("fields") {
        record[key] = value.clone();
    }
    typed(record)
}

#[test]
fn counts_shares_and_findings_are_read_of_why() {
    let asked = ["calls_read", "errors_read", "calls_openat"].map(str::to_string);
    let (samples, findings) =
        records::why(&explanation("kernel"), "cause", "a", &Vec::new(), &asked);
    let of = |metric: &str| values(&samples, metric, Some("a"));
    assert_eq!(of("calls_read"), Some(vec![3007.0]));
    assert_eq!(of("errors_read"), Some(vec![1.0]));
    assert_eq!(of("calls_openat"), Some(vec![0.0]));
    assert_eq!(of("share_user_code"), Some(vec![0.75]));
    assert_eq!(of("share_waiting_for_locks"), Some(vec![0.0]));
    for one in &samples {
        assert_eq!(
            one.is_share,
            one.metric.starts_with("share_"),
            "{}",
            one.metric
        );
    }
    // Observing made the pipeline take half as long again, so shares are valid but times aren't.
    assert_eq!(of("account_user_code"), None);
    assert_eq!(findings.ids, ["unbuffered-input"]);
    assert_eq!(findings.limited, None);
}

#[test]
fn a_tier_that_counts_no_calls_yields_no_zeros() {
    let asked = ["calls_read", "calls_openat"].map(str::to_string);
    let (samples, findings) =
        records::why(&explanation("sample"), "cause", "a", &Vec::new(), &asked);
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
fn warm_cold_and_void_starts_are_kept_apart() {
    use fathom_model::Cache::{Cold, Warm};
    let run = |program, round, cache, first_output_ns, void| StartupRun {
        cache,
        first_output_ns,
        void,
        ..start(program, round)
    };
    let runs = [
        run(0, 0, Warm, Some(1_000_000), false),
        run(0, 0, Cold, Some(9_000_000), false),
        run(0, 1, Cold, Some(1_000_000), true),
        run(1, 0, Warm, None, false),
        StartupRun {
            exit_ns: 9_000_000,
            exit: Exit::TimedOut,
            ..start(1, 1)
        },
    ];
    let subjects = [("a".to_string(), Vec::new()), ("b".to_string(), Vec::new())];
    let (samples, _) = records::startup(&runs, "start", &subjects);
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
    let known = StartupRun {
        run_queue_wait_ns: Some(500_000),
        ..start(0, 0)
    };
    let (_, waits) = records::startup(&[known, start(0, 1)], "start", &[]);
    assert_eq!((waits.runs, waits.waited_ns), (1, 500_000));
    assert!(waits.busy());
}

#[test]
fn waits_of_a_pipeline_are_quoted_only_where_observing_did_not_slow_it() {
    let stage = |wait: Option<u64>| StageRun {
        cpu_ns: 100,
        wait_input_ns: wait,
        wait_output_ns: wait,
        ..StageRun::unobserved(0, 1_000, Exit::Code(0))
    };
    let round = |wall_ns: u64, waits: [Option<u64>; 2]| json!({"wall_ns": wall_ns, "stages": waits.map(stage), "left_behind": 0});
    let record = |quoted: bool| {
        pipe_record(json!({
            "rounds": [round(2_000_000_000, [None, None])],
            "observed_rounds": [round(3, [Some(0), Some(900)])],
            "observation": {"tier": "kernel", "slowdown": 1.0, "times_are_measured": quoted, "not_visible": [],
                "lost": []},
            "alone": [{"stage": 1, "wall_ns": [500_000_000u64], "cpu_ns": [1], "read_bytes": null,
                "not_run": null}]}))
    };
    let names = ["one", "two"].map(str::to_string);
    let read = |quoted| records::pipe(&record(quoted), "line", &names, &Vec::new());
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
    let probe = |id: &str, value: Option<f64>, unit: &str, note: Option<&str>| -> ProbeResult {
        typed(
            json!({"id": id, "title": id, "value": value, "unit": unit, "estimator": "minimum", "n": 9,
            "p10": null, "median": null, "min": null, "spread": null, "share": null, "steal_ns": 0,
            "involuntary_switches": 0, "verdict": "ok", "method": "", "note": note, "reported": null,
            "core_to_core_ns": null, "points_over": null, "points_unit": null, "points": null}),
        )
    };
    let probes = [
        probe("core_clock", Some(3.7), "GHz", None),
        probe("energy", None, "J", Some("no powercap")),
    ];
    let (samples, without) = records::machine(&probes, "m").expect("probes");
    assert_eq!(values(&samples, "core_clock", None), Some(vec![3.7e9]));
    assert_eq!(without, [("energy".to_string(), "no powercap".to_string())]);
    assert!(records::machine(&[], "m").is_err());
}

#[test]
fn what_a_record_says_of_the_load_is_kept_and_nothing_else() {
    let startup: StartupRecord = typed(
        json!({"schema_version": 1, "kind": "startup", "fathom_version": "0",
        "started_at": "", "environment": environment(),
        "conditions": {"seed": 1, "warmup_rounds": 3, "rounds": 5, "pinned_cpus": null,
            "timeout_seconds": null, "margin": 0.01, "cold_by": null, "watching_cpus": []},
        "programs": [], "runs": [], "summaries": [], "comparisons": [], "floor": null, "traces": [],
        "cold": [], "budget": null, "complete": true, "stop": "run_count", "warnings": [
            {"id": "late_stamps", "benchmark": 0, "message": "first bytes were stamped late"},
            {"id": "failures", "benchmark": 0, "message": "1 of 5 runs failed"},
        ]}),
    );
    assert_eq!(
        records::of_load(&startup),
        ["first bytes were stamped late"]
    );
    let notes = json!([{"id": "waiting_for_cpu", "stage": 1, "message": "xxd had no CPU"},
        {"id": "sigpipe", "stage": 0, "message": "seq was ended by SIGPIPE"}]);
    let pipe = pipe_record(json!({"notes": notes}));
    assert_eq!(records::of_pipe_load(&pipe), ["xxd had no CPU"]);
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
