//! Figures of a machine for tests: one for each verdict, and curves.

use fathom_model::ProbeResult;
use serde_json::{Value, json};

/// Returns a measured figure, in which the keys of `differs` replace the defaults.
pub(crate) fn result(id: &str, title: &str, unit: &str, value: f64, differs: Value) -> ProbeResult {
    let mut json = json!({
        "id": id, "title": title, "value": value, "unit": unit, "estimator": "minimum", "n": 9,
        "p10": null, "median": null, "min": null, "spread": 0.013, "share": 0.998, "steal_ns": 0,
        "involuntary_switches": 0, "verdict": "ok", "method": "Chunks of 100 us; the smallest of two passes.",
        "note": null, "reported": null, "core_to_core_ns": null, "points_over": null,
        "points_unit": null, "points": null
    });
    if let (Value::Object(all), Value::Object(differs)) = (&mut json, differs) {
        all.extend(differs);
    }
    serde_json::from_value(json).expect("a result is complete")
}

/// The time of a load by working set: steps at 32 KiB, 1 MiB and 32 MiB.
fn latencies() -> Vec<(f64, f64)> {
    (12..=28)
        .map(|power| {
            let ns = match power {
                ..=15 => 1.2,
                16..=20 => 4.1,
                21..=25 => 17.5,
                _ => 96.0,
            };
            (f64::from(1 << power), ns)
        })
        .collect()
}

/// The content of a machine profile: figures, curves, disturbed and missing values.
pub(crate) fn results() -> Vec<ProbeResult> {
    let rates: Vec<(f64, f64)> = [9.8, 17.9, 24.1, 25.0]
        .iter()
        .enumerate()
        .map(|(threads, rate)| (threads as f64 + 1.0, *rate))
        .collect();
    vec![
        result("core_clock", "core clock", "GHz", 3.6944, json!({})),
        result(
            "l1_latency",
            "load, first level",
            "ns",
            1.2,
            json!({ "cycles": 4.43 }),
        ),
        result(
            "cache_curve",
            "load latency by working set",
            "ns",
            96.0,
            json!({ "points": latencies(), "points_over": "bytes", "estimator": "derived" }),
        ),
        result(
            "l1_size",
            "first-level cache, size",
            "B",
            32768.0,
            json!({ "reported": 49152.0 }),
        ),
        result(
            "l2_size_effective",
            "second level, effective",
            "B",
            1_048_576.0,
            json!({}),
        ),
        result(
            "bandwidth_read",
            "read bandwidth",
            "GB/s",
            25.0,
            json!({ "points": rates, "points_over": "threads", "estimator": "mean" }),
        ),
        result(
            "memory_latency",
            "load, memory",
            "ns",
            96.0,
            json!({
                "value": null, "min": 80.0, "median": 130.0, "verdict": "disturbed",
                "note": "two passes differ too much", "spread": 0.38
            }),
        ),
        result(
            "energy",
            "energy of the package",
            "W",
            0.0,
            json!({ "value": null, "verdict": "not_measurable", "spread": null, "note": "no meter" }),
        ),
    ]
}
