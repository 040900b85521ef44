//! Records as lines, for `list`, `tag` and `prune`.

use fathom_report as report;
use fathom_store::{Head, date};

/// Minimum width of the names column, and its width if the terminal's width is unknown.
const NAMES: usize = 40;

/// Returns a line for each record, under a heading. `width` is the width of the terminal.
pub(super) fn lines(heads: &[Head], width: usize) -> String {
    let columns = [
        "id",
        "measured (UTC)",
        "revision",
        "kind",
        "labels",
        "benchmarks",
    ];
    let rows: Vec<[String; 6]> = heads.iter().map(row).collect();
    let wide = |column: usize| {
        let cells = rows.iter().map(|row| report::columns(&row[column]));
        cells.chain([columns[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(wide).collect();
    let left = width.saturating_sub(widths.iter().sum::<usize>() + 2 * widths.len());
    let line = |cells: &[String; 6]| {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let gap = width + 2 - report::columns(cell).min(width + 2);
            text.push_str(cell);
            text.push_str(&" ".repeat(gap));
        }
        text.push_str(&report::shorten(&cells[5], left.max(NAMES)));
        text.trim_end().to_owned() + "\n"
    };
    let head = line(&columns.map(str::to_owned));
    head + &rows.iter().map(line).collect::<String>()
}

fn row(head: &Head) -> [String; 6] {
    let revision = match &head.revision {
        None => "-".to_owned(),
        Some(revision) => {
            let begin: String = revision.id.chars().take(9).collect();
            let mark = if revision.dirty { "+" } else { "" };
            report::escape(&format!("{begin}{mark}"))
        }
    };
    let kind = match head.pruned {
        Some(_) => format!("{}, pruned", head.kind),
        None => head.kind.clone(),
    };
    [
        report::escape(head.short_id()),
        date::text(head.time)
            .chars()
            .take(16)
            .collect::<String>()
            .replace('T', " "),
        revision,
        report::escape(&kind),
        report::escape(&head.labels.join(", ")),
        report::escape(&head.command),
    ]
}
