//! Remarks as sentences: what would mislead, how stages ended, and how far the model can be trusted.

mod alone;
mod delay;
mod holds;

use fathom_model::quantity::{counted, format_bytes, short_time};
use fathom_model::{PipeNote, PipeRecord, StageRun, StopReason};

/// The share of a stage's wall time spent waiting for a neighbour above which the wall time is really a
/// measure of the neighbour.
const MISLEADS: f64 = 0.2;
/// The share by which a stage's time in the observed round may differ from the timed rounds for the two to
/// count as similar.
const ALIKE: f64 = 0.1;

/// Returns the sentences, most important first. They contain unescaped texts from outside.
pub fn notes(record: &PipeRecord) -> Vec<PipeNote> {
    let mut all = Vec::new();
    if record.stop == StopReason::Interrupted {
        let message = "Interrupted: only the finished rounds are included.";
        all.push(say("partial", None, message.to_owned()));
    }
    all.extend((0..record.stages.len()).filter_map(|stage| holds::holds_back(record, stage)));
    for stage in 0..record.stages.len() {
        all.extend(misleads(record, stage));
    }
    all.extend(head_start(record));
    if record.delayed.is_some() {
        all.extend(delay::statements(record));
    }
    for stage in 0..record.stages.len() {
        all.extend(ended(record, stage));
        all.extend(took(record, stage));
    }
    all.extend(alone::statements(record));
    let left: u32 = record
        .rounds
        .iter()
        .map(|round| round.left_behind)
        .max()
        .unwrap_or(0);
    if left > 0 {
        let message = format!(
            "The stages left {} running; Fathom ended them.",
            counted(u64::from(left), "process", "processes")
        );
        all.push(say("left_behind", None, message));
    }
    all.extend(without_cpu(record));
    all.extend(model_is_off(record));
    all
}

fn say(id: &str, stage: Option<usize>, message: String) -> PipeNote {
    PipeNote {
        id: id.to_owned(),
        stage,
        message,
    }
}

/// Returns notes for a stage whose wall time is really that of a neighbour.
fn misleads(record: &PipeRecord, stage: usize) -> Vec<PipeNote> {
    let Some(run) = record.observed().map(|round| &round.stages[stage]) else {
        return Vec::new();
    };
    let summary = &record.summary.stages[stage];
    let life = run.wall_ns().max(1) as f64;
    let mut all = Vec::new();
    for (ns, neighbour, what) in [
        (run.wait_input_ns, stage.checked_sub(1), ""),
        (run.wait_output_ns, Some(stage + 1), " to read"),
    ] {
        let (Some(ns), Some(neighbour)) = (ns, neighbour) else {
            continue;
        };
        let share = ns as f64 / life;
        if share < MISLEADS || neighbour >= record.stages.len() {
            continue;
        }
        let mut text = format!(
            "{}'s wall time is {}, of which it spent {} waiting for {}{what}.",
            name(record, stage),
            time(summary.wall.value),
            part(record, run, share, summary.wall.value),
            name(record, neighbour),
        );
        if let Some(alone) = summary.alone {
            text.push_str(&format!(
                " Alone{}: {}.",
                if stage > 0 { " on the same input" } else { "" },
                time(alone.value)
            ));
        }
        if let Some(advice) = alone::advice(record, stage) {
            text.push(' ');
            text.push_str(&advice);
        }
        all.push(say("misleading_wall_time", Some(stage), text));
    }
    all
}

/// Describes a part of a timed wall time by its share in the observed round. It is given as a duration only
/// if the observed stage took as long as the timed ones.
fn part(record: &PipeRecord, run: &StageRun, share: f64, wall_seconds: f64) -> String {
    match like_timed(record, run, wall_seconds) {
        true => time(share.min(1.0) * wall_seconds),
        false => share_text(share.min(1.0)),
    }
}

/// Returns a note about the artefact of the head start: a stage was running long before its first byte.
fn head_start(record: &PipeRecord) -> Option<PipeNote> {
    let round = record.observed()?;
    let waits = round
        .stages
        .iter()
        .enumerate()
        .skip(1)
        .filter_map(|(stage, run)| {
            let before = run.first_in_ns?.saturating_sub(run.start_ns);
            let share = before as f64 / run.wall_ns().max(1) as f64;
            // Before its first byte, the stage may also have lacked a CPU.
            let waited = run.wait_input_ns.is_none_or(|wait| wait >= before / 2);
            (share >= MISLEADS && waited).then_some((stage, before, share))
        });
    let (stage, before, _) = waits.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let text = format!(
        "All stages of a pipeline start at once, so {}'s clock runs before any data arrives: in the observed round \
         its first byte came after {}. If {} started later, that wait would be hidden and the stage would look \
         faster than it is: see --delay {}={}ms.",
        name(record, stage),
        time(before as f64 / 1e9),
        name(record, stage),
        stage + 1,
        (before / 1_000_000).max(1),
    );
    Some(say("head_start", Some(stage), text))
}

/// Returns notes about SIGPIPE, and about failures that were allowed.
fn ended(record: &PipeRecord, stage: usize) -> Vec<PipeNote> {
    let summary = &record.summary.stages[stage];
    let rounds = record.rounds.len();
    let mut all = Vec::new();
    if summary.sigpipes > 0 && stage + 1 < record.stages.len() {
        let text = format!(
            "{} was ended by SIGPIPE in {} of {}: it wrote after {} had closed its input. This is normal in a \
             pipeline that ends early; it is not a failure.",
            name(record, stage),
            summary.sigpipes,
            counted(rounds as u64, "round", "rounds"),
            name(record, stage + 1),
        );
        all.push(say("sigpipe", Some(stage), text));
    }
    if summary.failures > 0 {
        let text = format!(
            "{} failed in {} of {}; its times may not include all of its work.",
            name(record, stage),
            summary.failures,
            counted(rounds as u64, "round", "rounds"),
        );
        all.push(say("failures", Some(stage), text));
    }
    all
}

/// Returns a note for a stage that leaves input unread.
fn took(record: &PipeRecord, stage: usize) -> Option<PipeNote> {
    let run = &record.observed()?.stages[stage];
    let writer = &record.observed()?.stages[stage.checked_sub(1)?];
    let (taken, written) = (run.bytes_in?, writer.bytes_out?);
    if taken >= written || written == 0 {
        return None;
    }
    let (reader, writer) = (name(record, stage), name(record, stage - 1));
    let written = format_bytes(written as f64);
    let text = match taken {
        0 => format!("{reader} read none of the {written} that {writer} wrote."),
        _ => format!(
            "{reader} read {} of the {written} that {writer} wrote, and left the rest in the pipe.",
            format_bytes(taken as f64)
        ),
    };
    Some(say("input_left", Some(stage), text))
}

/// Returns a note if the machine is busy with other work or has too few CPUs.
fn without_cpu(record: &PipeRecord) -> Option<PipeNote> {
    let round = record.observed()?;
    let waits = round.stages.iter().enumerate().filter_map(|(stage, run)| {
        let share = run.no_cpu_ns? as f64 / run.wall_ns().max(1) as f64;
        (share >= MISLEADS).then_some((stage, share))
    });
    let (stage, share) = waits.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = format!(
        "In the observed round, {} waited for a CPU for {} of its time: {} were too few for the stages and the \
         other programs on this machine. The model ignores such waits.",
        name(record, stage),
        share_text(share),
        counted(record.environment.cpus as u64, "CPU", "CPUs"),
    );
    Some(say("waiting_for_cpu", Some(stage), text))
}

fn model_is_off(record: &PipeRecord) -> Option<PipeNote> {
    let model = record.model.as_ref()?;
    if !record.model_misses() {
        return None;
    }
    let text = format!(
        "For the pipeline as it is, the model predicts {} where {} was measured, so the last column is empty.",
        time(model.as_is_seconds),
        time(record.summary.wall.value)
    );
    Some(say("model_inaccurate", None, text))
}

/// Returns whether shares of this observed stage's time also hold for the timed rounds.
fn like_timed(record: &PipeRecord, run: &StageRun, wall_seconds: f64) -> bool {
    let explaining = record.explaining.as_ref();
    let quoted = explaining.is_some_and(|explaining| explaining.times_are_quoted);
    quoted && (run.wall_ns() as f64 / 1e9 / wall_seconds - 1.0).abs() <= ALIKE
}

/// Returns the name of a stage, such as `gzip`.
fn name(record: &PipeRecord, stage: usize) -> &str {
    record.stages.get(stage).map_or("?", |stage| &stage.name)
}

/// Formats a time with three digits; no time is measured more finely than 0.1 µs.
fn time(seconds: f64) -> String {
    match seconds {
        0.0 => "0".to_owned(),
        short if short < 1e-5 => short_time((short * 1e7).round() / 1e7),
        other => short_time(other),
    }
}

/// Formats a share as `63 %`, with one decimal below 10 %.
fn share_text(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        small if small < 0.05 => "< 0.1 %".to_owned(),
        small if small < 9.95 => format!("{small:.1} %"),
        other => format!("{other:.0} %"),
    }
}
