//! Google Benchmark's JSON. Rows of repetitions are samples; aggregates are used if there are no others.

use std::collections::HashSet;

use serde_json::Value;

use super::aggregates::{Aggregates, Names};
use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{count, document, holds, list, name, number, opens, text, word};

/// Keys of a row that aren't user counters.
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
    let names = Names::of(rows.iter().filter_map(|row| word(row, "name")));
    let named = rows.iter().map(|row| (row, aggregate(row, &names)));
    let named = named.collect::<Vec<_>>();
    let repeated: HashSet<&str> = named
        .iter()
        .filter(|(_, aggregate)| aggregate.is_none())
        .map(|(row, _)| run_name(row))
        .collect();
    let mut aggregates = Aggregates::default();
    for (row, aggregate) in named {
        let called = name(row, "name")?;
        if row["error_occurred"] == Value::Bool(true) || row["skipped"] == Value::Bool(true) {
            let message = word(row, "error_message").or_else(|| word(row, "skip_message"));
            out.left_out(
                called,
                format!("failed: {}", message.unwrap_or("without a message")),
            );
            continue;
        }
        match aggregate {
            None => {
                for (measure, value) in measures(row, run_name(row)) {
                    let iterations = count(row, "iterations");
                    if let Some(at) = out.samples(measure, [], &[]) {
                        out.sample_at(at, value, iterations);
                    }
                }
            }
            Some((_, "BigO" | "RMS")) => {
                out.left_out(called, "a complexity fit, not a measurement");
            }
            Some((base, _)) if repeated.contains(base) => {
                out.left_out("aggregates", "computed from the samples, which are kept");
            }
            Some((base, kind)) => {
                let repetitions = count(row, "repetitions");
                aggregates.add(base, kind, repetitions, measures(row, base), out);
            }
        }
    }
    aggregates.write(out);
    Ok(())
}

/// Returns the benchmark of an aggregate row, and the kind of aggregate.
fn aggregate<'a>(row: &'a Value, names: &Names) -> Option<(&'a str, &'a str)> {
    if let Some(kind) = word(row, "run_type") {
        let aggregated = (
            run_name(row),
            word(row, "aggregate_name").unwrap_or_default(),
        );
        return (kind == "aggregate").then_some(aggregated);
    }
    let called = run_name(row);
    match called.rsplit_once('_') {
        Some(fit @ (_, "BigO" | "RMS")) if row["iterations"].is_null() => Some(fit),
        _ => names.split(called),
    }
}

fn run_name(row: &Value) -> &str {
    word(row, "run_name")
        .or_else(|| word(row, "name"))
        .unwrap_or_default()
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

fn measures<'a>(row: &'a Value, called: &'a str) -> impl Iterator<Item = (Measure, f64)> + 'a {
    figures(row).into_iter().map(move |(metric, unit, value)| {
        let label = word(row, "label").unwrap_or_default();
        let measure = Measure::new(called, metric, unit).parameter("label", label);
        (measure.threads(count(row, "threads")), value)
    })
}
