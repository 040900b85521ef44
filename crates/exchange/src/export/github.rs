//! The JSON of github-action-benchmark's tools `customSmallerIsBetter` and `customBiggerIsBetter`.

use fathom_model::Direction;
use fathom_stats::{IntervalFrom, imported_middle};
use serde::Serialize;

use super::{Export, Figure, Written, full_name};

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// Writes medians. A file has a single direction: it contains the figures for which less is better or, only
/// if there are none, those for which more is better (for `customBiggerIsBetter`).
pub(super) fn github_action_benchmark(exports: &[Export]) -> Written {
    let mut written = Written::default();
    let all: Vec<(&Export, &Figure)> = exports
        .iter()
        .flat_map(|export| export.figures.iter().map(move |figure| (export, figure)))
        .collect();
    let has = |wanted| {
        all.iter()
            .any(|(_, one)| one.benchmark.direction == Some(wanted))
    };
    let direction = match has(Direction::LowerIsBetter) {
        true => Direction::LowerIsBetter,
        false => Direction::HigherIsBetter,
    };
    let mut entries = Vec::new();
    for (export, figure) in all {
        let one = &figure.benchmark;
        let reason = match one.direction {
            Some(own) if own == direction => None,
            Some(_) => Some("higher is better: use --metric to write it to its own file"),
            None => Some("it is not known whether higher or lower is better"),
        };
        if let Some(reason) = reason {
            written.left_out(&one.metric, reason);
            continue;
        }
        let Some(middle) = imported_middle(&one.values) else {
            written.left_out(&one.metric, "neither a median nor a mean");
            continue;
        };
        let name = match one.metric.as_str() {
            "wall" => full_name(one),
            metric => format!("{} / {metric}", full_name(one)),
        };
        let ends = format!("{} to {}", middle.low, middle.high);
        let known = middle.from != IntervalFrom::Nothing;
        entries.push(Entry {
            name,
            unit: one.unit.clone(),
            value: middle.value,
            range: known.then_some(ends),
            extra: format!("{}, {} samples", export.tool, middle.runs),
        });
    }
    if !entries.is_empty() {
        written.text = serde_json::to_string_pretty(&entries).unwrap_or_default();
        written.text.push('\n');
    }
    written
}
