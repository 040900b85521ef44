//! Answers what changed between two sides that were measured earlier.

use fathom_model::quantity::{format_bytes, format_count, short_time};
use fathom_model::{CompareRecord, Verdict};
use fathom_report::compare_sentence;
use serde::Serialize;

use super::{Answer, Interval, record, warned, warnings};
use crate::bounded::{bare_name, name, sentence, text};

/// Maximum number of comparisons in an answer, those that differ first.
const MOST: usize = 20;
/// Maximum number of reasons why something was not compared.
const REASONS: usize = 3;

/// The result of `compare`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Compare {
    /// The answer in one sentence.
    answer: String,
    /// The recommended next step.
    next: Option<String>,
    /// The comparisons: those that differ first, then undecided ones, then equal ones.
    comparisons: Vec<Compared>,
    /// Number of comparisons that are not listed.
    more: usize,
    /// What was not compared, and why.
    left_out: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Compared {
    benchmark: String,
    metric: String,
    unit: String,
    base: f64,
    head: f64,
    /// Head / base, with an allowance for the variation between separate measurements.
    ratio: Interval,
    /// `faster`, `slower`, `same`, `undecided`; `more` or `less` if it is unknown which is better.
    verdict: String,
    /// The command that would decide it.
    together: Option<String>,
}

/// Builds the answer from a record.
///
/// # Errors
/// If the bytes are not such a record.
pub(crate) fn compare(bytes: &[u8]) -> Result<Answer, String> {
    let record: CompareRecord = record(bytes)?;
    let rank = |verdict| match verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::Undecided => 2,
        Verdict::Same => 3,
    };
    let mut all: Vec<_> = record.comparisons.iter().collect();
    all.sort_by_key(|one| rank(one.verdict));
    let more = all.len().saturating_sub(MOST);
    let answer = sentence(&compare_sentence(&record));
    let mut lines = vec![answer.clone()];
    for one in all.iter().take(MOST) {
        lines.push(format!(
            "{} {}: {} ({} to {}; {:.3}x, {:.3} to {:.3})",
            name(&one.benchmark),
            bare_name(&one.metric),
            one.word(),
            in_unit(one.base.value, &one.unit),
            in_unit(one.head.value, &one.unit),
            one.ratio.value,
            one.ratio.low,
            one.ratio.high
        ));
    }
    let left_out: Vec<String> = record
        .left_out
        .iter()
        .take(REASONS)
        .map(|one| format!("{}: {}", name(&one.benchmark), sentence(&one.why)))
        .collect();
    lines.extend(left_out.iter().map(|one| format!("Not compared: {one}")));
    let warnings = warnings(record.warnings.iter().map(String::as_str));
    lines.extend(warned(&warnings));
    let undecided = all.iter().find(|one| one.verdict == Verdict::Undecided);
    let next = match (undecided.and_then(|one| one.together.as_ref()), all.first()) {
        (Some(together), _) => Some(format!("this decides it: {}", sentence(together))),
        (None, None) => Some(
            "run bench with label to save the measurement of a side under a name; compare takes such names"
                .to_owned(),
        ),
        (None, Some(first)) if first.verdict == Verdict::Slower => {
            Some("run why with the old and the new command to see what takes longer".to_owned())
        }
        _ => None,
    };
    let text = text(&lines, next.as_deref().unwrap_or_default());
    let comparisons = all.iter().take(MOST).map(|one| Compared {
        benchmark: bare_name(&one.benchmark),
        metric: bare_name(&one.metric),
        unit: bare_name(&one.unit),
        base: one.base.value,
        head: one.head.value,
        ratio: (&one.ratio).into(),
        verdict: one.word().to_owned(),
        together: one.together.as_deref().map(sentence),
    });
    let structured = Compare {
        comparisons: comparisons.collect(),
        answer,
        next,
        more,
        left_out,
        warnings,
    };
    Answer::new(text, &structured)
}

/// Formats a value of the store, where units are words.
pub(super) fn in_unit(value: f64, unit: &str) -> String {
    match unit {
        "seconds" => short_time(value),
        "bytes" => format_bytes(value),
        "count" => format_count(value),
        other => format!("{} {}", format_count(value), bare_name(other)),
    }
}
