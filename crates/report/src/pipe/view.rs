//! Selects what to show of a record: the round for the chart, times or shares, rates.

use fathom_model::{Exit, PipeRecord, PipeRound, StageRun};

use crate::quantity::format_bytes;
use crate::why::{share_text, time};

/// Formats a time of an observed round: as a time if observing hardly slowed the round down, else as a share
/// of the stage's wall time.
pub(super) fn waited(record: &PipeRecord, run: &StageRun, ns: Option<u64>) -> Option<String> {
    let ns = ns?;
    let quoted = record
        .explaining
        .as_ref()
        .is_some_and(|explaining| explaining.times_are_quoted);
    Some(if quoted {
        time(ns as f64 / 1e9)
    } else {
        share_text(ns as f64 / run.wall_ns().max(1) as f64)
    })
}

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
