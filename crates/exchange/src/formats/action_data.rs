//! github-action-benchmark's history, `data.js`: `window.BENCHMARK_DATA = {...}`. Each commit is a record.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::action::benchmark;
use crate::collector::Collector;
use crate::error::{Error, malformed};
use crate::json::{document, entries, holds, list, text, word};
use crate::lines::find;
use fathom_model::imported::Direction;

/// A history of more commits is none that a person looks at.
const MOST_COMMITS: usize = 20_000;

pub(crate) fn can_read(head: &[u8]) -> bool {
    holds(head, &["window.BENCHMARK_DATA", "\"entries\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let start = find(bytes, b"{").ok_or_else(|| malformed("there is no object in it"))?;
    let json = bytes[start..].trim_ascii_end();
    let document = document(json.strip_suffix(b";").unwrap_or(json))?;
    let suites = entries(&document, "entries").count();
    let mut runs: Vec<(&str, &Value)> = Vec::new();
    for (suite, all) in entries(&document, "entries") {
        // One suite alone is all that was measured; of several each is a parameter.
        let suite = if suites == 1 { "" } else { suite };
        let all = all.as_array().into_iter().flatten();
        runs.extend(
            all.filter(|run| !list(run, "benches").is_empty())
                .map(|run| (suite, run)),
        );
    }
    runs.sort_by(|(_, left), (_, right)| date(left).total_cmp(&date(right)));
    // The runs of a commit are one record, at the place of the last of them.
    let last: HashMap<&str, usize> = runs
        .iter()
        .enumerate()
        .map(|(at, (_, run))| (commit(run), at))
        .collect();
    runs.sort_by_key(|(_, run)| last[commit(run)]);
    let mut of_commits = runs.chunk_by(|(_, left), (_, right)| commit(left) == commit(right));
    let too_many = last.len().saturating_sub(MOST_COMMITS);
    if too_many > 0 {
        of_commits.nth(too_many - 1);
    }
    for (number, of_commit) in of_commits.enumerate() {
        if number > 0 {
            out.next_commit();
        }
        let newest = of_commit[of_commit.len() - 1].1;
        for (key, value) in [
            ("commit_hash", &newest["commit"]["id"]),
            ("date", &newest["date"]),
        ] {
            if !value.is_null() {
                out.environment(key, &text(value));
            }
        }
        for (suite, run) in of_commit {
            one(suite, run, out)?;
        }
    }
    let reason = format!("more than {MOST_COMMITS}");
    out.left_out_times("earlier commits", reason, too_many as u64);
    Ok(())
}

fn one(suite: &str, run: &Value, out: &mut Collector) -> Result<(), Error> {
    let direction = match word(run, "tool") {
        Some("customSmallerIsBetter") => Some(Direction::LowerIsBetter),
        Some("customBiggerIsBetter") => Some(Direction::HigherIsBetter),
        // Of other tools the unit says it.
        _ => None,
    };
    let benches = list(run, "benches");
    let names: HashSet<&str> = benches.iter().filter_map(|one| word(one, "name")).collect();
    for entry in benches {
        // Of a Go benchmark with several metrics there is an entry for each, and one with all in its unit.
        let all =
            word(entry, "name").zip(word(entry, "unit").and_then(|unit| unit.split_once('\t')));
        match all {
            Some((name, (first, _))) if names.contains(format!("{name} - {first}").as_str()) => {
                out.left_out(name, "each of its metrics is an entry, too");
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
