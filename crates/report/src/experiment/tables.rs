//! The tables behind the figures of an experiment's page, in a separate file: medians, and the programs that
//! were run.

use std::collections::BTreeMap;

use fathom_model::{ExperimentRecord, ResultRow, listed, pairs};

use super::figures::taken;
use super::words;
use crate::document::{Cell, Kind, Table};
use crate::why::markdown_with_code as plain;

/// The metrics shown for a measure that has dozens.
const SHOWN: [&str; 7] = [
    "wall",
    "cpu",
    "first_output",
    "cold_first_output",
    "exit",
    "size",
    "count",
];

/// The tables of a record, and their caption; `None` if nothing was measured and no program was required.
pub(super) struct Tables {
    medians: String,
    programs: String,
}

impl Tables {
    pub(super) fn of(record: &ExperimentRecord) -> Option<Tables> {
        let mut medians = String::new();
        for measure in &record.measures {
            results(&mut medians, record, &measure.id);
        }
        let mut programs = String::new();
        versions(&mut programs, record);
        (!medians.is_empty() || !programs.is_empty()).then_some(Tables { medians, programs })
    }

    /// Returns a description of the tables.
    pub(super) fn caption(&self) -> &'static str {
        match (self.medians.is_empty(), self.programs.is_empty()) {
            (false, false) => "Medians with their intervals, and the programs",
            (false, true) => "Medians with their intervals",
            (true, _) => "The programs",
        }
    }
}

/// Formats every measure's medians with their intervals, and the programs with their versions, as Markdown;
/// `None` if there are none.
pub fn experiment_tables(record: &ExperimentRecord) -> Option<String> {
    let tables = Tables::of(record)?;
    let (title, taken) = (plain(&record.title), plain(&taken(record)));
    let caption = tables.caption();
    let Tables { medians, programs } = &tables;
    Some(format!(
        "# {title}\n\n{caption}. {taken} Written by `fathom run --readme`.\n{medians}{programs}"
    ))
}

/// Writes the medians of one measure: a row for each subject and combination of parameters, a column for each
/// metric.
fn results(out: &mut String, record: &ExperimentRecord, measure: &str) {
    let how = (record.measures.iter()).find(|m| m.id == measure);
    if how.is_none_or(|measure| measure.how == "why") {
        // The counts of `why` are in the claims.
        return;
    }
    let rows: Vec<&ResultRow> = (record.results.iter())
        .filter(|row| row.measure == measure && row.median.is_some())
        .collect();
    let mut metrics: Vec<&str> = Vec::new();
    for row in &rows {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    if metrics.iter().any(|metric| SHOWN.contains(metric)) && metrics.len() > SHOWN.len() {
        metrics.retain(|metric| SHOWN.contains(metric));
    }
    let mut names: Vec<String> = Vec::new();
    let mut cells: BTreeMap<(String, &str), String> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|row| metrics.contains(&row.metric.as_str()))
    {
        let name = name_of(row);
        if !names.contains(&name) {
            names.push(name.clone());
        }
        cells.insert((name, &row.metric), cell(row));
    }
    if names.is_empty() || metrics.is_empty() {
        return;
    }
    let mut table = Table::new("Medians").column("", Kind::Name);
    for metric in &metrics {
        table = table.column(metric, Kind::Number);
    }
    for name in &names {
        let mut row = vec![Cell::name(name)];
        row.extend(metrics.iter().map(|metric| {
            let cell = cells.get(&(name.clone(), *metric));
            Cell::words(cell.map_or("", String::as_str))
        }));
        table.row("", row);
    }
    out.push_str(&format!(
        "\n## {}\n\n{}",
        plain(measure),
        table.markdown(plain)
    ));
}

fn name_of(row: &ResultRow) -> String {
    let subject = row.subject.clone().unwrap_or_default();
    match row.parameters.is_empty() {
        true => subject,
        false => format!("{subject} {}", pairs(listed(&row.parameters), " ")),
    }
}

fn cell(row: &ResultRow) -> String {
    let median = row.median.as_ref();
    let figure = median.map(|median| words::with_interval(median, &row.unit));
    figure.unwrap_or_default()
}

fn versions(out: &mut String, record: &ExperimentRecord) {
    let found = record.tools.iter().filter_map(|tool| {
        let version = tool.version.as_ref()?;
        Some(format!("{}: {version}", tool.name))
    });
    let missing = record.tools.iter().filter_map(|tool| tool.missing.as_ref());
    let missing = missing.map(|missing| format!("not here: {missing}"));
    let all: Vec<String> = found.chain(missing).collect();
    if all.is_empty() {
        return;
    }
    out.push_str("\n## Programs\n\n");
    for tool in all {
        out.push_str(&format!("- {}\n", plain(&tool)));
    }
}
