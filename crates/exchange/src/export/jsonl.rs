//! JSON lines, one for each metric of each benchmark, with all known data.

use std::collections::BTreeMap;

use fathom_model::Direction;
use fathom_model::imported::Values;
use fathom_stats::imported_middle;
use serde::Serialize;

use super::{Export, Written};

#[derive(Serialize)]
struct Row<'a> {
    tool: &'a str,
    time: &'a str,
    revision: Option<&'a str>,
    labels: &'a [String],
    benchmark: &'a str,
    parameters: &'a BTreeMap<String, String>,
    metric: &'a str,
    unit: &'a str,
    direction: Option<Direction>,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    runs: Option<u64>,
    #[serde(flatten)]
    values: &'a Values,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    iterations: &'a [u64],
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u64>,
}

/// Writes the lines. Units are those of the record; `value`, `low` and `high` are the median with its
/// interval, or the closest equivalent.
pub(super) fn jsonl(exports: &[Export]) -> Written {
    let mut written = Written::default();
    for export in exports {
        for figure in &export.figures {
            let one = &figure.benchmark;
            let middle = imported_middle(&one.values);
            let row = Row {
                tool: &export.tool,
                time: &export.time,
                revision: export.revision.as_deref(),
                labels: &export.labels,
                benchmark: &one.name,
                parameters: &one.parameters,
                metric: &one.metric,
                unit: &one.unit,
                direction: one.direction,
                value: middle.map(|middle| middle.value),
                low: middle.map(|middle| middle.low),
                high: middle.map(|middle| middle.high),
                runs: middle.map(|middle| middle.runs),
                values: &one.values,
                iterations: &one.iterations,
                threads: one.threads,
            };
            written
                .text
                .push_str(&serde_json::to_string(&row).unwrap_or_default());
            written.text.push('\n');
        }
    }
    written
}
