//! tinybench's tasks as JSON: milliseconds. Statistics have two groups since version 3.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{chosen, count, document, holds, list, name, number, numbers, opens, text, word};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"[") && holds(head, &["\"name\"", "\"result\"", "\"runs\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    for task in document.as_array().into_iter().flatten() {
        let called = name(task, "name")?;
        let result = &task["result"];
        if !result["error"].is_null()
            || word(result, "state").is_some_and(|state| state != "completed")
        {
            let error = word(&result["error"], "message")
                .map_or_else(|| text(&result["error"]), ToOwned::to_owned);
            let state = word(result, "state").unwrap_or("errored");
            out.left_out(called, format!("{state}: {error}"));
            continue;
        }
        if !result["latency"].is_object() {
            let found = "without 'latency'".to_owned();
            return Err(Error::Version {
                tool: "tinybench",
                found,
                known: "3 and newer",
            });
        }
        for key in ["runtime", "runtimeVersion", "timestampProviderName"] {
            if let Some(value) = word(result, key) {
                out.environment(key, value);
            }
        }
        statistics(Measure::new(called, "wall", "ms"), &result["latency"], out);
        statistics(
            Measure::new(called, "throughput", "ops/s"),
            &result["throughput"],
            out,
        );
        out.left_out("period, totalTime, runs", "derived from the statistics");
    }
    Ok(())
}

/// Reads the statistics that tinybench and vitest write.
pub(super) fn statistics(measure: Measure, value: &Value, out: &mut Collector) {
    let samples = list(value, "samples");
    if !samples.is_empty() {
        out.separate(measure, numbers(samples), &[]);
        out.left_out("statistics", "computed from the samples, which are kept");
        return;
    }
    let percents = [
        ("75", "p75"),
        ("99", "p99"),
        ("99.5", "p995"),
        ("99.9", "p999"),
    ];
    let other = [
        "rme", "moe", "sem", "aad", "mad", "variance", "critical", "df",
    ];
    let summary = Summary {
        count: count(value, "samplesCount").or_else(|| count(value, "sampleCount")),
        mean: number(value, "mean"),
        median: number(value, "p50").or_else(|| number(value, "median")),
        standard_deviation: number(value, "sd"),
        min: number(value, "min"),
        max: number(value, "max"),
        quantiles: chosen(value, &percents),
        other: chosen(value, &other.map(|key| (key, key))),
        ..Summary::default()
    };
    out.summary(measure, summary);
}
