//! The tables: times and waits, points in time, bytes.

use fathom_model::PipeRecord;

use super::view::{Waits, exit, holding_up, name, rate};
use crate::document::{Cell, Form, Kind, Place, Table};
use crate::line::Tone;
use crate::quantity::format_bytes;
use crate::why::time;

/// Replaces an unknown number.
const UNSEEN: &str = "-";

/// Returns the tables of the record, each with its title and a note. A screen has only one table.
pub(super) fn all(record: &PipeRecord, form: Form) -> Vec<(&'static str, Table, &'static str)> {
    let mut all = vec![times(record)];
    if form != Form::Brief {
        all.extend(points(record));
        all.push(bytes(record));
    }
    all
}

/// Builds a table with a row for each stage. On a terminal its title is above the names.
fn of_stages(
    record: &PipeRecord,
    title: &'static str,
    heads: &[&str],
    row: impl Fn(usize) -> Vec<String>,
) -> Table {
    let table = Table::new(title)
        .placed(title, Kind::Name, Place::Terminal(0))
        .placed("stage", Kind::Name, Place::Page);
    let mut table = heads
        .iter()
        .fold(table, |table, head| table.column(head, Kind::Number));
    for stage in 0..record.stages.len() {
        let (class, tone) = match holding_up(record).contains(&stage) {
            true => ("neck", Tone::Strong),
            false => ("", Tone::Plain),
        };
        let number = stage + 1;
        let mut cells = vec![
            Cell::name(&format!("{number} {}", name(record, stage))).toned(tone),
            Cell::name(&format!("{number} {}", record.stages[stage].command)),
        ];
        cells.extend(row(stage).iter().map(|text| Cell::words(text).toned(tone)));
        table.row(class, cells);
    }
    table
}

/// Builds the table of wall time, time alone, CPU time, waits, and the pipeline's time if the stage took
/// none.
fn times(record: &PipeRecord) -> (&'static str, Table, &'static str) {
    let last = record.stages.len().saturating_sub(1);
    let heads = [
        "wall",
        "alone",
        "CPU",
        "waits for\ninput",
        "waits for\nreader",
        "other\nwaits",
        "if this stage\ntook no time",
    ];
    let row = |index: usize| {
        let summary = &record.summary.stages[index];
        let waits = Waits::of(record, index);
        let wait = |of: fn(&Waits) -> f64| {
            let waits = waits.as_ref();
            known(waits.map(|waits| waits.format(of(waits))))
        };
        let model = record.model.as_ref();
        let free = model.filter(|_| !record.model_misses());
        let free = free.and_then(|model| model.if_free.iter().find(|free| free.stage == index));
        vec![
            time(summary.wall.value),
            known(summary.alone.map(|alone| time(alone.value))),
            time(summary.cpu.value),
            only(index > 0, wait(|waits| waits.input)),
            only(index < last, wait(|waits| waits.reader)),
            wait(|waits| waits.other),
            known(free.map(|free| time(free.wall_seconds))),
        ]
    };
    let note = "wall, alone, CPU: medians of the timed rounds. Waits, from the observed round, fitted to these times: for the \
         previous stage, for the next stage to read, and all other waits, including those for a CPU. Last column: the pipeline's time \
         predicted by the model.";
    ("Times", of_stages(record, "Times", &heads, row), note)
}

/// Builds the table of when bytes arrived and left.
fn points(record: &PipeRecord) -> Option<(&'static str, Table, &'static str)> {
    let round = record.observed()?;
    let last = round.stages.len().saturating_sub(1);
    let at = |ns: Option<u64>| known(ns.map(|ns| time(ns as f64 / 1e9)));
    let row = |index: usize| {
        let run = &round.stages[index];
        vec![
            at(Some(run.start_ns)),
            only(index > 0, at(run.first_in_ns)),
            only(index > 0, at(run.last_in_ns)),
            only(index < last, at(run.first_out_ns)),
            at(Some(run.end_ns)),
        ]
    };
    let title = "Times in the observed round";
    let heads = ["start", "first in", "last in", "first out", "end"];
    Some((title, of_stages(record, title, &heads, row), ""))
}

/// Builds the table of bytes through the pipes, and of how the stages ended.
fn bytes(record: &PipeRecord) -> (&'static str, Table, &'static str) {
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
    let title = "Between the stages";
    let heads = ["bytes in", "rate in", "bytes out", "rate out", "exit"];
    (title, of_stages(record, title, &heads, row), "")
}

fn known(value: Option<String>) -> String {
    value.unwrap_or_else(|| UNSEEN.to_owned())
}

/// Returns an empty text if the value doesn't apply: the first stage has no input from another.
fn only(asked: bool, value: String) -> String {
    if asked { value } else { String::new() }
}
