//! Answers why a command is slow.

use fathom_model::quantity::{counted, short_time};
use fathom_model::{DifferenceRecord, Explanation, Finding, WhereRow};
use fathom_report::{explain_sentence, proof_sentence, saving_sentence};
use serde::Serialize;
use serde_json::Value;

use super::difference::{Difference, difference};
use super::place::{Place, in_words};
use super::{Answer, Interval, read, record, warned, warnings};
use crate::bounded::{bare_name, name, sentence, text};

/// Maximum number of findings and places in an answer.
const FINDINGS: usize = 5;
const PLACES: usize = 5;
/// Maximum number of findings in the text.
const TOLD: usize = 3;
/// Maximum number of callers of a place.
const CALLERS: usize = 5;
/// Places below this share of the time are omitted.
const MATTERS: f64 = 0.05;

/// The result of `why`: for one command, or the difference between two.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Why {
    /// The answer in one sentence.
    answer: String,
    /// The recommended next step.
    next: Option<String>,
    /// Median wall time of the untraced runs, in seconds; for two commands, that of `command`.
    wall_s: Option<Interval>,
    /// Causes, ordered by the time that could be saved; for two commands, those of only one of them.
    findings: Vec<Cause>,
    /// Where the time goes, most first, whether or not a cause is known.
    #[serde(rename = "where")]
    whereabouts: Vec<Row>,
    /// The time that `command` takes beyond `compared_with`; null for one command.
    difference: Option<Difference>,
    /// How it was observed: `kernel`, `perf`, `sample` or `stops`.
    tier: String,
    warnings: Vec<String>,
}

/// A named cause.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Cause {
    /// Such as `unbuffered-output`; `explain` has its meaning.
    id: String,
    /// One sentence with the numbers.
    statement: String,
    /// Share of the wall time, 0 to 1.
    share: f64,
    /// Wall time that fixing it is predicted to save, in milliseconds, with its interval.
    saving_ms: Option<f64>,
    saving_low_ms: Option<f64>,
    saving_high_ms: Option<f64>,
    /// The recommended change.
    change: String,
    /// The object concerned: a file, peer, lock or command.
    object: Option<String>,
    place: Place,
    callers: Vec<Place>,
    /// The result of an experiment on the prediction, if one was made: its verdict and the time saved.
    proof: Option<Proof>,
}

/// The result of an experiment.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Proof {
    /// `proved`, `refuted`, `undecided`, `void` or `not_possible`.
    verdict: String,
    /// The intervention.
    intervention: Option<String>,
    /// Time saved, in milliseconds.
    saves_ms: Option<f64>,
    /// Why there is no further result.
    reason: Option<String>,
}

/// A place where time goes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Row {
    /// Share of the wall time, 0 to 1.
    share: f64,
    /// Part of the account, such as `user_code` or `sleeping`.
    kind: String,
    /// The system call.
    call: Option<String>,
    /// The object concerned.
    object: Option<String>,
    /// The common purpose of several library functions, such as `allocation`; `place` is the one with the
    /// most time.
    group: Option<String>,
    place: Place,
    callers: Vec<Place>,
    /// Number of calls, waits or page faults.
    count: Option<u64>,
}

/// Builds the answer from a record of one command, or of two.
///
/// # Errors
/// If the bytes are not such a record.
pub(crate) fn why(bytes: &[u8]) -> Result<Answer, String> {
    let value: Value = record(bytes)?;
    if value["kind"] == "difference" {
        return of_two(read(value)?);
    }
    let explanation: Explanation = read(value)?;
    let timed = &explanation.timed;
    let time = short_time(timed.wall.value);
    let command = name(&explanation.command);
    let what = match explanation.findings.first() {
        Some(first) => format!("{}: {}", first.id, sentence(&first.statement)),
        None => sentence(&explain_sentence(&explanation)),
    };
    let answer = match timed.runs {
        0 => format!("{command} did not finish: {what}"),
        _ => format!("{command} takes {time}: {what}"),
    };
    let mut lines = vec![answer.clone()];
    if !explanation.end.is_empty() {
        lines.push(format!("It ended: {}", sentence(&explanation.end)));
    }
    for (at, finding) in explanation.findings.iter().take(TOLD).enumerate() {
        lines.extend(in_lines(&explanation, finding, at));
    }
    if timed.runs > 0 {
        lines.push(format!(
            "Median of {}: {time} ({} % interval {} to {}).",
            counted(timed.runs as u64, "run", "runs"),
            (100.0 * timed.wall.level).floor(),
            short_time(timed.wall.low),
            short_time(timed.wall.high)
        ));
    }
    let rows: Vec<&WhereRow> = explanation
        .whereabouts
        .iter()
        .filter(|row| row.share >= MATTERS)
        .take(PLACES)
        .collect();
    lines.extend(rows.iter().map(|row| of_row(row)));
    let warnings = warnings(explanation.warnings.iter().map(String::as_str));
    lines.extend(warned(&warnings));
    let next = next(&explanation);
    let text = text(&lines, &next);
    let shown = explanation.findings.iter().take(FINDINGS);
    let structured = Why {
        answer,
        next: Some(next),
        wall_s: (timed.runs > 0).then(|| (&timed.wall).into()),
        findings: shown.map(Cause::of).collect(),
        whereabouts: rows.into_iter().map(Row::from).collect(),
        difference: None,
        tier: bare_name(&explanation.explaining.tier),
        warnings,
    };
    Answer::new(text, &structured)
}

fn of_two(record: DifferenceRecord) -> Result<Answer, String> {
    let found = difference(record);
    let structured = Why {
        answer: found.answer.clone(),
        next: found.next.clone(),
        wall_s: found.wall_s,
        findings: found.findings,
        whereabouts: Vec::new(),
        difference: Some(found.difference),
        tier: found.tier,
        warnings: found.warnings,
    };
    Answer::new(found.text, &structured)
}

impl From<&fathom_model::Proof> for Proof {
    fn from(proof: &fathom_model::Proof) -> Self {
        Self {
            verdict: word(&proof.verdict),
            intervention: proof.intervention.as_deref().map(sentence),
            saves_ms: proof.saves_ms.as_ref().map(|saves| saves.value),
            reason: proof.reason.as_deref().map(sentence),
        }
    }
}

/// Returns the name of a value as used in records.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

impl Cause {
    pub(super) fn of(finding: &Finding) -> Self {
        let ms = |ns: u64| ns as f64 / 1e6;
        Self {
            id: finding.id.as_str().to_owned(),
            statement: sentence(&finding.statement),
            share: finding.share,
            saving_ms: (finding.could_win_ns > 0).then(|| ms(finding.could_win_ns)),
            saving_low_ms: finding.saving.map(|saving| ms(saving.low_ns)),
            saving_high_ms: finding.saving.map(|saving| ms(saving.high_ns)),
            change: sentence(&finding.advice),
            object: finding.object.as_deref().map(bare_name),
            place: (&finding.code).into(),
            callers: finding
                .callers
                .iter()
                .take(CALLERS)
                .map(Place::from)
                .collect(),
            proof: finding.proof.as_ref().map(Proof::from),
        }
    }
}

impl From<&WhereRow> for Row {
    fn from(row: &WhereRow) -> Self {
        Self {
            share: row.share,
            kind: row.kind.key().to_owned(),
            call: row.call.as_deref().map(bare_name),
            object: row.object.as_deref().map(bare_name),
            group: row.group.as_deref().map(bare_name),
            place: (&row.place).into(),
            callers: row.callers.iter().take(CALLERS).map(Place::from).collect(),
            count: row.count,
        }
    }
}

/// Describes a cause in a few lines. The statement of the first one is already the answer.
fn in_lines(explanation: &Explanation, finding: &Finding, at: usize) -> Vec<String> {
    let saving = saving_sentence(explanation, finding);
    let saving = saving.unwrap_or_else(|| format!("{:.0} % of the time", 100.0 * finding.share));
    let statement = match at {
        0 => String::new(),
        _ => format!(": {}", sentence(&finding.statement)),
    };
    let mut lines = vec![format!("{}. {}{statement} [{saving}]", at + 1, finding.id)];
    let object = finding.object.as_deref().map(name);
    let place = in_words(&finding.code, &finding.callers);
    let at: Vec<String> = object.into_iter().chain(place).collect();
    if !at.is_empty() {
        lines.push(format!("   at: {}", at.join(" in ")));
    }
    lines.push(format!("   change: {}", sentence(&finding.advice)));
    let proof = proof_sentence(finding).map(|said| format!("   proof: {}", sentence(&said)));
    lines.extend(proof);
    lines
}

/// Formats a row: `48 % sleeping in clock_nanosleep, "main" (a.c:7), 30 times`.
fn of_row(row: &WhereRow) -> String {
    let mut parts = vec![format!(
        "{:.0} % {}",
        100.0 * row.share,
        row.kind.key().replace('_', " ")
    )];
    parts.extend(row.call.as_deref().map(bare_name));
    parts.extend(row.object.as_deref().map(name));
    parts.extend(row.group.as_deref().map(bare_name));
    parts.extend(in_words(&row.place, &row.callers));
    parts.extend(row.count.map(|count| counted(count, "time", "times")));
    parts.join(", ")
}

fn next(explanation: &Explanation) -> String {
    if let Some(names) = &explanation.explaining.names_by {
        return format!("for function names, run {}", name(names));
    }
    match explanation.findings.is_empty() {
        true => {
            "no cause was found; look at the largest part of the time. Check a change with bench, comparing the old \
             and the new command"
                .to_owned()
        }
        false if explanation.findings.iter().all(|one| one.proof.is_none()) => {
            "make change 1, or run why with prove; then run bench with the old and the new command to see what it \
             saved"
                .to_owned()
        }
        false => "make change 1, then run bench with the old and the new command to see what it saved"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the answer from a recorded explanation after a change.
    fn said(change: impl FnOnce(&mut Value)) -> Answer {
        let recorded = include_str!("../../../report/tests/version1/why.json");
        let mut record: Value = serde_json::from_str(recorded).unwrap();
        change(&mut record);
        why(&serde_json::to_vec(&record).unwrap()).unwrap()
    }

    #[test]
    fn a_proof_is_said_as_the_report_says_it() {
        let proof = serde_json::json!({
            "verdict": "proved", "intervention": "no-sleep", "with_ms": 715.2, "without_ms": 258.1,
            "saves_ms": {"value": 455.0, "low": 440.2, "high": 469.9}, "reason": null
        });
        let answer = said(|record| record["findings"][0]["proof"] = proof);
        let line = "   proof: proved: 715 -> 258 ms without it (saves 440 to 470";
        assert!(answer.text.contains(line), "{}", answer.text);
        let proof = &answer.structured["findings"][0]["proof"];
        assert_eq!(proof["verdict"], "proved");
        assert_eq!(proof["saves_ms"], 455.0);
    }

    #[test]
    fn a_row_of_many_functions_says_what_they_do() {
        let row = serde_json::json!({
            "share": 0.4, "ns": 80_000_000, "kind": "user_code", "call": null, "object": null,
            "function": "malloc", "source_file": null, "line": null, "binary": "libc.so.6",
            "group": "allocation", "callers": [], "count": null, "role": null
        });
        let answer = said(|record| record["where"] = serde_json::json!([row]));
        assert_eq!(answer.structured["where"][0]["group"], "allocation");
        let line = "\n40 % user code, allocation, \"malloc\"\n";
        assert!(answer.text.contains(line), "{}", answer.text);
    }
}
