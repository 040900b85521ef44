//! The JSON of hyperfine 1.x, so that scripts written for it keep working.

use std::collections::BTreeMap;

use fathom_model::imported::{Summary, Values, base_unit};
use fathom_stats::imported_middle;
use serde::Serialize;

use super::{Export, Figure, Moments, Written, by_benchmark, mean};

/// The metrics that may hold a command's time: those of `bench`, `startup` and `pipe`.
const TIMES: [&str; 3] = ["wall", "exit", "pipeline_wall"];

#[derive(Serialize)]
struct Results<'a> {
    results: Vec<Entry<'a>>,
}

/// A result with its keys in hyperfine's order; values that a summary lacks are `null`.
#[derive(Serialize)]
struct Entry<'a> {
    command: &'a str,
    mean: Option<f64>,
    stddev: Option<f64>,
    median: Option<f64>,
    user: f64,
    system: f64,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_usage_byte: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_codes: Option<&'a [Option<i32>]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: &'a BTreeMap<String, String>,
}

/// Writes the format of hyperfine 1.20's `--export-json`, with times in seconds and memory in bytes. The exit
/// code is `null` for runs that were ended by a signal or a timeout. `command` is the name given with `-n`,
/// as in hyperfine. Benchmarks without a time are omitted.
pub fn hyperfine(exports: &[Export]) -> Written {
    let mut written = Written::default();
    let mut results = Vec::new();
    for figures in exports.iter().flat_map(by_benchmark) {
        match entry(&figures, &mut written) {
            Some(entry) => results.push(entry),
            None => {
                let name = &figures[0].benchmark.name;
                written.left_out(name, "it has no command time in seconds");
            }
        }
    }
    if !results.is_empty() || exports.iter().all(|export| export.figures.is_empty()) {
        // Strings, numbers, and lists without maps that have other keys can always be serialized.
        written.text = serde_json::to_string_pretty(&Results { results }).unwrap_or_default();
        written.text.push('\n');
    }
    written
}

fn entry<'a>(figures: &[&'a Figure], written: &mut Written) -> Option<Entry<'a>> {
    let is_time = |figure: &&&Figure| {
        let one = &figure.benchmark;
        base_unit(&one.unit).1 == "seconds" && TIMES.contains(&one.metric.as_str())
    };
    let time = *figures.iter().find(is_time)?;
    let (factor, _) = base_unit(&time.benchmark.unit);
    let figure = |metric: &str| {
        let found = figures.iter().find(|one| one.benchmark.metric == metric);
        found.map(|found| &found.benchmark)
    };
    let mut entry = Entry {
        command: &time.benchmark.name,
        mean: None,
        stddev: None,
        median: None,
        user: mean_of(figure("user")),
        system: mean_of(figure("system")),
        min: None,
        max: None,
        times: None,
        memory_usage_byte: None,
        exit_codes: Some(&time.exit_codes[..]).filter(|codes| !codes.is_empty()),
        parameters: &time.benchmark.parameters,
    };
    match &time.benchmark.values {
        Values::Samples(samples) => {
            let mut sorted: Vec<f64> = samples.iter().map(|value| value * factor).collect();
            entry.times = Some(sorted.clone());
            sorted.sort_unstable_by(f64::total_cmp);
            let moments = Moments::of(&sorted)?;
            entry.mean = Some(moments.mean);
            entry.stddev = moments.standard_deviation;
            entry.median = Some(moments.median);
            entry.min = Some(moments.min);
            entry.max = Some(moments.max);
        }
        Values::Summary(summary) => summarised(&mut entry, summary, factor),
    }
    if let Some(Values::Samples(memory)) = figure("peak_memory").map(|one| &one.values) {
        entry.memory_usage_byte = Some(memory.iter().map(|bytes| *bytes as u64).collect());
    }
    let carried = [
        "user",
        "system",
        "peak_memory",
        time.benchmark.metric.as_str(),
    ];
    for other in figures {
        if !carried.contains(&other.benchmark.metric.as_str()) {
            written.left_out(
                &other.benchmark.metric,
                "a metric that hyperfine doesn't have",
            );
        }
    }
    Some(entry)
}

fn summarised(entry: &mut Entry, summary: &Summary, factor: f64) {
    let scaled = |value: Option<f64>| value.map(|value| value * factor);
    entry.mean = scaled(summary.mean);
    entry.stddev = scaled(summary.standard_deviation);
    entry.median = scaled(summary.median.or(summary.value));
    entry.min = scaled(summary.min);
    entry.max = scaled(summary.max);
}

fn mean_of(figure: Option<&fathom_model::imported::Benchmark>) -> f64 {
    let Some(figure) = figure else {
        return 0.0;
    };
    let (factor, _) = base_unit(&figure.unit);
    factor
        * match &figure.values {
            Values::Samples(samples) => mean(samples),
            Values::Summary(summary) => {
                let middle = || imported_middle(&figure.values).map(|middle| middle.value);
                summary.mean.or_else(middle).unwrap_or(0.0)
            }
        }
}
