//! The record as GitHub Markdown: for a README of a catalogue, or a pull request.

use fathom_model::{ClaimResult, ExperimentRecord, Layer};

use super::pictures;
use super::terminal::machine;
use super::words;
use crate::waits;
use crate::why::markdown_text as plain;

/// Each experiment with its tables of claims. Text from outside can't become markup, a mention or a
/// link.
pub fn experiment_markdown(records: &[ExperimentRecord]) -> String {
    let mut out = String::new();
    for (index, record) in records.iter().enumerate() {
        if index > 0 {
            out.push_str("\n---\n\n");
        }
        one(&mut out, record);
    }
    if records.len() > 1 {
        let all: Vec<ClaimResult> = records.iter().flat_map(|r| r.claims.clone()).collect();
        out.push_str(&format!(
            "\n---\n\n{} experiments, {} claims: {}\n",
            records.len(),
            all.len(),
            words::tally(&all)
        ));
    }
    out
}

fn one(out: &mut String, record: &ExperimentRecord) {
    out.push_str(&format!("## {}\n", plain(&record.title)));
    if let Some(question) = &record.question {
        out.push_str(&format!("\n{}\n", plain(question)));
    }
    if let Some(text) = words::source(record) {
        out.push_str(&format!("\nPublished: {}\n", plain(&text)));
    }
    if !record.complete {
        out.push_str(
            "\n**Partial**: not everything was measured; the notes at the end say what.\n",
        );
    }
    if let Some(waits) = waits::line(record.cpu_waits.as_ref()) {
        out.push_str(&format!("\n{waits}.\n"));
    }
    for layer in [Layer::Arithmetic, Layer::Mechanism, Layer::Size] {
        let claims: Vec<&ClaimResult> = record.claims.iter().filter(|c| c.layer == layer).collect();
        if claims.is_empty() {
            continue;
        }
        out.push_str(&format!(
            "\n### {}\n\n| Claim | Published | {} | Verdict |\n|:---|:---|:---|:---|\n",
            words::layer(layer),
            words::here(layer)
        ));
        for claim in claims {
            row(out, claim);
        }
    }
    pictures::markdown(out, record, plain);
    answers(out, record, plain);
    footer(out, record);
}

fn row(out: &mut String, claim: &ClaimResult) {
    let measured: Vec<String> = words::measured(claim).iter().map(|m| plain(m)).collect();
    let mut verdict = format!("**{}**", words::verdict(claim));
    if claim.budget {
        verdict.push_str(" (budget)");
    }
    for remark in words::remarks(claim) {
        verdict.push_str(&format!("<br>{}", plain(&remark)));
    }
    out.push_str(&format!(
        "| {} | {} | {} | {verdict} |\n",
        plain(&claim.text),
        plain(&words::published(claim.published.as_ref())),
        measured.join("<br>")
    ));
}

/// The open questions of the source, each with what it rests on here; `plain` escapes a text.
pub(super) fn answers(out: &mut String, record: &ExperimentRecord, plain: impl Fn(&str) -> String) {
    if record.answers.is_empty() {
        return;
    }
    out.push_str("\n### Open questions\n\n");
    for answer in &record.answers {
        out.push_str(&format!("- {} ", plain(&answer.question)));
        out.push_str(&format!("**{}**", plain(&answer.status)));
        for part in [&answer.answer, &answer.tried].into_iter().flatten() {
            out.push_str(&format!(": {}", plain(part)));
        }
        for (id, verdict) in &answer.evidence {
            out.push_str(&format!(" ({}: {})", plain(id), verdict.name()));
        }
        out.push('\n');
    }
}

fn footer(out: &mut String, record: &ExperimentRecord) {
    let mut lines = Vec::new();
    for tool in &record.tools {
        match (&tool.version, &tool.missing) {
            (Some(version), _) => lines.push(format!("{}: {version}", tool.name)),
            (None, Some(missing)) => lines.push(missing.clone()),
            (None, None) => {}
        }
    }
    lines.extend(
        record
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}")),
    );
    for measure in &record.measures {
        let notes = measure.notes.iter();
        lines.extend(notes.map(|note| format!("{}: {note}", measure.id)));
    }
    lines.push(machine(record));
    if record.quick {
        lines.push("quick set".to_string());
    }
    out.push_str(&format!("\n{}.\n", words::tally(&record.claims)));
    for line in lines {
        out.push_str(&format!("\n{}\n", plain(&line)));
    }
}
