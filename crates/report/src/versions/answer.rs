//! The first sentences: by how much the last version differs from the first.

use fathom_model::{Verdict, Version, VersionsRecord};

use crate::line::Tone;
use crate::quantity::{Words, bound, change, counted};
use crate::text::JOIN;

/// The confidence level required for a claim.
const CLAIM: f64 = 0.99;

/// Returns the answer in a sentence or two, and its tone.
pub(super) fn answer(record: &VersionsRecord) -> (Tone, String) {
    let mut tone = Tone::Strong;
    let mut sentences = Vec::new();
    if !record.complete {
        tone = Tone::Bad;
        sentences.push("PARTIAL: the measurement was cut short.".to_owned());
    }
    let measured: Vec<&Version> = record
        .versions
        .iter()
        .filter(|version| version.estimate.is_some())
        .collect();
    sentences.push(match measured[..] {
        [] => "No version has a result.".to_owned(),
        [only] => format!(
            "Only {} could be measured, so there is nothing to compare it with.",
            only.version
        ),
        [first, .., last] => between(record, first, last),
    });
    (tone, sentences.join(" ").replace(JOIN, " "))
}

fn between(record: &VersionsRecord, first: &Version, last: &Version) -> String {
    let words = Words::of(record.metric);
    let ends = format!("From {} to {}", first.version, last.version);
    let whole = match &last.since_first {
        None => format!(
            "{ends} no ratio can be computed: {} is 0 or unknown.",
            record.metric.name()
        ),
        Some(ratio) if ratio.level < CLAIM - 1e-9 => format!(
            "{} are too few to say whether {} differs from {}; a verdict needs {}.",
            counted(rounds(record), "round", "rounds"),
            last.version,
            first.version,
            fathom_stats::fewest_rounds(CLAIM)
        ),
        Some(ratio) if ratio.low > 1.0 || ratio.high < 1.0 => {
            let what = match words == Words::of(fathom_model::Metric::Wall) {
                true => "it became".to_owned(),
                false => format!("{} became", record.metric.name()),
            };
            format!("{ends} {what} {}.", change(ratio.value, words))
        }
        Some(ratio) => format!(
            "{ends} no difference is shown; if there is one, it is at most {}.",
            bound(ratio)
        ),
    };
    let real = record.steps.iter().filter(|step| is_real(step.verdict));
    let steps = counted(record.steps.len() as u64, "step", "steps");
    match real.count() {
        0 => format!("{whole} No step between adjacent versions is real."),
        1 => format!("{whole} 1 of {steps} is real."),
        real => format!("{whole} {real} of {steps} are real."),
    }
}

/// Returns the number of rounds.
pub(super) fn rounds(record: &VersionsRecord) -> u64 {
    let measured = record.measured.as_ref();
    let rounds = measured.and_then(|one| one.runs.iter().map(|run| run.round + 1).max());
    rounds.unwrap_or(0).into()
}

/// Returns whether the verdict claims that a step is real.
pub(super) fn is_real(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}
