//! The verdict as a comment: only what changed, and empty if nothing changed.

use fathom_model::{GateBenchmark, GateRecord, GateVerdict};

use super::table::{verdict, why};
use super::{
    better, change, exact_levels, gate_answer, inside, inside_margin, levels, notable, notes,
};
use crate::document::{Cell, Document, Kind, Table, markdown};
use crate::line::Tone;
use crate::why::markdown_with_code;

/// The maximum number of rows of a comment.
const ROWS: usize = 20;

/// Formats a comment in Markdown; empty if there is nothing to report.
pub fn gate_markdown(record: &GateRecord) -> String {
    let mut rows = notable(record);
    rows.extend(
        better(record)
            .into_iter()
            .filter(|row| row.verdict == GateVerdict::NotWorse),
    );
    rows.extend(inside_margin(record));
    let quiet = rows.is_empty()
        && record.exact_changes.is_empty()
        && record.settings_changed.is_empty()
        && record.notes.is_empty()
        && record.verdict == GateVerdict::NotWorse;
    if quiet {
        return String::new();
    }
    let mut out = Document::default();
    out.prose(0, Tone::Strong, gate_answer(record));
    let mut table = Table::new("Gate")
        .column("benchmark", Kind::Name)
        .column("verdict", Kind::Words)
        .column("change (95 % interval)", Kind::Number)
        .column("base → head", Kind::Number)
        .column("why", Kind::Words);
    for row in rows.iter().take(ROWS) {
        let shown = match &row.budget {
            Some(budget) => format!("{} {budget}", row.metric),
            None if is_small(row) => inside(row),
            None => change(row),
        };
        let cells = [
            code(&row.name),
            word(row).to_owned(),
            shown,
            levels(row).replace("->", "→"),
            why(row).join("; "),
        ];
        table.row("", cells.iter().map(|cell| Cell::words(cell)).collect());
    }
    out.table(table);
    if rows.len() > ROWS {
        let more = rows.len() - ROWS;
        out.prose(0, Tone::Plain, format!("{more} more."));
    }
    for one in record.exact_changes.iter().take(ROWS) {
        let (name, levels) = (code(&one.benchmark), exact_levels(one).replace("->", "→"));
        let note = format!("{name} {}: {levels}, no budget", one.metric);
        out.item(&note, "", String::new());
    }
    for note in notes(record) {
        out.item(&note, "", String::new());
    }
    markdown(&out, markdown_with_code, 2)
        .trim_start()
        .to_owned()
}

/// Formats a name as code.
fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Returns whether a shown row isn't worse: it is better, or slower within the margin.
fn is_small(row: &GateBenchmark) -> bool {
    let is_worse = |value: f64| (value > 1.0) != row.higher_is_better;
    row.verdict == GateVerdict::NotWorse && row.ratio.is_some_and(|ratio| is_worse(ratio.value))
}

fn word(row: &GateBenchmark) -> &'static str {
    match row.verdict {
        GateVerdict::NotWorse if !is_small(row) => "better",
        _ => verdict(row).0,
    }
}
