//! The tables of the page.

use fathom_model::{Comparison, Metric, Summary, Unit};

use super::figures::FEWEST_FOR_P90;
use crate::page::{Cell, Kind, Table};
use crate::quantity::{
    Words, change, change_and_interval, fixed, format_level, is_counted, supported_decimals,
};
use crate::session::Subject;
use crate::{TimeUnit, format_count, format_metric};

fn count(runs: usize) -> Cell {
    Cell::number(&format_count(runs as f64), runs as f64)
}

/// Returns a table with a row for each comparison.
pub(super) fn comparisons(all: &[Comparison], subjects: &[Subject]) -> Table {
    // Counts have no interval.
    let mut sampled = all.iter().filter(|one| !is_counted(&one.ratio));
    let level = sampled.next().map_or(0.95, |one| one.ratio.level);
    let mut table = Table::new("Comparisons")
        .column("command", Kind::Name)
        .column("against", Kind::Number)
        .column("verdict", Kind::Words)
        .column("difference", Kind::Number)
        .column(&format!("{} interval", format_level(level)), Kind::Number);
    for head in ["p10", "p50", "p90", "rounds"] {
        table = table.column(head, Kind::Number);
    }
    for comparison in all {
        let about = Words::of(comparison.metric);
        let (difference, interval) = change_and_interval(&comparison.ratio, about);
        // The level is in the column head, unless the level of this comparison differs.
        let head = format!("{} interval ", format_level(level));
        let interval = interval.strip_prefix(&head).unwrap_or(&interval);
        let ratio = |ratio: f64| Cell::number(&change(ratio, about), ratio);
        table.row(
            "",
            vec![
                Cell::name(&numbered(subjects, comparison.subject)),
                number(subjects, comparison.reference),
                Cell::words(about.word(comparison.verdict)),
                Cell::number(&difference, comparison.ratio.value),
                Cell::number(interval, comparison.ratio.low),
                ratio(comparison.shift.p10),
                ratio(comparison.shift.p50),
                ratio(comparison.shift.p90),
                count(comparison.rounds),
            ],
        );
    }
    table
}

/// Returns the number of a command, with its name as a tooltip.
fn number(subjects: &[Subject], index: usize) -> Cell {
    let number = index.saturating_add(1);
    let name = subjects
        .get(index)
        .map_or("?", |s| s.benchmark.name.as_str());
    Cell::number(&number.to_string(), number as f64).with_title(name)
}

/// Formats `2 gzip -9 f`; not trustworthy.
pub(super) fn numbered(subjects: &[Subject], index: usize) -> String {
    let name = subjects
        .get(index)
        .map_or("?", |s| s.benchmark.name.as_str());
    format!("{} {name}", index.saturating_add(1))
}

/// Returns a table of every metric of every command.
pub(super) fn metrics(subjects: &[Subject]) -> Table {
    let mut table = Table::new("All metrics").column("metric", Kind::Name);
    if subjects.len() > 1 {
        table = table.column("command", Kind::Number);
    }
    for head in ["median", "low", "high", "min", "p90", "max", "runs"] {
        table = table.column(head, Kind::Number);
    }
    for metric in Metric::ALL {
        for subject in subjects {
            let Some(summary) = subject.summary(metric) else {
                continue;
            };
            let mut cells = vec![Cell::words(metric.label()).with_title(metric.name())];
            if subjects.len() > 1 {
                cells.push(number(subjects, subject.index));
            }
            let write = writer(metric, summary);
            let cell = |value: f64| Cell::number(&write(value), value);
            let has_interval = summary.median.level > 0.0;
            let end = |value: f64| match has_interval {
                true => cell(value),
                false => Cell::none("a single run has no interval"),
            };
            cells.push(cell(summary.median.value));
            cells.push(end(summary.median.low));
            cells.push(end(summary.median.high));
            cells.push(cell(summary.min));
            cells.push(match summary.runs >= FEWEST_FOR_P90 {
                true => cell(summary.p90),
                false => Cell::none("takes 10 runs"),
            });
            cells.push(cell(summary.max));
            cells.push(count(summary.runs));
            table.row("", cells);
        }
    }
    table
}

/// Returns the formatter of a metric's values: those of a row share a unit.
fn writer(metric: Metric, summary: &Summary) -> impl Fn(f64) -> String {
    let scale = [summary.median.value, summary.p90, summary.max];
    let scale = scale.into_iter().find(|value| *value > 0.0).unwrap_or(0.0);
    let unit = TimeUnit::fitting(scale);
    let decimals = supported_decimals(&summary.median, unit.seconds());
    move |value| match metric.unit() {
        // If a value is a thousand times the usual one, its own unit is more readable.
        Unit::Seconds if value < 1000.0 * unit.seconds() => {
            let number = fixed(value / unit.seconds(), decimals);
            format!("{number} {}", unit.symbol())
        }
        _ => format_metric(metric, value),
    }
}
