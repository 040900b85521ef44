//! Versions: the figures of each one as a multiple of the first version's.

use fathom_model::{Report, VersionState, VersionsRecord};

use crate::axis::Axis;
use crate::page::{
    BOTTOM, Cell, Kind, LEFT, Lines, Point, RIGHT, Series, TOP, Table, figure, lines,
};
use crate::quantity::signed;
use crate::text::{bounded, html};

/// The maximum number of labels with a column; the newest ones are kept.
const MOST_COLUMNS: usize = 8;
/// The maximum number of benchmarks with a row.
const MOST_ROWS: usize = 120;
/// The maximum number of versions named below the picture.
const MOST_NAMES: usize = 6;

/// Formats the geometric mean of all benchmarks that every label has, and each benchmark in a row; empty if
/// there are fewer than two labels.
pub(super) fn of_labels(report: &Report) -> String {
    let mut labels: Vec<&str> = Vec::new();
    for label in report.measurements.iter().flat_map(|one| &one.labels) {
        if !labels.contains(&label.as_str()) {
            labels.push(label);
        }
    }
    let labels = &labels[labels.len().saturating_sub(MOST_COLUMNS)..];
    if labels.len() < 2 {
        return String::new();
    }
    let mut rows: Vec<(usize, Vec<Option<f64>>)> = Vec::new();
    for (index, benchmark) in report.benchmarks.iter().enumerate() {
        let Some(main) = benchmark.main() else {
            continue;
        };
        let value = |label: &&str| {
            let has = |one: &&fathom_model::ReportPoint| {
                let labels = &report.measurements[one.measurement].labels;
                labels.iter().any(|own| own == label)
            };
            main.points.iter().rev().find(has)
        };
        let found: Vec<_> = labels.iter().map(value).collect();
        // Use the environment of the newest version, since figures from an older environment differ.
        let newest = found
            .iter()
            .flatten()
            .next_back()
            .map(|one| one.environment);
        let here = |one: &&&fathom_model::ReportPoint| Some(one.environment) == newest;
        let Some(first) = found.iter().flatten().find(here) else {
            continue;
        };
        let same = |one: &&fathom_model::ReportPoint| {
            one.environment == first.environment && first.value > 0.0 && one.value > 0.0
        };
        let factors = found
            .iter()
            .map(|one| Some(one.as_ref().filter(|one| same(one))?.value / first.value));
        rows.push((index, factors.collect()));
    }
    if rows.is_empty() {
        return String::new();
    }
    let names: Vec<String> = labels.iter().map(|label| bounded(label, 16)).collect();
    let mut out = String::new();
    let whole: Vec<&Vec<Option<f64>>> = rows
        .iter()
        .map(|(_, row)| row)
        .filter(|row| row.iter().all(Option::is_some))
        .collect();
    if !whole.is_empty() {
        let mean = |at: usize| {
            let logs = whole.iter().filter_map(|row| row[at]).map(f64::ln);
            (logs.sum::<f64>() / whole.len() as f64).exp()
        };
        let values: Vec<(f64, Option<(f64, f64)>)> =
            (0..labels.len()).map(|at| (mean(at), None)).collect();
        out.push_str(&picture(
            &names,
            &values,
            &format!("Geometric mean of {} benchmarks that every version has, as a multiple of the first.", whole.len()),
        ));
    }
    let mut table = Table::new("Versions").column("benchmark", Kind::Name);
    for name in &names {
        table = table.column(&crate::escape(name), Kind::Number);
    }
    for (index, row) in rows.iter().take(MOST_ROWS) {
        let mut cells = vec![Cell::name(&report.benchmarks[*index].shown())];
        cells.extend(row.iter().map(|factor| match factor {
            Some(factor) => Cell::number(&signed(*factor), *factor),
            None => Cell::none("not measured, or in another environment"),
        }));
        table.row("", cells);
    }
    out + &table.html()
}

/// Formats a record of `versions`: each version as a multiple of the first.
pub(super) fn of_record(record: &VersionsRecord) -> String {
    let measured: Vec<_> = record
        .versions
        .iter()
        .filter(|one| one.state == VersionState::Measured)
        .filter_map(|one| Some((one, one.since_first.as_ref()?)))
        .collect();
    let names: Vec<String> = measured
        .iter()
        .map(|(one, _)| bounded(&one.version, 16))
        .collect();
    let values: Vec<_> = measured
        .iter()
        .map(|(_, ratio)| (ratio.value, Some((ratio.low, ratio.high))))
        .collect();
    let command = format!(
        "<p><code>{}</code></p>\n",
        html(&bounded(&record.command, 200))
    );
    match values.len() {
        0 => command,
        _ => {
            command
                + &picture(
                    &names,
                    &values,
                    "As a multiple of the first version, by round.",
                )
        }
    }
}

fn picture(names: &[String], values: &[(f64, Option<(f64, f64)>)], caption: &str) -> String {
    let ends = values.iter().flat_map(|(value, interval)| {
        let (low, high) = interval.unwrap_or((*value, *value));
        [low, high, *value, 1.0]
    });
    let up = Axis::around(ends, BOTTOM, TOP);
    let across = Axis::even([0.0, names.len() as f64 - 1.0].into_iter(), LEFT, RIGHT);
    let every = names.len().div_ceil(MOST_NAMES).max(1);
    let ticks = names.iter().enumerate().step_by(every);
    let ticks = ticks.map(|(at, name)| (at as f64, name.clone())).collect();
    let points = values
        .iter()
        .zip(names)
        .enumerate()
        .map(|(at, ((value, interval), name))| Point {
            x: at as f64,
            value: *value,
            interval: *interval,
            joined: at > 0,
            hollow: false,
            title: format!("{name}: {}", signed(*value)),
        });
    let series = [Series {
        points: points.collect(),
    }];
    let drawing = lines(
        "Versions",
        &Lines {
            series: &series,
            marks: &[],
            across: &across,
            across_ticks: ticks,
            up_ticks: up.numbers("x"),
            up: &up,
            over: "version",
            stops: names.len() <= 60,
        },
    );
    figure(&drawing, caption)
}
