//! The distributions, all programs side by side.

use fathom_model::{StartupMetric, StartupRecord, StartupSummary};

use super::words;
use crate::line::{Page, Tone};
use crate::why::columns::{Column, write as write_columns};

/// One table for each stretch: `floor`, `p50`, `p90`, `p99`, `max`.
pub(super) fn write(page: &mut Page, record: &StartupRecord) {
    write_those(page, record, |_| true);
}

/// The same to the first byte of output, and to the exit of those that have none.
pub(super) fn write_short(page: &mut Page, record: &StartupRecord) {
    let has_output = |row: &StartupSummary| {
        record.summaries.iter().any(|other| {
            other.metric == StartupMetric::FirstOutput
                && (other.program, other.cache) == (row.program, row.cache)
        })
    };
    write_those(page, record, |row| {
        row.metric == StartupMetric::FirstOutput || !has_output(row)
    });
}

fn write_those(page: &mut Page, record: &StartupRecord, wanted: impl Fn(&StartupSummary) -> bool) {
    for metric in [StartupMetric::FirstOutput, StartupMetric::Exit] {
        let rows: Vec<&StartupSummary> = record
            .summaries
            .iter()
            .filter(|summary| summary.metric == metric && wanted(summary))
            .collect();
        if rows.is_empty() {
            continue;
        }
        page.gap();
        page.prose(
            0,
            Tone::Strong,
            &format!("From exec to the {}", words::metric(metric)),
        );
        let names: Vec<String> = rows.iter().map(|row| name(record, row)).collect();
        let column = |title, expendable, of: &dyn Fn(&StartupSummary) -> f64| {
            let cells = rows.iter().map(|row| words::time(of(row))).collect();
            Column::new(title, expendable, cells)
        };
        let columns = vec![
            column("floor", 0, &|row| row.floor),
            column("p50", 0, &|row| row.p50.value),
            column("p90", 0, &|row| row.p90),
            column("p99", 1, &|row| row.p99),
            column("max", 2, &|row| row.max),
        ];
        write_columns(page, "", &names, columns);
    }
}

/// The number under which a program goes, its name, and its state where there are two.
fn name(record: &StartupRecord, row: &StartupSummary) -> String {
    let name = record
        .programs
        .get(row.program)
        .map_or("?", |program| program.name.as_str());
    let number = match record.programs.len() {
        1 => String::new(),
        _ => format!("{}: ", row.program + 1),
    };
    match record.conditions.cold_by {
        None => format!("{number}{name}"),
        Some(_) => format!("{number}{} {name}", words::cache(row.cache)),
    }
}
