//! The JSON of hyperfine 1.x, so that scripts written for it keep working.

use std::collections::BTreeMap;

use fathom_model::{BenchRecord, Exit, Metric};
use serde::Serialize;

use super::moments::{Moments, mean};
use crate::distribution::sorted;
use crate::session::Subject;

#[derive(Serialize)]
struct Export<'a> {
    results: Vec<Entry<'a>>,
}

/// Keys in hyperfine's order.
#[derive(Serialize)]
struct Entry<'a> {
    command: &'a str,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    memory_usage_byte: Vec<u64>,
    exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<&'a str, &'a str>,
}

/// `record` in the shape of hyperfine 1.20's `--export-json`: times in seconds, memory in bytes, an
/// exit code of `null` for runs that were ended by a signal or a time-out. Benchmarks without runs
/// are left out. `command` is the name that `-n` gave, as in hyperfine.
pub fn hyperfine_json(record: &BenchRecord) -> String {
    let subjects = Subject::all(record);
    let results = subjects.iter().filter_map(entry).collect();
    // Strings, numbers and lists without maps of other keys always serialise.
    let mut text = serde_json::to_string_pretty(&Export { results }).unwrap_or_default();
    text.push('\n');
    text
}

fn entry<'a>(subject: &Subject<'a>) -> Option<Entry<'a>> {
    let times = subject.values(Metric::Wall);
    let moments = Moments::of(&sorted(times.clone()))?;
    let parameters = subject.benchmark.parameters.iter();
    Some(Entry {
        command: &subject.benchmark.name,
        mean: moments.mean,
        stddev: moments.standard_deviation,
        median: moments.median,
        user: mean(&subject.values(Metric::User)),
        system: mean(&subject.values(Metric::System)),
        min: moments.min,
        max: moments.max,
        times,
        memory_usage_byte: subject
            .runs
            .iter()
            .map(|run| run.peak_memory_bytes)
            .collect(),
        exit_codes: subject.runs.iter().map(|run| code(run.exit)).collect(),
        parameters: parameters
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect(),
    })
}

fn code(exit: Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) | Exit::TimedOut => None,
    }
}
