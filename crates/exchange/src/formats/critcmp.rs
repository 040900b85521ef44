//! Output of `critcmp --export`: criterion's estimates of one baseline.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{document, entries, holds, name, number, opens, text, word};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"criterion_benchmark_v1\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    // Two exports may hold two baselines of the same benchmarks.
    out.environment_of("baseline", &document["name"]);
    for (_, entry) in entries(&document, "benchmarks") {
        let measure = measure(&entry["criterion_benchmark_v1"], out)?;
        let estimates = &entry["criterion_estimates_v1"];
        let point = |key: &str| number(&estimates[key], "point_estimate");
        let interval = &estimates["mean"]["confidence_interval"];
        let others = ["slope", "median_abs_dev"].map(|key| (key, point(key)));
        let summary = Summary {
            mean: point("mean"),
            median: point("median"),
            standard_deviation: point("std_dev"),
            low: number(interval, "lower_bound"),
            high: number(interval, "upper_bound"),
            level: number(interval, "confidence_level"),
            other: others
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?)))
                .collect(),
            ..Summary::default()
        };
        out.summary(measure, summary);
        out.left_out(
            "intervals of median, deviation and slope",
            "the interval of the mean is kept",
        );
    }
    Ok(())
}

/// Returns the series of criterion's `benchmark.json`.
pub(crate) fn measure(what: &Value, out: &mut Collector) -> Result<Measure, Error> {
    let called = match word(what, "function_id") {
        Some(function) => format!("{}/{function}", name(what, "group_id")?),
        None => name(what, "group_id")?.to_owned(),
    };
    let throughput = &what["throughput"];
    if !throughput.is_null() {
        let constant = text(throughput);
        let reason = format!("throughput {constant}: a constant, not a measurement");
        out.left_out(called.as_str(), reason);
    }
    let value = word(what, "value_str").unwrap_or_default();
    Ok(Measure::new(called, "wall", "ns").parameter("value", value))
}
