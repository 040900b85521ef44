//! Notes on what a delayed start changes, and why.

use fathom_model::quantity::format_bytes;
use fathom_model::{DelayedRounds, PipeNote, PipeRecord};

use super::{name, say, time};

/// Changes of a wall time that are below this share of it, or below a minimum duration, count as no change.
const SAME: f64 = 0.05;
const SAME_SECONDS: f64 = 0.000_5;

/// Returns notes for each stage that started late, and for the pipeline.
pub(super) fn statements(record: &PipeRecord) -> Vec<PipeNote> {
    let Some(delayed) = &record.delayed else {
        return Vec::new();
    };
    if delayed.rounds.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    let late = delayed.delay_ns.iter().enumerate();
    for (stage, delay) in late.filter(|(_, delay)| **delay > 0) {
        all.push(say(
            "delay",
            Some(stage),
            itself(record, delayed, stage, *delay),
        ));
        if stage > 0 {
            all.push(say(
                "delay_writer",
                Some(stage - 1),
                writer(record, delayed, stage),
            ));
        }
    }
    all.push(say("delay_pipeline", None, pipeline(record, delayed)));
    all
}

/// Describes the late stage's own wall time.
fn itself(record: &PipeRecord, delayed: &DelayedRounds, stage: usize, delay: u64) -> String {
    let before = record.summary.stages[stage].wall.value;
    let after = delayed.summary.stages[stage].wall.value;
    let start = format!(
        "Started {} late, {} has a wall time of {} instead of {}",
        time(delay as f64 / 1e9),
        name(record, stage),
        time(after),
        time(before),
    );
    if same(before, after) {
        return format!("{start}: about the same.");
    }
    if after > before {
        return format!("{start}.");
    }
    if stage == 0 {
        return format!("{start}: no stage before it makes it wait.");
    }
    format!(
        "{start}: {} had a head start, and its output was waiting in the pipe. {} itself is no faster.",
        name(record, stage - 1),
        name(record, stage),
    )
}

/// Describes the effect on the stage that writes to the late one.
fn writer(record: &PipeRecord, delayed: &DelayedRounds, stage: usize) -> String {
    let writer = stage - 1;
    let before = record.summary.stages[writer].end.value;
    let after = delayed.summary.stages[writer].end.value;
    let holds = record.conditions.pipe_capacity_bytes;
    let holds_text = format_bytes(holds as f64);
    let written = record.summary.stages[writer].bytes_out;
    let who = name(record, writer);
    match written {
        Some(bytes) if bytes <= holds => format!(
            "The pipe holds {holds_text}: all {} that {who} wrote fit into it, so the stage did not have to wait \
             (it ended after {} instead of {}).",
            format_bytes(bytes as f64),
            time(after),
            time(before),
        ),
        Some(_) if after > before && !same(before, after) => format!(
            "The pipe holds {holds_text}: {who} filled it and had to wait for {} to read, so it ended after \
             {} instead of {}.",
            name(record, stage),
            time(after),
            time(before),
        ),
        _ => format!(
            "The pipe holds {holds_text}; {who} ended after {} instead of {}.",
            time(after),
            time(before),
        ),
    }
}

fn pipeline(record: &PipeRecord, delayed: &DelayedRounds) -> String {
    let before = record.summary.wall.value;
    let after = delayed.summary.wall.value;
    let change = after - before;
    let latest = delayed.delay_ns.iter().max().copied().unwrap_or(0) as f64 / 1e9;
    let start = format!(
        "The pipeline takes {} instead of {}",
        time(after),
        time(before)
    );
    if same(before, after) {
        return format!(
            "{start}, about the same: the late stage would have waited for its input anyway."
        );
    }
    if change < 0.0 {
        return format!("{start}.");
    }
    if change < latest * (1.0 - SAME) {
        return format!(
            "{start}: of the delay of {}, only {} is lost; the stage would have waited for the rest anyway.",
            time(latest),
            time(change)
        );
    }
    format!("{start}: the whole delay is lost.")
}

fn same(before: f64, after: f64) -> bool {
    (after - before).abs() <= (before * SAME).max(SAME_SECONDS)
}
