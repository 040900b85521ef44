//! The first sentence: which stage holds the pipeline up.

use fathom_model::{PipeModel, PipeRecord};

use super::view::{gains, holding_up, name};
use crate::why::{share_text, time};

/// The error of the model from which on the text states it.
const MODEL_FAR: f64 = 0.1;

/// Returns which stage holds the pipeline up, and what the pipeline would take without it.
pub(super) fn answer(record: &PipeRecord) -> String {
    if record.rounds.is_empty() {
        return "No result: no round was finished.".to_owned();
    }
    let wall = record.summary.wall.value;
    let takes = format!("The pipeline takes {}", time(wall));
    let (Some(stage), Some(model)) = (record.bottleneck, &record.model) else {
        return format!("{takes}; it is not known which stage holds it up.");
    };
    if record.model_misses() {
        return format!("{takes}; {}.", missed(record, stage));
    }
    if !gains(record, stage) {
        return format!(
            "{takes}, and no single stage holds it up: if any one of them took no time, it would still take about \
             as long. {} has the most time of its own.",
            named(record, stage)
        );
    }
    let stages = holding_up(record);
    let free = model.if_free.iter();
    let of_them = free.filter(|free| stages.contains(&free.stage));
    let walls: Vec<f64> = of_them.map(|free| free.wall_seconds).collect();
    let (who, which) = match &stages[..] {
        [stage] => (
            format!("{} holds the pipeline up", named(record, *stage)),
            "this stage",
        ),
        several => (
            format!("{} hold the pipeline up equally", listed(record, several)),
            "one of them",
        ),
    };
    format!(
        "{who}: if {which} took no time, it would take about {} instead of {} (modelled).",
        range(&walls),
        time(wall)
    )
}

/// Returns the text for a model that doesn't even reproduce the measurement.
fn missed(record: &PipeRecord, stage: usize) -> String {
    let unknown = "the model and the measurement disagree, so no cost is given";
    match &holding_up(record)[..] {
        _ if !gains(record, stage) => format!(
            "it is not known which stage holds it up: the model and the measurement disagree. {} has the most time \
             of its own",
            named(record, stage)
        ),
        [_] => format!("probably {} holds it up; {unknown}", named(record, stage)),
        several => format!(
            "probably {} hold it up equally; {unknown}",
            listed(record, several)
        ),
    }
}

/// Describes the method of the model, and its quality if that is poor.
pub(super) fn how_modelled(model: &PipeModel, wall: f64) -> String {
    let how = match model.method.as_str() {
        "phases" => "from the times at which bytes arrived and left",
        _ => "from the stages' own times",
    };
    match model.off_by(wall) {
        off if off > MODEL_FAR => format!(
            "{how}; for the pipeline as it is, the model gives {}, which is {} off",
            time(model.as_is_seconds),
            share_text(off)
        ),
        _ => how.to_owned(),
    }
}

/// Formats a stage: `gzip (stage 2)`.
fn named(record: &PipeRecord, stage: usize) -> String {
    format!("{} (stage {})", name(record, stage), stage + 1)
}

/// Formats several stages: `cat (stage 1), gzip (stage 2) and wc (stage 3)`.
fn listed(record: &PipeRecord, stages: &[usize]) -> String {
    let names: Vec<String> = stages.iter().map(|stage| named(record, *stage)).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Formats `1.2 s`, or `1.2 s to 1.4 s` if the values differ.
fn range(seconds: &[f64]) -> String {
    let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let most = seconds.iter().copied().fold(0.0, f64::max);
    match most > least * 1.02 {
        true => format!("{} to {}", time(least), time(most)),
        false => time(least),
    }
}
