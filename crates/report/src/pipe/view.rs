//! Selects what to show of a record: the round for the chart, times or shares, rates.

use fathom_model::{Exit, PipeRecord, PipeRound};

use crate::quantity::format_bytes;
use crate::why::{share_text, time};

/// What a stage waited for, as shares of its wall time.
pub(super) struct Waits {
    pub(super) input: f64,
    pub(super) reader: f64,
    pub(super) other: f64,
    /// The stage's median wall time in seconds, if observing hardly slowed the round down.
    wall: Option<f64>,
}

impl Waits {
    /// Returns the waits of a stage in the observed round, fitted to the timed rounds, so that the median CPU
    /// time and the waits add up to the median wall time. On a busy machine, a stage waits for a CPU for a
    /// different time in each round, so that time is in the other waits. Returns `None` if no round was
    /// observed or its waits are unknown.
    pub(super) fn of(record: &PipeRecord, stage: usize) -> Option<Waits> {
        let run = &record.observed()?.stages[stage];
        let all = run.wall_ns().max(1) as f64;
        let of_wall = |ns: Option<u64>| Some(ns? as f64 / all);
        let mut waits = Waits {
            input: of_wall(run.wait_input_ns)?,
            reader: of_wall(run.wait_output_ns)?,
            other: of_wall(run.other_wait_ns)?,
            wall: None,
        };
        let explaining = record.explaining.as_ref();
        if !explaining.is_some_and(|explaining| explaining.times_are_quoted) {
            return Some(waits);
        }
        let summary = &record.summary.stages[stage];
        waits.wall = Some(summary.wall.value);
        // If threads ran at the same time, CPU time says nothing about the waits of all of them together.
        let overlaps = run
            .running_ns
            .is_none_or(|running| (running as f64) < PARALLEL * run.cpu_ns as f64);
        if !overlaps {
            let waited = (1.0 - summary.cpu.value / summary.wall.value.max(1e-9)).max(0.0);
            let neighbours = waits.input + waits.reader;
            let fits = (waited / neighbours.max(1e-9)).min(1.0);
            waits.input *= fits;
            waits.reader *= fits;
            waits.other = (waited - neighbours).max(0.0);
        }
        Some(waits)
    }

    /// Formats one of the shares: as a time if possible.
    pub(super) fn format(&self, share: f64) -> String {
        match self.wall {
            Some(wall) => time(share * wall),
            None => share_text(share),
        }
    }
}

/// A stage's threads ran at the same time if a CPU was used for less than this part of its CPU time.
const PARALLEL: f64 = 0.9;

/// Returns the round to draw: an observed one if possible, else the timed round with the median wall time.
pub(super) fn drawn<'a>(
    observed: &'a [PipeRound],
    timed: &'a [PipeRound],
) -> Option<&'a PipeRound> {
    observed.first().or_else(|| {
        let mut order: Vec<&PipeRound> = timed.iter().collect();
        order.sort_by_key(|round| round.wall_ns);
        order.get(order.len().saturating_sub(1) / 2).copied()
    })
}

/// A gain below this share of the pipeline's wall time counts as zero.
const GAIN: f64 = 0.02;

/// Returns the stages that hold the pipeline up. There are several if the model can't distinguish which of
/// them does more.
pub(super) fn holding_up(record: &PipeRecord) -> Vec<usize> {
    let Some(bottleneck) = record.bottleneck else {
        return Vec::new();
    };
    let wall = record.summary.wall.value;
    let best = record.model.as_ref().map(|model| model.best(wall));
    match best {
        Some(best) if best.contains(&bottleneck) && gains(record, bottleneck) => best,
        _ => vec![bottleneck],
    }
}

/// Returns whether the pipeline would take less if the stage took no time.
pub(super) fn gains(record: &PipeRecord, stage: usize) -> bool {
    let free = record.model.iter().flat_map(|model| &model.if_free);
    let mut of_stage = free.filter(|free| free.stage == stage);
    of_stage.any(|free| free.wall_seconds <= record.summary.wall.value * (1.0 - GAIN))
}

/// Returns a name such as `gzip`, cleaned for a sentence.
pub(super) fn name(record: &PipeRecord, stage: usize) -> String {
    record.stages.get(stage).map_or_else(
        || format!("stage {}", stage + 1),
        |stage| crate::escape(&stage.name),
    )
}

/// Formats the rate over the wall time of the stage: `12.3 MiB/s`.
pub(super) fn rate(bytes: u64, seconds: f64) -> String {
    if seconds <= 0.0 {
        return "?".to_owned();
    }
    format!("{}/s", format_bytes(bytes as f64 / seconds))
}

/// Formats how a stage ended: `0`, `SIGPIPE`, `exit 3`.
pub(super) fn exit(exit: Exit) -> String {
    match exit {
        Exit::Code(0) => "0".to_owned(),
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(13) => "SIGPIPE".to_owned(),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "timeout".to_owned(),
    }
}
