//! pytest-benchmark's JSON: seconds; samples only with `--benchmark-save-data`.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{
    chosen, count, document, entries, holds, list, name, number, numbers, opens, parameters, word,
};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"machine_info\"", "\"commit_info\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    let version = word(&document, "version").unwrap_or_default();
    if !matches!(version.split('.').next(), Some("3" | "4" | "5")) {
        return Err(Error::Version {
            tool: "pytest-benchmark",
            found: version.to_owned(),
            known: "3 to 5",
        });
    }
    out.version(Some(version));
    out.environment_of("machine", &document["machine_info"]);
    out.environment_of("commit", &document["commit_info"]);
    out.environment_of("datetime", &document["datetime"]);
    for benchmark in list(&document, "benchmarks") {
        let called = word(benchmark, "fullname").map_or_else(|| name(benchmark, "name"), Ok)?;
        let parameters = parameters(&benchmark["params"]);
        let measured = |metric: &str, unit| Measure::new(called, metric, unit).with(&parameters);
        let measure = measured("wall", "s");
        let stats = &benchmark["stats"];
        let data = list(stats, "data");
        let iterations = count(stats, "iterations").into_iter().collect::<Vec<_>>();
        if data.is_empty() {
            out.summary_of(measure, summary(stats), &iterations);
        } else {
            out.separate(measure, numbers(data), &iterations);
            out.left_out("stats", "computed from the samples, which are kept");
        }
        for (key, value) in entries(benchmark, "extra_info") {
            // User counters keep their own names, which must differ from that of the time.
            match value.as_f64().filter(|_| key != "wall") {
                Some(_) => out.value(measured(key, ""), value.as_f64()),
                None => out.left_out(format!("extra_info {key}"), "no number"),
            }
        }
        for (key, reason) in [("options", "settings"), ("group", "display settings")] {
            let empty = match &benchmark[key] {
                Value::Null => true,
                Value::Object(map) => map.is_empty(),
                _ => false,
            };
            out.left_out_times(key, reason, u64::from(!empty));
        }
    }
    Ok(())
}

fn summary(stats: &Value) -> Summary {
    let quantiles = [("25", "q1"), ("75", "q3")];
    let other = [
        "iqr",
        "ops",
        "total",
        "ld15iqr",
        "hd15iqr",
        "iqr_outliers",
        "stddev_outliers",
    ];
    Summary {
        count: count(stats, "rounds"),
        mean: number(stats, "mean"),
        median: number(stats, "median"),
        standard_deviation: number(stats, "stddev"),
        min: number(stats, "min"),
        max: number(stats, "max"),
        quantiles: chosen(stats, &quantiles),
        other: chosen(stats, &other.map(|key| (key, key))),
        ..Summary::default()
    }
}
