//! The verdict as a comment: only what changed, and nothing when nothing did.

use fathom_model::{GateBenchmark, GateRecord, GateVerdict};

use super::table::{verdict, why};
use super::{
    better, exact_levels, false_failures, gate_answer, inside, inside_margin, levels, notable,
    ratio,
};
use crate::bench::code;
use crate::text::escape;

/// Rows of a comment.
const ROWS: usize = 20;

/// A comment in Markdown, empty if there is nothing to say.
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
    let mut out = format!("**{}**\n", gate_answer(record));
    if !rows.is_empty() {
        out.push_str("\n| benchmark | verdict | change (95 % interval) | base → head | why |\n|:---|:---|---:|---:|:---|\n");
        for row in rows.iter().take(ROWS) {
            out.push_str(&format!(
                "| {} | {} | {} | {} | {} |\n",
                code(&escape(&row.name)),
                word(row),
                match &row.budget {
                    Some(budget) => text(&format!("{} {budget}", row.metric)),
                    None if is_small(row) => inside(row),
                    None => ratio(row),
                },
                text(&levels(row).replace("->", "→")),
                text(&why(row).join("; ")),
            ));
        }
        if rows.len() > ROWS {
            out.push_str(&format!("\n{} more.\n", rows.len() - ROWS));
        }
    }
    let mut notes: Vec<String> = record
        .exact_changes
        .iter()
        .take(ROWS)
        .map(|one| {
            format!(
                "{} {}: {}, no budget",
                code(&escape(&one.benchmark)),
                text(&one.metric),
                exact_levels(one).replace("->", "→")
            )
        })
        .collect();
    let settings = record.settings_changed.iter();
    notes.extend(
        settings.map(|what| format!("head changes the gate's {}; base's applies", text(what))),
    );
    notes.extend(record.notes.iter().map(|note| text(note)));
    notes.extend(false_failures(record));
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        out.push_str(&format!("- {note}\n"));
    }
    out
}

/// Among the rows that are shown, those that aren't worse are better, or slower inside the margin.
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

/// Text from outside in a paragraph or a cell: no markup, no link, no mention of a person.
fn text(from_outside: &str) -> String {
    let mut out = String::new();
    for character in escape(from_outside).chars() {
        match character {
            ' ' | '.' | ',' | ';' | '-' | '/' | '%' | '+' | '=' | '(' | ')' => out.push(character),
            other if other.is_ascii_punctuation() => {
                out.push_str(&format!("&#{};", u32::from(other)));
            }
            other => out.push(other),
        }
    }
    // What looks like an address becomes a link by itself.
    out.replace("www.", "www&#46;")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn nothing_from_outside_is_markup() {
        let hostile = "<img src=x> @team [a](http://b) `c` **d** | e\n# f";
        let shown = text(hostile);
        for forbidden in ['<', '>', '@', '[', ']', '`', '*', '|', '\n', ':'] {
            assert!(!shown.contains(forbidden), "{forbidden:?} in {shown}");
        }
    }
}
