//! The tables: times and waits, points in time, bytes. One content for terminal and page.

use fathom_model::{PipeRecord, StageRun};

use super::statements;
use super::view::{exit, holding_up, name, observed, rate, waited};
use crate::line::{Line, Page, Tone};
use crate::quantity::format_bytes;
use crate::why::time;

/// Where a number would stand that was not seen.
const UNSEEN: &str = "-";

/// A table with a row for each stage.
pub(super) struct Table {
    pub title: &'static str,
    pub headers: Vec<&'static str>,
    /// Cells without the stage's name; empty where the stage can have no such number.
    pub rows: Vec<Vec<String>>,
    pub note: Option<&'static str>,
}

/// All tables of the record.
pub(super) fn all(record: &PipeRecord) -> Vec<Table> {
    let mut all = vec![times(record)];
    all.extend(points(record));
    all.push(bytes(record));
    all
}

/// Wall time, time alone, CPU time, waits, and the pipeline without the stage.
fn times(record: &PipeRecord) -> Table {
    let last = record.stages.len().saturating_sub(1);
    let row = |index: usize| {
        let summary = &record.summary.stages[index];
        let wait = |of: fn(&StageRun) -> Option<u64>| {
            let run = observed(record).map(|round| &round.stages[index]);
            let waited = run.and_then(|run| waited(record, run, of(run)));
            waited.unwrap_or_else(|| UNSEEN.to_owned())
        };
        let model = record.model.as_ref();
        let free = model.filter(|_| !statements::model_misses(record));
        let free = free.and_then(|model| model.if_free.iter().find(|free| free.stage == index));
        vec![
            time(summary.wall.value),
            known(summary.alone.map(|alone| time(alone.value))),
            time(summary.cpu.value),
            only(index > 0, wait(|run| run.wait_input_ns)),
            only(index < last, wait(|run| run.wait_output_ns)),
            wait(|run| run.other_wait_ns),
            known(free.map(|free| time(free.wall_seconds))),
        ]
    };
    Table {
        title: "Times",
        headers: vec![
            "wall", "alone", "CPU", "input", "reader", "other", "if free",
        ],
        rows: (0..record.stages.len()).map(row).collect(),
        note: Some(
            "wall, alone, CPU: medians of the timed rounds. input, reader, other: waiting for the stage \
             before, for the next one to read, and else, in the observed round. if free: the pipeline if the \
             stage took no time of its own, modelled.",
        ),
    }
}

/// When bytes came and went.
fn points(record: &PipeRecord) -> Option<Table> {
    let round = observed(record)?;
    let last = round.stages.len().saturating_sub(1);
    let at = |ns: Option<u64>| known(ns.map(|ns| time(ns as f64 / 1e9)));
    let row = |(index, run): (usize, &StageRun)| {
        vec![
            at(Some(run.start_ns)),
            only(index > 0, at(run.first_in_ns)),
            only(index > 0, at(run.last_in_ns)),
            only(index < last, at(run.first_out_ns)),
            at(Some(run.end_ns)),
        ]
    };
    Some(Table {
        title: "When, in the observed round",
        headers: vec!["start", "first in", "last in", "first out", "end"],
        rows: round.stages.iter().enumerate().map(row).collect(),
        note: None,
    })
}

/// What went through the pipes, and how the stages ended.
fn bytes(record: &PipeRecord) -> Table {
    let last = record.stages.len().saturating_sub(1);
    let row = |index: usize| {
        let summary = &record.summary.stages[index];
        let amount = |bytes: Option<u64>| known(bytes.map(|bytes| format_bytes(bytes as f64)));
        let speed = |bytes: Option<u64>| known(bytes.map(|bytes| rate(bytes, summary.wall.value)));
        vec![
            only(index > 0, amount(summary.bytes_in)),
            only(index > 0, speed(summary.bytes_in)),
            only(index < last, amount(summary.bytes_out)),
            only(index < last, speed(summary.bytes_out)),
            exit(summary.exit),
        ]
    };
    Table {
        title: "Between the stages",
        headers: vec!["bytes in", "rate in", "bytes out", "rate out", "exit"],
        rows: (0..record.stages.len()).map(row).collect(),
        note: None,
    }
}

fn known(value: Option<String>) -> String {
    value.unwrap_or_else(|| UNSEEN.to_owned())
}

/// Nothing where the question makes no sense: the first stage has no input from another.
fn only(asked: bool, value: String) -> String {
    if asked { value } else { String::new() }
}

/// Writes a table for the terminal.
pub(super) fn write(page: &mut Page, record: &PipeRecord, table: &Table) {
    page.gap();
    let (names, width) = layout(page, table.headers.len());
    let mut line = Line::new();
    if crate::columns(table.title) < names {
        line = line.add(Tone::Strong, table.title);
    } else {
        page.push(Line::new().add(Tone::Strong, table.title));
    }
    line = line.pad_to(names);
    for header in &table.headers {
        line = line.add(Tone::Quiet, format!("{header:>width$}"));
    }
    page.push(line);
    for (stage, cells) in table.rows.iter().enumerate() {
        row(page, record, stage, cells);
    }
    if let Some(note) = table.note {
        page.prose(2, Tone::Quiet, note);
    }
}

fn row(page: &mut Page, record: &PipeRecord, stage: usize, cells: &[String]) {
    let (names, width) = layout(page, cells.len());
    let label = format!("{} {}", stage + 1, name(record, stage));
    let tone = match holding_up(record).contains(&stage) {
        true => Tone::Strong,
        false => Tone::Plain,
    };
    let mut line = Line::new()
        .add(Tone::Plain, "  ")
        .add(tone, page.fit(&label, names - 3))
        .pad_to(names);
    for cell in cells {
        let missing = width.saturating_sub(crate::columns(cell));
        line = line.add(tone, format!("{}{cell}", " ".repeat(missing)));
    }
    page.push(line);
}

/// Columns of the names, and of each number.
fn layout(page: &Page, numbers: usize) -> (usize, usize) {
    let width = page.width().min(96);
    let number = if numbers > 5 { 9 } else { 12 };
    let number = number.min((width.saturating_sub(8)) / numbers.max(1));
    (width.saturating_sub(number * numbers).clamp(8, 30), number)
}
