//! BenchmarkDotNet's full JSON: nanoseconds.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{
    chosen, count, document, entries, figures, holds, list, number, opens, text, word,
};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"HostEnvironmentInfo\"", "\"Benchmarks\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    let host = &document["HostEnvironmentInfo"];
    out.version(word(host, "BenchmarkDotNetVersion"));
    for (key, value) in host.as_object().into_iter().flatten() {
        out.environment_of(key, value);
    }
    for benchmark in list(&document, "Benchmarks") {
        one(benchmark, out);
    }
    Ok(())
}

fn one(benchmark: &Value, out: &mut Collector) {
    let parts = ["Namespace", "Type", "Method"]
        .iter()
        .filter_map(|key| word(benchmark, key).filter(|part| !part.is_empty()));
    let name = parts.collect::<Vec<_>>().join(".");
    let written = word(benchmark, "Parameters").unwrap_or_default();
    let mut parameters = parameters(written);
    if let Some(job) = job(word(benchmark, "DisplayInfo").unwrap_or_default(), written) {
        let key = match parameters.contains_key("job") {
            true => "job of the benchmark",
            false => "job",
        };
        parameters.insert(key.to_owned(), job);
    }
    let measure =
        |metric: &str, unit: &str| Measure::new(name.as_str(), metric, unit).with(&parameters);
    let (results, others): (Vec<_>, Vec<_>) = list(benchmark, "Measurements")
        .iter()
        .partition(|row| result(row));
    out.left_out_times(
        "Measurements",
        "warm-up, overhead, or values from before outliers and overhead are removed",
        others.len() as u64,
    );
    if results.is_empty() && number(&benchmark["Statistics"], "Mean").is_none() {
        out.left_out(name, "it failed: none of its runs has a result");
        return;
    }
    if results.is_empty() {
        out.summary(measure("wall", "ns"), summary(&benchmark["Statistics"]));
    } else {
        let operations = results
            .iter()
            .map(|row| count(row, "Operations").unwrap_or(0))
            .collect::<Vec<_>>();
        let samples = results.iter().zip(&operations).map(|(row, operations)| {
            number(row, "Nanoseconds")
                .filter(|_| *operations > 0)
                .unwrap_or(f64::NAN)
                / (*operations).max(1) as f64
        });
        out.separate(measure("wall", "ns"), samples, &operations);
        out.left_out("Statistics", "computed from the samples, which are kept");
    }
    for (key, value) in entries(benchmark, "Memory") {
        let measure = match key.as_str() {
            "BytesAllocatedPerOperation" => measure("allocated", "B"),
            "Gen0Collections" | "Gen1Collections" | "Gen2Collections" => measure(key, "").lower(),
            _ => {
                out.left_out(key, "operations in all");
                continue;
            }
        };
        out.summary(
            measure,
            Summary {
                value: value.as_f64(),
                ..Summary::default()
            },
        );
    }
    out.left_out_times(
        "Metrics",
        "diagnosers are not read",
        list(benchmark, "Metrics").len() as u64,
    );
    out.left_out_times(
        "Properties",
        "settings of the job",
        entries(benchmark, "Properties").count() as u64,
    );
}

/// Parses `culture=en&text=a, b` or, from other versions, `N=10, Text=a`. A value may contain a comma, so a
/// part without `=` continues the preceding value.
fn parameters(written: &str) -> BTreeMap<String, String> {
    let separator = if written.contains('&') { '&' } else { ',' };
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in written.split(separator) {
        let pair = part
            .split_once('=')
            .filter(|(key, _)| key.trim().chars().all(|c| c.is_alphanumeric() || c == '_'));
        match (pair, pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.trim().to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(separator);
                value.push_str(part);
            }
            (None, None) => {}
        }
    }
    let pairs = pairs.into_iter();
    pairs
        .map(|(key, value)| (key, value.trim().to_owned()))
        .collect()
}

/// Parses `Type.Method: Job-ABCDEF(Runtime=.NET 8.0) [N=10]`. Returns the job's settings, or its name if it
/// has none, or `None` for the default job.
fn job(display: &str, parameters: &str) -> Option<String> {
    let (_, job) = display.split_once(": ")?;
    let job = match parameters {
        "" => job,
        _ => job.rsplit_once(" [").map_or(job, |(job, _)| job),
    };
    let set = match job.split_once('(') {
        Some((name, set)) if name.starts_with("Job-") => set.trim_end_matches(')'),
        _ => job,
    };
    let set = set.trim();
    (!set.is_empty() && set != "DefaultJob").then(|| set.to_owned())
}

/// Returns whether the row is `Workload` and `Result`, or only `Result` as in versions before 0.11.
fn result(row: &Value) -> bool {
    let stage = word(row, "IterationStage");
    let mode = word(row, "IterationMode");
    matches!(
        (mode, stage),
        (Some("Workload"), Some("Result")) | (Some("Result"), None)
    )
}

fn summary(value: &Value) -> Summary {
    let other = [
        "LowerFence",
        "UpperFence",
        "Variance",
        "Skewness",
        "Kurtosis",
        "InterquartileRange",
        "StandardError",
    ];
    let interval = &value["ConfidenceInterval"];
    let level = text(&interval["Level"]);
    Summary {
        count: count(value, "N"),
        mean: number(value, "Mean"),
        median: number(value, "Median"),
        standard_deviation: number(value, "StandardDeviation"),
        min: number(value, "Min"),
        max: number(value, "Max"),
        low: number(interval, "Lower"),
        high: number(interval, "Upper"),
        // This is `L999` in some versions, and in others the number of an enumeration that changed, which
        // isn't guessed.
        level: level
            .strip_prefix('L')
            .and_then(|digits| format!("0.{digits}").parse().ok()),
        quantiles: figures(&value["Percentiles"], |key| {
            key.strip_prefix('P').map(ToOwned::to_owned)
        }),
        other: chosen(value, &other.map(|key| (key, key))),
        value: None,
    }
}
