//! Answers what one command takes beyond another.

use fathom_model::DifferenceRecord;
use fathom_report::{difference_parts, difference_sentence};
use serde::Serialize;

use super::why::Cause;
use super::{Interval, warned, warnings};
use crate::bounded::{bare_name, name, sentence, text};

/// Maximum number of parts in an answer.
const PARTS: usize = 12;
/// Maximum number of parts in the text.
const TOLD: usize = 5;
const FINDINGS: usize = 3;

/// The time that B takes beyond A, in milliseconds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Difference {
    /// The total difference.
    ms: f64,
    low_ms: f64,
    high_ms: f64,
    /// How many times as long B takes.
    ratio: Interval,
    /// The largest parts; those of `wall`, with the unexplained rest, add up to the total.
    parts: Vec<Part>,
    not_explained_ms: f64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Part {
    /// The use of the time: a part of the account, a program, a call or a function.
    part: String,
    /// `wall`, or the part that contains this one.
    of: String,
    ms: f64,
    low_ms: f64,
    high_ms: f64,
    /// The file that accounts for most of it.
    file: Option<String>,
}

/// The result of `why` for two commands.
pub(super) struct Found {
    pub text: String,
    pub answer: String,
    pub next: Option<String>,
    pub wall_s: Option<Interval>,
    pub findings: Vec<Cause>,
    pub difference: Difference,
    pub tier: String,
    pub warnings: Vec<String>,
}

pub(super) fn difference(record: DifferenceRecord) -> Found {
    let difference = &record.difference;
    let answer = sentence(&difference_sentence(&record));
    let mut lines = vec![answer.clone()];
    for (letter, command) in ["A", "B"].iter().zip(&record.commands) {
        lines.push(format!("{letter} is {}", name(&command.command)));
    }
    let parts = difference_parts(difference, TOLD);
    lines.extend(parts.iter().map(|part| sentence(part)));
    for only in record.findings.iter().take(FINDINGS) {
        let letter = if only.command == 0 { "A" } else { "B" };
        let finding = &only.finding;
        lines.push(format!(
            "only {letter}: {}: {}",
            finding.id,
            sentence(&finding.statement)
        ));
    }
    let warnings = warnings(record.warnings.iter().map(String::as_str));
    lines.extend(warned(&warnings));
    let next = difference.wall.is_clear().then(|| {
        "run why with the slower command alone to see the causes and where they are".to_owned()
    });
    let last = record.commands.last();
    Found {
        text: text(&lines, next.as_deref().unwrap_or_default()),
        answer,
        next,
        wall_s: last.map(|command| (&command.timed.wall).into()),
        findings: record
            .findings
            .iter()
            .take(FINDINGS)
            .map(|only| Cause::of(&only.finding))
            .collect(),
        tier: last.map_or_else(String::new, |command| bare_name(&command.observation.tier)),
        difference: Difference {
            ms: difference.wall.milliseconds,
            low_ms: difference.wall.low,
            high_ms: difference.wall.high,
            ratio: (&difference.wall.ratio).into(),
            parts: difference
                .rows
                .iter()
                .take(PARTS)
                .map(|row| Part {
                    part: bare_name(&row.part),
                    of: bare_name(&row.of),
                    ms: row.milliseconds,
                    low_ms: row.low,
                    high_ms: row.high,
                    file: row.file.as_deref().map(bare_name),
                })
                .collect(),
            not_explained_ms: difference.not_explained,
        },
        warnings,
    }
}
