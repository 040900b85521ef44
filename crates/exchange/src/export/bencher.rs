//! Bencher's metric format: `{benchmark: {measure: {value, lower_value, upper_value}}}`.

use std::collections::BTreeMap;

use fathom_model::imported::base_unit;
use fathom_stats::{IntervalFrom, imported_middle};
use serde::Serialize;

use super::{Export, Written, full_name};

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Writes medians with their intervals. Wall time becomes Bencher's measure `latency`, in nanoseconds, and
/// rates of operations become its `throughput`. Other times are in seconds, and sizes in bytes.
pub(super) fn bencher(exports: &[Export]) -> Written {
    let mut written = Written::default();
    let mut all: BTreeMap<String, BTreeMap<String, Metric>> = BTreeMap::new();
    for figure in exports.iter().flat_map(|export| &export.figures) {
        let one = &figure.benchmark;
        let Some(middle) = imported_middle(&one.values) else {
            written.left_out(&one.metric, "neither a median nor a mean");
            continue;
        };
        let (factor, base) = base_unit(&one.unit);
        let (measure, factor) = match base {
            "seconds" if one.metric == "wall" => ("latency".to_owned(), factor * 1e9),
            "ops/s" => ("throughput".to_owned(), factor),
            _ => (slug(&one.metric), factor),
        };
        let ends = (middle.from != IntervalFrom::Nothing).then_some((middle.low, middle.high));
        let metric = Metric {
            value: middle.value * factor,
            lower_value: ends.map(|(low, _)| low * factor),
            upper_value: ends.map(|(_, high)| high * factor),
        };
        let measures = all.entry(full_name(one)).or_default();
        if measures.insert(measure, metric).is_some() {
            written.left_out(
                &one.metric,
                "several values have this name; the last one is exported",
            );
        }
    }
    if !all.is_empty() {
        written.text = serde_json::to_string_pretty(&all).unwrap_or_default();
        written.text.push('\n');
    }
    written
}

/// Converts a name to the form of Bencher's measures, whose words are joined with `-`.
fn slug(metric: &str) -> String {
    let words = metric.replace('_', "-");
    match words.is_empty() {
        true => "value".to_owned(),
        false => words,
    }
}
