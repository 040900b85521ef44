//! The distributions of all programs, side by side.

use fathom_model::{StartupMetric, StartupRecord, StartupSummary};

use super::words;
use crate::document::{Cell, Document, Form, Kind, Place, Table};
use crate::format_count;
use crate::page::{Rungs, ladder, ladder_axis};

/// Adds one section for each metric. A screen only has the first byte of output, or the exit for programs
/// without output.
pub(super) fn add(out: &mut Document, record: &StartupRecord, form: Form) {
    let has_output = |row: &StartupSummary| {
        record.summaries.iter().any(|other| {
            other.metric == StartupMetric::FirstOutput
                && (other.program, other.cache) == (row.program, row.cache)
        })
    };
    for metric in [StartupMetric::FirstOutput, StartupMetric::Exit] {
        let is_shown = |row: &&StartupSummary| {
            row.metric == metric
                && (form != Form::Brief || metric == StartupMetric::FirstOutput || !has_output(row))
        };
        let rows: Vec<&StartupSummary> = record.summaries.iter().filter(is_shown).collect();
        let heading = format!("From exec to the {}", words::metric(metric));
        out.section(heading, |part| {
            if form == Form::Page {
                part.picture(picture(record, &rows));
            }
            part.table(table(record, &rows));
        });
    }
}

/// Returns the quantiles of a distribution by name.
fn quantiles(row: &StartupSummary) -> [(&'static str, f64); 5] {
    [
        ("min", row.floor),
        ("p50", row.p50.value),
        ("p90", row.p90),
        ("p99", row.p99),
        ("max", row.max),
    ]
}

fn picture(record: &StartupRecord, rows: &[&StartupSummary]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let name = |row: &&StartupSummary| {
        words::numbered(record, row.program) + &words::state(record, row.cache, ", ", "")
    };
    let names: Vec<String> = rows.iter().map(name).collect();
    let rungs = rows.iter().zip(&names).map(|(row, name)| Rungs {
        name,
        figures: quantiles(row)
            .map(|(what, value)| (value, format!("{what} {}", words::time(value))))
            .to_vec(),
        main: 1,
        colour: row.program,
    });
    let rungs: Vec<Rungs> = rungs.collect();
    let axis = ladder_axis(rungs.iter());
    let caption = "From left to right: min, median (the dot), p90, p99, max.";
    ladder(&rungs, &axis, &axis.times(), None, "Distributions", caption)
}

fn table(record: &StartupRecord, rows: &[&StartupSummary]) -> Table {
    let mut table = Table::new("Distributions")
        .placed("", Kind::Name, Place::Terminal(0))
        .placed("program", Kind::Name, Place::Page)
        .placed("state", Kind::Words, Place::Page)
        .placed("runs", Kind::Number, Place::Page)
        .placed("void", Kind::Number, Place::Page)
        .column("min", Kind::Number)
        .column("p50", Kind::Number)
        .column("p90", Kind::Number)
        .column("p99", Kind::Number)
        .expendable(1)
        .column("max", Kind::Number)
        .expendable(2);
    for row in rows {
        let count = |count: usize| Cell::number(&format_count(count as f64), count as f64);
        let name = words::name(record, row.program);
        let number = words::number(record, row.program);
        let state = words::state(record, row.cache, "", " ");
        let interval = format!(
            "{} to {}",
            words::time(row.p50.low),
            words::time(row.p50.high)
        );
        let mut cells = vec![
            Cell::name(&format!("{number}{state}{name}")),
            Cell::name(&words::numbered(record, row.program)),
            Cell::words(words::cache(row.cache)),
            count(row.runs),
            count(row.void_runs),
        ];
        cells.extend(quantiles(row).map(|(what, value)| {
            let cell = Cell::number(&words::time(value), value);
            cell.with_title(if what == "p50" { &interval } else { "" })
        }));
        table.row("", cells);
    }
    table
}
