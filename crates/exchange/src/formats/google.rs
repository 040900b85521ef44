//! Google Benchmark's JSON. Rows of repetitions are samples; aggregates are taken where there are no others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{count, document, holds, list, name, number, opens, text, word};
use fathom_model::imported::Summary;

/// Keys of a row that aren't counters of the user.
const OWN: &[&str] = &[
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "cpu_coefficient",
    "real_coefficient",
    "rms",
];

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"context\"", "\"num_cpus\"", "\"benchmarks\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    let context = &document["context"];
    match &context["json_schema_version"] {
        Value::Null => {}
        version if version.as_u64() == Some(1) => {}
        other => {
            return Err(Error::Version {
                tool: "Google Benchmark",
                found: text(other),
                known: "1",
            });
        }
    }
    out.version(word(context, "library_version"));
    for (key, value) in context.as_object().into_iter().flatten() {
        out.environment(key, &text(value));
    }
    let rows = list(&document, "benchmarks");
    let repeated: BTreeSet<&str> = rows
        .iter()
        .filter(|row| !aggregate(row))
        .map(run_name)
        .collect();
    let mut aggregates: BTreeMap<(String, String, String), (Measure, Summary)> = BTreeMap::new();
    for row in rows {
        let called = name(row, "name")?;
        if row["error_occurred"] == Value::Bool(true) || row["skipped"] == Value::Bool(true) {
            let message = word(row, "error_message").or_else(|| word(row, "skip_message"));
            out.left_out(
                called,
                format!("failed: {}", message.unwrap_or("without a message")),
            );
        } else if !aggregate(row) {
            for (measure, value) in measures(row) {
                let iterations = count(row, "iterations");
                if let Some(at) = out.samples(measure, [], &[]) {
                    out.sample_at(at, value, iterations);
                }
            }
        } else if matches!(word(row, "aggregate_name"), Some("BigO" | "RMS")) {
            out.left_out(called, "a fit of the complexity, no measurement");
        } else if repeated.contains(run_name(row)) {
            out.left_out("aggregates", "computed from the samples, which are kept");
        } else {
            collect(row, &mut aggregates, out);
        }
    }
    for (_, (measure, summary)) in aggregates {
        out.summary(measure, summary);
    }
    Ok(())
}

fn aggregate(row: &Value) -> bool {
    word(row, "run_type") == Some("aggregate")
}

fn run_name(row: &Value) -> &str {
    word(row, "run_name")
        .or_else(|| word(row, "name"))
        .unwrap_or_default()
}

fn collect(
    row: &Value,
    into: &mut BTreeMap<(String, String, String), (Measure, Summary)>,
    out: &mut Collector,
) {
    let kind = word(row, "aggregate_name").unwrap_or_default();
    if !matches!(kind, "mean" | "median" | "stddev") {
        out.left_out(
            run_name(row),
            format!("aggregate '{kind}' is in another unit, or the user's own"),
        );
        return;
    }
    for (metric, unit, value) in figures(row) {
        let key = (run_name(row).to_owned(), metric.clone(), unit.clone());
        let repetitions = count(row, "repetitions");
        let entry = into.entry(key).or_insert_with(|| {
            (
                measure(row, &metric, &unit),
                Summary {
                    count: repetitions,
                    ..Summary::default()
                },
            )
        });
        let place = match kind {
            "mean" => &mut entry.1.mean,
            "median" => &mut entry.1.median,
            _ => &mut entry.1.standard_deviation,
        };
        *place = Some(value);
    }
}

fn figures(row: &Value) -> Vec<(String, String, f64)> {
    let unit = word(row, "time_unit").unwrap_or("ns");
    let times = [("wall", "real_time"), ("cpu", "cpu_time")]
        .into_iter()
        .filter_map(|(metric, key)| {
            let value = if row[key].is_null() {
                f64::NAN
            } else {
                number(row, key)?
            };
            Some((metric.to_owned(), unit.to_owned(), value))
        });
    let counters = row
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !OWN.contains(&key.as_str()));
    let counters = counters.filter_map(|(key, value)| {
        let value = if value.is_null() {
            f64::NAN
        } else {
            value.as_f64()?
        };
        Some((key.clone(), counter_unit(key).to_owned(), value))
    });
    times.chain(counters).collect()
}

pub(super) fn counter_unit(counter: &str) -> &'static str {
    match counter {
        "bytes_per_second" => "B/s",
        "items_per_second" => "1/s",
        _ => "",
    }
}

fn measure(row: &Value, metric: &str, unit: &str) -> Measure {
    let label = word(row, "label").map(|label| ("label".to_owned(), label.to_owned()));
    let measure = Measure::new(run_name(row), metric, unit).with(&label.into_iter().collect());
    measure.threads(count(row, "threads"))
}

fn measures(row: &Value) -> impl Iterator<Item = (Measure, f64)> {
    figures(row)
        .into_iter()
        .map(|(metric, unit, value)| (measure(row, &metric, &unit), value))
}
