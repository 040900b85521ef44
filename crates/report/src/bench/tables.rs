//! The tables of the page.

use fathom_model::{BenchRecord, Comparison, Estimate, Metric, Summary, Unit};

use super::terminal::{overview, verdict};
use crate::page::{Cell, Kind, Table};
use crate::quantity::{
    Words, change, change_and_interval, fixed, format_level, short_time, supported_decimals,
};
use crate::session::Subject;
use crate::{TimeUnit, format_bytes, format_count};

/// Of fewer runs 99 in 100 are all of them.
const FEWEST_FOR_P99: usize = 100;

/// A time in `unit` without its symbol, with the digits that `estimate` supports.
pub(super) fn time(value: f64, estimate: &Estimate, unit: TimeUnit) -> String {
    let decimals = supported_decimals(estimate, unit.seconds());
    fixed(value / unit.seconds(), decimals)
}

/// A row for each command, all in one unit: the median with its interval, and the quantiles.
pub(super) fn figures(record: &BenchRecord, subjects: &[Subject], clock: Metric) -> String {
    let known = || subjects.iter().filter_map(|subject| subject.summary(clock));
    let medians: Vec<f64> = known().map(|summary| summary.median.value).collect();
    let unit = overview::unit(&medians);
    let levels = known().map(|summary| summary.median.level);
    let level = levels.filter(|level| *level > 0.0).fold(1.0, f64::min);
    let interval = format!("{} interval", format_level(level));
    let compared = record.outcome.as_ref().and_then(|o| o.comparisons.first());
    let mut table = Table::new("Times of each command");
    if subjects.len() > 1 {
        table = table.column("", Kind::Number);
    }
    table = table
        .column("command", Kind::Name)
        .column(&format!("median ({})", unit.symbol()), Kind::Number)
        .column(&interval, Kind::Number);
    for quantile in ["min", "p10", "p90", "p99", "max", "runs"] {
        table = table.column(quantile, Kind::Number);
    }
    if let Some(first) = compared {
        table = table.column(
            &format!("against {}", first.reference.saturating_add(1)),
            Kind::Words,
        );
    }
    for subject in subjects {
        let mut cells = Vec::new();
        if subjects.len() > 1 {
            cells.push(number(subjects, subject.index));
        }
        cells.push(Cell::name(&subject.benchmark.name));
        match subject.summary(clock) {
            None => cells.extend((0..7).map(|_| Cell::none("not summarised"))),
            Some(summary) => cells.extend(quantiles(summary, unit)),
        }
        cells.push(count(subject.runs.len()));
        if compared.is_some() {
            cells.push(match overview::comparison_of(record, subject.index) {
                Some(comparison) => {
                    let class = match verdict::tone(comparison) {
                        crate::line::Tone::Good => "good",
                        crate::line::Tone::Bad => "bad",
                        _ => "",
                    };
                    let words = crate::text::words(&verdict::short(comparison));
                    Cell::markup(format!("<span class=\"{class}\">{words}</span>"))
                }
                None => Cell::words(""),
            });
        }
        table.row("", cells);
    }
    table.html()
}

fn count(runs: usize) -> Cell {
    Cell::number(&format_count(runs as f64), runs as f64)
}

/// Median, interval, min, p10, p90, p99, max.
fn quantiles(summary: &Summary, unit: TimeUnit) -> Vec<Cell> {
    let median = &summary.median;
    let cell = |value: f64| Cell::number(&time(value, median, unit), value);
    let from = |fewest: usize, value: f64| match summary.runs >= fewest {
        true => cell(value),
        false => Cell::none(&format!("takes {fewest} runs")),
    };
    let interval = match median.level > 0.0 {
        true => {
            let (low, high) = (
                time(median.low, median, unit),
                time(median.high, median, unit),
            );
            Cell::number(&format!("{low} to {high}"), median.low)
        }
        false => Cell::none("one run has no interval"),
    };
    vec![
        cell(median.value),
        interval,
        cell(summary.min),
        from(overview::FEWEST_FOR_P90, summary.p10),
        from(overview::FEWEST_FOR_P90, summary.p90),
        from(FEWEST_FOR_P99, summary.p99),
        cell(summary.max),
    ]
}

/// A row for each comparison.
pub(super) fn comparisons(all: &[Comparison], subjects: &[Subject]) -> String {
    let level = all.first().map_or(0.0, |comparison| comparison.ratio.level);
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
        // The level stands in the head, unless this one has another.
        let head = format!("{} interval ", format_level(level));
        let interval = interval.strip_prefix(&head).unwrap_or(&interval);
        let ratio = |ratio: f64| Cell::number(&change(ratio, about), ratio);
        table.row(
            "",
            vec![
                Cell::name(&numbered(subjects, comparison.subject)),
                number(subjects, comparison.reference),
                Cell::words(comparison.verdict.word()),
                Cell::number(&difference, comparison.ratio.value),
                Cell::number(interval, comparison.ratio.low),
                ratio(comparison.shift.p10),
                ratio(comparison.shift.p50),
                ratio(comparison.shift.p90),
                count(comparison.rounds),
            ],
        );
    }
    table.html()
}

/// The number of a command, with its name for who asks.
fn number(subjects: &[Subject], index: usize) -> Cell {
    let number = index.saturating_add(1);
    let name = subjects
        .get(index)
        .map_or("?", |s| s.benchmark.name.as_str());
    Cell::number(&number.to_string(), number as f64).with_title(name)
}

/// `2 gzip -9 f`, from outside.
pub(super) fn numbered(subjects: &[Subject], index: usize) -> String {
    let name = subjects
        .get(index)
        .map_or("?", |s| s.benchmark.name.as_str());
    format!("{} {name}", index.saturating_add(1))
}

/// Every metric of every command.
pub(super) fn metrics(subjects: &[Subject]) -> String {
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
            let mut cells = vec![Cell::words(label(metric)).with_title(metric.name())];
            if subjects.len() > 1 {
                cells.push(number(subjects, subject.index));
            }
            let write = writer(metric, summary);
            let cell = |value: f64| Cell::number(&write(value), value);
            let has_interval = summary.median.level > 0.0;
            let end = |value: f64| match has_interval {
                true => cell(value),
                false => Cell::none("one run has no interval"),
            };
            cells.push(cell(summary.median.value));
            cells.push(end(summary.median.low));
            cells.push(end(summary.median.high));
            cells.push(cell(summary.min));
            cells.push(match summary.runs >= overview::FEWEST_FOR_P90 {
                true => cell(summary.p90),
                false => Cell::none("takes 10 runs"),
            });
            cells.push(cell(summary.max));
            cells.push(count(summary.runs));
            table.row("", cells);
        }
    }
    match table.is_empty() {
        true => String::new(),
        false => table.html(),
    }
}

/// How the values of a metric are written: times of a row in one unit.
fn writer(metric: Metric, summary: &Summary) -> impl Fn(f64) -> String {
    let scale = [summary.median.value, summary.p90, summary.max];
    let scale = scale.into_iter().find(|value| *value > 0.0).unwrap_or(0.0);
    let unit = TimeUnit::fitting(scale);
    let decimals = supported_decimals(&summary.median, unit.seconds());
    move |value| match metric.unit() {
        // Where one is a thousand times the usual, its own unit reads better.
        Unit::Seconds if value >= 1000.0 * unit.seconds() => short_time(value),
        Unit::Seconds => {
            let number = fixed(value / unit.seconds(), decimals);
            format!("{number} {}", unit.symbol())
        }
        Unit::Bytes => format_bytes(value),
        Unit::Count => format_count(value),
    }
}

fn label(metric: Metric) -> &'static str {
    match metric {
        Metric::Wall => "wall time",
        Metric::Undisturbed => "CPU-wait-free time",
        Metric::Cpu => "CPU time",
        Metric::User => "CPU time, user",
        Metric::System => "CPU time, kernel",
        Metric::RunQueueWait => "waiting for a CPU",
        Metric::PeakMemory => "peak memory",
        Metric::MinorFaults => "page faults, minor",
        Metric::MajorFaults => "page faults, major",
        Metric::VoluntarySwitches => "switches, voluntary",
        Metric::InvoluntarySwitches => "switches, involuntary",
        Metric::ReadBytes => "read",
        Metric::WrittenBytes => "written",
        Metric::ReadCalls => "read calls",
        Metric::WriteCalls => "write calls",
    }
}
