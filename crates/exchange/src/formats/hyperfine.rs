//! hyperfine's JSON: the format of 1.x, which doesn't state its version, and that of 2.0 (`schema_version`
//! 2).

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{
    document, entries, holds, list, name, number, numbers, opens, parameters, text, word,
};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{")
        && holds(head, &["\"results\"", "\"command\""])
        && (holds(head, &["\"stddev\""]) || holds(head, &["\"time_wall_clock\""]))
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    match &document["schema_version"] {
        Value::Null => first(&document, out),
        version if version.as_u64() == Some(2) => second(&document, out),
        other => Err(Error::Version {
            tool: "hyperfine",
            found: text(other),
            known: "1 and 2",
        }),
    }
}

fn first(document: &Value, out: &mut Collector) -> Result<(), Error> {
    out.version(Some("1"));
    for result in list(document, "results") {
        let command = name(result, "command")?;
        let parameters = parameters(&result["parameters"]);
        let measure = |metric, unit| Measure::new(command, metric, unit).with(&parameters);
        let times = list(result, "times");
        let count = Some(times.len() as u64).filter(|count| *count > 0);
        if times.is_empty() {
            out.summary(measure("wall", "s"), figures(result));
        } else {
            out.separate(measure("wall", "s"), numbers(times), &[]);
            out.left_out(
                "mean, stddev, median, min, max",
                "computed from the samples, which are kept",
            );
        }
        for metric in ["user", "system"] {
            let mean = number(result, metric);
            out.summary(
                measure(metric, "s"),
                Summary {
                    mean,
                    count,
                    ..Summary::default()
                },
            );
        }
        let memory = list(result, "memory_usage_byte");
        if !memory.is_empty() {
            out.separate(measure("peak_memory", "B"), numbers(memory), &[]);
        }
        let codes = list(result, "exit_codes");
        let failed = codes.iter().filter(|code| code.as_i64() != Some(0)).count();
        out.left_out_times(
            "exit_codes",
            "0: not a measurement",
            (codes.len() - failed) as u64,
        );
        out.left_out_times(
            "exit_codes",
            "of a failed run, which is kept as a sample",
            failed as u64,
        );
    }
    Ok(())
}

fn figures(result: &Value) -> Summary {
    Summary {
        mean: number(result, "mean"),
        standard_deviation: number(result, "stddev"),
        median: number(result, "median"),
        min: number(result, "min"),
        max: number(result, "max"),
        ..Summary::default()
    }
}

fn second(document: &Value, out: &mut Collector) -> Result<(), Error> {
    let metadata = &document["metadata"];
    out.version(word(metadata, "hyperfine_version"));
    out.environment_of("", &metadata["platform"]);
    if let Some(time) = word(metadata, "start_time") {
        out.environment("start_time", time);
    }
    for result in list(document, "results") {
        let command = name(result, "command")?;
        let parameters = parameters(&result["parameters"]);
        let measurements = list(result, "measurements");
        let names = measurements
            .iter()
            .flat_map(|one| one.as_object().into_iter().flatten().map(|(key, _)| key));
        for metric in names.collect::<std::collections::BTreeSet<_>>() {
            let values = measurements
                .iter()
                .map(|one| &one[metric.as_str()])
                .filter(|value| !value.is_null());
            let Some(unit) = values.clone().find_map(|value| word(value, "unit")) else {
                let reason = if metric == "exit_code" {
                    "not a measurement"
                } else {
                    "has no unit"
                };
                out.left_out_times(metric.as_str(), reason, values.count() as u64);
                continue;
            };
            let (metric, unit) = (known(metric), short(unit));
            let (same, other): (Vec<_>, Vec<_>) = values.partition(|value| {
                word(value, "unit").is_some_and(|written| short(written) == unit)
            });
            out.left_out_times(
                metric,
                "its unit differs from that of the first value",
                other.len() as u64,
            );
            let samples = same
                .into_iter()
                .map(|value| number(value, "value").unwrap_or(f64::NAN));
            out.separate(
                Measure::new(command, metric, unit).with(&parameters),
                samples,
                &[],
            );
        }
        let summaries = entries(result, "summary").count() as u64;
        out.left_out_times(
            "summary",
            "computed from the samples, which are kept",
            summaries,
        );
    }
    Ok(())
}

fn known(metric: &str) -> &str {
    match metric {
        "time_wall_clock" => "wall",
        "time_user" => "user",
        "time_system" => "system",
        "time_cpu" => "cpu",
        "memory_peak_resident" => "peak_memory",
        other => other,
    }
}

fn short(unit: &str) -> &str {
    match unit {
        "second" => "s",
        "byte" => "B",
        other => other,
    }
}
