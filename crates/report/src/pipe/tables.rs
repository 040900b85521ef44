//! The tables: times and waits, points in time, bytes.

use fathom_model::{PipeRecord, PipeRound, StageRun};

use super::view::{exit, name, observed, rate, waited};
use crate::line::{Line, Page, Tone};
use crate::quantity::format_bytes;
use crate::why::time;

/// Where a number would stand that was not seen.
const UNSEEN: &str = "-";

/// Wall time, time alone, CPU time, waits, and the pipeline without the stage.
pub(super) fn times(page: &mut Page, record: &PipeRecord) {
    let headers = [
        "wall", "alone", "CPU", "input", "reader", "other", "if free",
    ];
    title(page, "Times", &headers);
    let round = observed(record);
    for (index, summary) in record.summary.stages.iter().enumerate() {
        let wait = |of: fn(&StageRun) -> Option<u64>, asked: bool| {
            let run = round.map(|round| &round.stages[index]);
            let told = run.and_then(|run| waited(record, run, of(run)));
            match asked {
                true => told.unwrap_or_else(|| UNSEEN.to_owned()),
                false => String::new(),
            }
        };
        let free = record
            .model
            .as_ref()
            .and_then(|model| model.if_free.iter().find(|free| free.stage == index));
        let last = record.stages.len() - 1;
        row(
            page,
            record,
            index,
            &[
                time(summary.wall.value),
                summary
                    .alone
                    .map_or_else(|| UNSEEN.to_owned(), |alone| time(alone.value)),
                time(summary.cpu.value),
                wait(|run| run.wait_input_ns, index > 0),
                wait(|run| run.wait_output_ns, index < last),
                wait(|run| run.other_wait_ns, true),
                free.map_or_else(|| UNSEEN.to_owned(), |free| time(free.wall_seconds)),
            ],
        );
    }
    page.prose(
        2,
        Tone::Quiet,
        "wall, alone, CPU: medians of the timed rounds. input, reader, other: waiting for the stage before, \
         for the next one to read, and else, in the observed round. if free: the pipeline if the stage took \
         no time of its own, modelled.",
    );
}

/// When bytes came and went.
pub(super) fn points(page: &mut Page, record: &PipeRecord, round: &PipeRound) {
    let headers = ["start", "first in", "last in", "first out", "end"];
    title(page, "When, in the observed round", &headers);
    let last = round.stages.len() - 1;
    for (index, run) in round.stages.iter().enumerate() {
        let at = |ns: Option<u64>, asked: bool| match (ns, asked) {
            (Some(ns), _) => time(ns as f64 / 1e9),
            (None, true) => UNSEEN.to_owned(),
            (None, false) => String::new(),
        };
        row(
            page,
            record,
            index,
            &[
                at(Some(run.start_ns), true),
                at(run.first_in_ns, index > 0),
                at(run.last_in_ns, index > 0),
                at(run.first_out_ns, index < last),
                at(Some(run.end_ns), true),
            ],
        );
    }
}

/// What went through the pipes, and how the stages ended.
pub(super) fn bytes(page: &mut Page, record: &PipeRecord) {
    let headers = ["bytes in", "rate in", "bytes out", "rate out", "exit"];
    title(page, "Between the stages", &headers);
    let last = record.stages.len() - 1;
    for (index, summary) in record.summary.stages.iter().enumerate() {
        let wall = summary.wall.value;
        let both = |bytes: Option<u64>, asked: bool| match (bytes, asked) {
            (Some(bytes), true) => [format_bytes(bytes as f64), rate(bytes, wall)],
            (None, true) => [UNSEEN.to_owned(), UNSEEN.to_owned()],
            (_, false) => [String::new(), String::new()],
        };
        let [bytes_in, rate_in] = both(summary.bytes_in, index > 0);
        let [bytes_out, rate_out] = both(summary.bytes_out, index < last);
        row(
            page,
            record,
            index,
            &[bytes_in, rate_in, bytes_out, rate_out, exit(summary.exit)],
        );
    }
}

fn title(page: &mut Page, title: &str, headers: &[&str]) {
    page.gap();
    let (names, width) = layout(page, headers.len());
    let mut line = Line::new();
    if crate::columns(title) <= names {
        line = line.add(Tone::Strong, title);
    } else {
        page.push(Line::new().add(Tone::Strong, title));
    }
    line = line.pad_to(names);
    for header in headers {
        line = line.add(Tone::Quiet, format!("{header:>width$}"));
    }
    page.push(line);
}

fn row(page: &mut Page, record: &PipeRecord, stage: usize, cells: &[String]) {
    let (names, width) = layout(page, cells.len());
    let label = format!("{} {}", stage + 1, name(record, stage));
    let tone = match record.bottleneck {
        Some(bottleneck) if bottleneck == stage => Tone::Strong,
        _ => Tone::Plain,
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
