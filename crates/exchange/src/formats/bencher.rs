//! Bencher's metric format: `{benchmark: {measure: {value, lower_value, upper_value}}}`.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::{Error, malformed};
use crate::json::{document, number, opens};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    // A document that is longer than the head can't be parsed from it, but Bencher's documents take only
    // kilobytes.
    opens(head, b"{") && serde_json::from_slice(head).is_ok_and(|document: Value| shaped(&document))
}

fn shaped(document: &Value) -> bool {
    let benchmarks = document
        .as_object()
        .filter(|benchmarks| !benchmarks.is_empty());
    let metric = |metric: &Value| {
        let keys = ["value", "lower_value", "upper_value"];
        metric["value"].is_number()
            && metric
                .as_object()
                .is_some_and(|map| map.keys().all(|key| keys.contains(&key.as_str())))
    };
    let measures = |measures: &Value| {
        measures
            .as_object()
            .is_some_and(|measures| !measures.is_empty() && measures.values().all(metric))
    };
    benchmarks.is_some_and(|benchmarks| benchmarks.values().all(measures))
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    if !shaped(&document) {
        return Err(malformed(
            "not of the form {benchmark: {measure: {value, lower_value, upper_value}}}",
        ));
    }
    for (name, measures) in document.as_object().into_iter().flatten() {
        for (metric, value) in measures.as_object().into_iter().flatten() {
            let summary = Summary {
                value: number(value, "value"),
                low: number(value, "lower_value"),
                high: number(value, "upper_value"),
                ..Summary::default()
            };
            out.summary(measure(name, metric), summary);
        }
    }
    Ok(())
}

/// Returns the measure of a metric. Bencher's own measures have these units; others have user-defined ones.
fn measure(name: &str, metric: &str) -> Measure {
    let measure = |unit| Measure::new(name, metric, unit);
    match metric {
        "latency" => measure("ns"),
        "build-time" => measure("s"),
        "file-size" => measure("B"),
        "throughput" => measure("ops/s"),
        "instructions" | "l1-accesses" | "l2-accesses" | "ram-accesses" | "total-accesses"
        | "estimated-cycles" => measure("").lower(),
        _ => measure(""),
    }
}
