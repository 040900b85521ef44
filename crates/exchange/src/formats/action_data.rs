//! github-action-benchmark's history, `data.js`: `window.BENCHMARK_DATA = {...}`. Each measurement of a
//! commit becomes a record.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::action::benchmark;
use crate::collector::Collector;
use crate::error::{Error, malformed};
use crate::json::{document, entries, holds, list, text, word};
use crate::lines::find;
use fathom_model::imported::Direction;

/// The maximum number of records. Longer histories are refused, because no one looks at that many
/// measurements.
const MOST_RECORDS: usize = 20_000;

pub(crate) fn can_read(head: &[u8]) -> bool {
    holds(head, &["window.BENCHMARK_DATA", "\"entries\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let start = find(bytes, b"{").ok_or_else(|| malformed("the file contains no object"))?;
    let json = bytes[start..].trim_ascii_end();
    let document = document(json.strip_suffix(b";").unwrap_or(json))?;
    let suites = entries(&document, "entries").count();
    let mut runs = Record::new();
    for (suite, all) in entries(&document, "entries") {
        // A single suite needs no parameter; if there are several, the suite is a parameter.
        let suite = if suites == 1 { "" } else { suite };
        let all = all.as_array().into_iter().flatten();
        runs.extend(
            all.filter(|run| !list(run, "benches").is_empty())
                .map(|run| (suite, run)),
        );
    }
    let records = records(runs);
    let too_many = records.len().saturating_sub(MOST_RECORDS);
    for (number, record) in records.into_iter().skip(too_many).enumerate() {
        if number > 0 {
            out.next_record();
        }
        let newest = record[record.len() - 1].1;
        if !newest["commit"]["id"].is_null() {
            out.environment("commit_hash", &text(&newest["commit"]["id"]));
        }
        if !newest["date"].is_null() {
            out.environment("date", &text(&newest["date"]));
        }
        for (suite, run) in &record {
            // The suites of a commit are jobs that end at different times.
            if run["date"] != newest["date"] {
                out.environment(&format!("date of {suite}"), &text(&run["date"]));
            }
            one(suite, run, out)?;
        }
    }
    let reason = format!("more than {MOST_RECORDS} measurements");
    out.left_out_times("earlier measurements", reason, too_many as u64);
    Ok(())
}

/// One measurement of a commit: one run of each of its suites, in chronological order.
type Record<'a> = Vec<(&'a str, &'a Value)>;

/// Groups runs in chronological order. A suite that ran again on the same commit starts a new record, because
/// it is another measurement at another time.
fn records<'a>(mut runs: Record<'a>) -> Vec<Record<'a>> {
    runs.sort_by(|(_, left), (_, right)| date(left).total_cmp(&date(right)));
    let mut records: Vec<Record<'a>> = Vec::new();
    let mut latest: HashMap<&str, usize> = HashMap::new();
    for (suite, run) in runs {
        let commit = commit(run);
        let open = latest.get(commit).map(|at| &mut records[*at]);
        match open.filter(|open| open.iter().all(|(other, _)| *other != suite)) {
            Some(open) => open.push((suite, run)),
            None => {
                latest.insert(commit, records.len());
                records.push(vec![(suite, run)]);
            }
        }
    }
    let end = |record: &Record| record.last().map_or(0.0, |(_, run)| date(run));
    records.sort_by(|a, b| end(a).total_cmp(&end(b)));
    records
}

fn one(suite: &str, run: &Value, out: &mut Collector) -> Result<(), Error> {
    let direction = match word(run, "tool") {
        Some("customSmallerIsBetter") => Some(Direction::LowerIsBetter),
        Some("customBiggerIsBetter") => Some(Direction::HigherIsBetter),
        // For other tools, the unit decides.
        _ => None,
    };
    let benches = list(run, "benches");
    let names: HashSet<&str> = benches.iter().filter_map(|one| word(one, "name")).collect();
    for entry in benches {
        // A Go benchmark with several metrics has an entry for each metric, and one entry whose unit contains
        // all of them.
        let all =
            word(entry, "name").zip(word(entry, "unit").and_then(|unit| unit.split_once('\t')));
        match all {
            Some((name, (first, _))) if names.contains(format!("{name} - {first}").as_str()) => {
                out.left_out(name, "each of its metrics has its own entry");
            }
            _ => benchmark(entry, direction, suite, out)?,
        }
    }
    Ok(())
}

fn date(run: &Value) -> f64 {
    run["date"].as_f64().unwrap_or_default()
}

fn commit(run: &Value) -> &str {
    word(&run["commit"], "id").unwrap_or_default()
}
