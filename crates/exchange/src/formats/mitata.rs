//! mitata's JSON: nanoseconds; samples only if requested.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{
    count, document, holds, list, number, numbers, opens, parameters, quantiles, text, word,
};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"layout\"", "\"benchmarks\"", "\"runs\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    for (key, value) in document["context"].as_object().into_iter().flatten() {
        if key == "noop" {
            out.left_out("noop", "times of an empty function");
        } else {
            out.environment_of(key, value);
        }
    }
    out.left_out("layout, style", "display settings");
    for benchmark in list(&document, "benchmarks") {
        for run in list(benchmark, "runs") {
            let name = word(run, "name")
                .or_else(|| word(benchmark, "alias"))
                .unwrap_or("benchmark");
            if !run["error"].is_null() {
                let message = word(&run["error"], "message")
                    .map_or_else(|| text(&run["error"]), ToOwned::to_owned);
                out.left_out(name, format!("failed: {message}"));
                continue;
            }
            one(name, run, out);
        }
    }
    Ok(())
}

fn one(name: &str, run: &Value, out: &mut Collector) {
    let parameters = parameters(&run["args"]);
    let stats = &run["stats"];
    let measure = |metric: &str, unit| Measure::new(name, metric, unit).with(&parameters);
    let samples = list(stats, "samples");
    if samples.is_empty() {
        let other = number(stats, "ticks").map(|ticks| ("ticks".to_owned(), ticks));
        let summary = Summary {
            mean: number(stats, "avg"),
            median: number(stats, "p50"),
            min: number(stats, "min"),
            max: number(stats, "max"),
            quantiles: quantiles(stats),
            other: other.into_iter().collect(),
            ..Summary::default()
        };
        out.summary(measure("wall", "ns"), summary);
    } else {
        out.separate(measure("wall", "ns"), numbers(samples), &[]);
        out.left_out("stats", "computed from the samples, which are kept");
    }
    for (metric, unit) in [("heap", "B"), ("gc", "ns")] {
        let value = &stats[metric];
        if value.is_object() {
            let other = number(value, "total").map(|total| ("total".to_owned(), total));
            let summary = Summary {
                count: count(value, "_"),
                mean: number(value, "avg"),
                min: number(value, "min"),
                max: number(value, "max"),
                other: other.into_iter().collect(),
                ..Summary::default()
            };
            out.summary(measure(metric, unit).lower(), summary);
        }
    }
    out.left_out_times(
        "counters",
        "hardware counters are not read",
        u64::from(!stats["counters"].is_null()),
    );
}
