//! The tables: times and waits, points in time, bytes. One content for terminal and page.

use fathom_model::{PipeRecord, StageRun};

use super::view::{exit, holding_up, name, rate, waited};
use crate::line::{Line, Page, Tone};
use crate::quantity::format_bytes;
use crate::why::time;

/// Where a number would stand that is not known.
const UNSEEN: &str = "-";
/// Columns for what has a unit such as MiB/s.
const WIDE: usize = 12;

/// A table with a row for each stage.
pub(super) struct Table {
    pub title: &'static str,
    /// Of each column, on two lines; the first may be empty.
    pub headers: Vec<[&'static str; 2]>,
    /// Columns of a number at least, with a space before it.
    pub narrowest: usize,
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

/// Wall time, time alone, CPU time, waits, and the pipeline if the stage took no time.
pub(super) fn times(record: &PipeRecord) -> Table {
    let last = record.stages.len().saturating_sub(1);
    let row = |index: usize| {
        let summary = &record.summary.stages[index];
        let wait = |of: fn(&StageRun) -> Option<u64>| {
            let run = record.observed().map(|round| &round.stages[index]);
            let waited = run.and_then(|run| waited(record, run, of(run)));
            waited.unwrap_or_else(|| UNSEEN.to_owned())
        };
        let model = record.model.as_ref();
        let free = model.filter(|_| !record.model_misses());
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
            ["", "wall"],
            ["", "alone"],
            ["", "CPU"],
            ["waits for", "input"],
            ["waits for", "reader"],
            ["other", "waits"],
            ["if this stage", "took no time"],
        ],
        narrowest: 8,
        rows: (0..record.stages.len()).map(row).collect(),
        note: Some(
            "wall, alone, CPU: medians of the timed rounds. Waits: in the observed round, for the stage before, \
             for the next one to read, and all others, those for a CPU included. Last: what the pipeline \
             would take, modelled.",
        ),
    }
}

/// When bytes came and went.
fn points(record: &PipeRecord) -> Option<Table> {
    let round = record.observed()?;
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
        headers: ["start", "first in", "last in", "first out", "end"]
            .map(|header| ["", header])
            .to_vec(),
        narrowest: WIDE,
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
        headers: ["bytes in", "rate in", "bytes out", "rate out", "exit"]
            .map(|header| ["", header])
            .to_vec(),
        narrowest: WIDE,
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

/// Writes a table for the terminal, with its note if that is wanted.
pub(super) fn write(page: &mut Page, record: &PipeRecord, table: &Table, with_note: bool) {
    page.gap();
    let (names, widths) = layout(page, table);
    if crate::columns(table.title) >= names {
        page.push(Line::new().add(Tone::Strong, table.title));
    }
    for level in 0..2 {
        if table.headers.iter().all(|header| header[level].is_empty()) {
            continue;
        }
        let mut line = Line::new();
        if level == 1 && crate::columns(table.title) < names {
            line = line.add(Tone::Strong, table.title);
        }
        line = line.pad_to(names);
        for (header, width) in table.headers.iter().zip(&widths) {
            line = line.add(Tone::Quiet, format!("{:>width$}", header[level]));
        }
        page.push(line);
    }
    for (stage, cells) in table.rows.iter().enumerate() {
        row(page, record, stage, cells, (names, &widths));
    }
    if let Some(note) = table.note.filter(|_| with_note) {
        page.prose(2, Tone::Quiet, note);
    }
}

fn row(
    page: &mut Page,
    record: &PipeRecord,
    stage: usize,
    cells: &[String],
    (names, widths): (usize, &[usize]),
) {
    let label = format!("{} {}", stage + 1, name(record, stage));
    let tone = match holding_up(record).contains(&stage) {
        true => Tone::Strong,
        false => Tone::Plain,
    };
    let mut line = Line::new()
        .add(Tone::Plain, "  ")
        .add(tone, page.fit(&label, names - 3))
        .pad_to(names);
    for (cell, width) in cells.iter().zip(widths) {
        let missing = width.saturating_sub(crate::columns(cell));
        line = line.add(tone, format!("{}{cell}", " ".repeat(missing)));
    }
    page.push(line);
}

/// Columns of the names, and of each number.
fn layout(page: &Page, table: &Table) -> (usize, Vec<usize>) {
    let width = page.width().min(96);
    let needed = |header: &[&str; 2]| {
        let longest = header.iter().map(|text| text.len()).max().unwrap_or(0);
        table.narrowest.max(longest + 1)
    };
    let mut widths: Vec<usize> = table.headers.iter().map(needed).collect();
    const NAMES: usize = 12;
    if widths.iter().sum::<usize>() + NAMES > width {
        let each = width.saturating_sub(8) / widths.len().max(1);
        widths.fill(each);
    }
    let numbers: usize = widths.iter().sum();
    (width.saturating_sub(numbers).clamp(8, 30), widths)
}
