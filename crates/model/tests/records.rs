//! Reads records from damaged JSON: they are accepted or refused, and accepted ones can be written again.

mod mutated;

use std::fmt::Debug;

use fathom_model::{CheckReport, Environment, Finding, ProbeResult, TimeAccount};
use mutated::mutated;
use serde::{Serialize, de::DeserializeOwned};

/// Reads damaged variants of `valid`; some are still records, most are not.
fn reads<T: Serialize + DeserializeOwned + Debug>(valid: &str, seed: u64) {
    let whole: T = serde_json::from_str(valid).expect("it is valid");
    let written = serde_json::to_string(&whole).expect("it can be written");
    let mut read = 0;
    for text in mutated(&written, seed, 2000) {
        if let Ok(record) = serde_json::from_str::<T>(&text) {
            read += 1;
            // Numbers that JSON can't represent would be written as null, which could not be read again.
            let again = serde_json::to_string(&record).expect("what was read can be written");
            serde_json::from_str::<T>(&again).expect("what was written can be read");
        }
    }
    assert!((1..2000).contains(&read), "{read} were read");
}

#[test]
fn a_figure_of_a_machine() {
    let valid = r#"{"id": "core_clock", "title": "core clock", "value": 3.69, "unit": "GHz",
        "estimator": "minimum", "n": 9, "p10": null, "median": 3.7, "min": null, "spread": 0.01,
        "share": null, "steal_ns": 10000000, "involuntary_switches": 0, "verdict": "ok",
        "method": "m", "note": "a", "reported": null, "core_to_core_ns": [1.5, 2.5],
        "points_over": "bytes", "points_unit": null, "points": [[4096.0, 1.25]]}"#;
    reads::<ProbeResult>(valid, 1);
}

#[test]
fn a_check_of_a_machine() {
    let valid = r#"{"items": [{"id": "swap", "state": "ok", "found": "none", "effect": null, "remedy": null}],
        "noise": {"gaps": {"seconds": 1.0, "count": 3, "lost": 0.002, "lost_by_half": [0.001, 0.003],
        "longest_ns": 9000.5, "by_decade": [2, 1, 0, 0, 0], "scheduler": 1, "steal_ns": 0,
        "interrupts": 250}, "smallest_difference": 0.02, "self_comparison": {"rounds": 50, "clock": "wall",
        "program_seconds": 0.005}}, "fitness": "quiet"}"#;
    reads::<CheckReport>(valid, 2);
}

#[test]
fn an_environment_with_its_fingerprint() {
    let valid = r#"{"kernel": "Linux 6.18", "architecture": "x86_64", "cpu_model": "A", "cpus": 2,
        "memory_bytes": 17179869184, "host": "a", "governor": null, "virtual_machine": true,
        "load_average": 0.5, "fingerprint": {"measured_seconds_ago": 3600, "profile": [{"id":
        "core_clock", "value": 3.2, "unit": "GHz"}], "canaries": [], "changed": ["core_clock"]}}"#;
    reads::<Environment>(valid, 3);
}

#[test]
fn an_account_and_a_finding() {
    let account = r#"{"wall_ns": 1000, "parts": [{"category": "user_code", "ns": 900},
        {"category": "waiting_for_disk", "ns": 100}]}"#;
    reads::<TimeAccount>(account, 4);
    let finding = r#"{"id": "unbuffered-output", "statement": "s", "evidence": [{"name": "calls",
        "value": 9.0, "unit": "calls"}], "share": 0.5, "saving_ns": 5, "advice": "a",
        "confidence": "certain", "limit": null, "place": {"pid": 7, "tid": 7, "fd": 1,
        "path": "/tmp/a"}}"#;
    reads::<Finding>(finding, 5);
}
