//! The first table: a row for each command, with all values of a metric in one unit.

use fathom_model::{BenchRecord, Comparison, Metric, Summary, Unit};

use super::terminal::verdict::short;
use crate::document::{Cell, Kind, Place, Table};
use crate::line::Tone;
use crate::quantity::{self, InUnit, format_level};
use crate::session::Subject;
use crate::{TimeUnit, format_count};

/// The minimum width of a name in columns. The least important column of the table makes room for it.
const SHORTEST_NAME: usize = 24;
/// With fewer runs, the 90th or 99th percentile would be the maximum under a different name.
pub(super) const FEWEST_FOR_P90: usize = 10;
pub(super) const FEWEST_FOR_P99: usize = 100;

/// Returns a table with the medians of a metric, their intervals, and quantiles, for the commands in
/// `ordered`. The unit is the fitting one unless one was requested.
pub(super) fn table(
    record: &BenchRecord,
    ordered: &[&Subject],
    metric: Metric,
    asked: Option<TimeUnit>,
) -> Table {
    let known = || ordered.iter().filter_map(|subject| subject.summary(metric));
    let medians: Vec<f64> = known().map(|summary| summary.median.value).collect();
    let unit = InUnit::of_all(metric, &medians, asked);
    // The lowest level applies to all rows.
    let levels = known().map(|summary| summary.median.level);
    let level = levels.filter(|level| *level > 0.0).fold(1.0, f64::min);
    let interval = format!("{} interval", format_level(level));
    let compared = record.outcome.iter().flat_map(|o| &o.comparisons);
    let compared: Vec<&Comparison> = compared.filter(|one| one.metric == metric).collect();
    let p90_is_known = known().all(|summary| summary.runs >= FEWEST_FOR_P90);
    let one = ordered.len() == 1;
    let number_width = match ordered.len() {
        0 | 1 => 0,
        many => many.to_string().len() + 2,
    };
    let also_on_screen = |shown| match shown {
        true => Place::Everywhere,
        false => Place::Page,
    };
    // The verdict of a single comparison is a sentence instead.
    let verdicts = compared.len() > 1;
    let title = match metric.unit() {
        Unit::Seconds => "Times of each command",
        Unit::Bytes | Unit::Count => metric.label(),
    };
    let mut table = Table::new(title).placed(metric.label(), Kind::Name, Place::Terminal(0));
    if !one {
        table = table.placed("", Kind::Number, Place::Page);
    }
    table = table
        .placed("command", Kind::Name, Place::Page)
        .column("median", Kind::Number)
        .column(&interval, Kind::Number)
        .expendable(u8::from(verdicts))
        .placed("min", Kind::Number, also_on_screen(one))
        .expendable(5)
        .placed("p10", Kind::Number, Place::Page)
        .placed("p90", Kind::Number, also_on_screen(p90_is_known))
        .expendable(2)
        .placed("p99", Kind::Number, Place::Page)
        .placed("max", Kind::Number, also_on_screen(one || !p90_is_known))
        .expendable(4)
        .column(beside(metric).1, Kind::Number)
        .expendable(3)
        .placed("runs", Kind::Number, Place::Page);
    if let Some(first) = compared.first() {
        let head = format!("against {}", first.reference.saturating_add(1));
        table = table.placed(&head, Kind::Words, also_on_screen(verdicts));
    }
    let mut table = table.spaced(3, SHORTEST_NAME + number_width);
    for subject in ordered {
        let name = &subject.benchmark.name;
        let number = subject.index.saturating_add(1);
        let mut cells = match one {
            true => vec![Cell::name(name).toned(Tone::Strong)],
            false => {
                let width = number_width - 2;
                vec![
                    Cell::name(&format!("{number:>width$}  {name}")).toned(Tone::Strong),
                    Cell::number(&number.to_string(), number as f64).with_title(name),
                ]
            }
        };
        cells.push(Cell::name(name));
        cells.extend(figures(subject, metric, unit));
        if !compared.is_empty() {
            let comparison = compared.iter().find(|one| one.subject == subject.index);
            cells.push(comparison.map_or(Cell::words(""), |one| verdict(one)));
        }
        table.row("", cells);
    }
    table
}

fn verdict(comparison: &Comparison) -> Cell {
    Cell::words(&short(comparison)).toned(Tone::of(comparison.verdict))
}

/// Returns the metric shown next to that of the table, with its column head.
fn beside(metric: Metric) -> (Metric, &'static str) {
    match metric {
        Metric::PeakMemory => (Metric::Wall, "wall time"),
        _ => (Metric::PeakMemory, "memory"),
    }
}

/// Returns the cells: median, interval, min, p10, p90, p99, max, the additional metric, and runs.
fn figures(subject: &Subject, metric: Metric, unit: InUnit) -> Vec<Cell> {
    let (other, _) = beside(metric);
    let other = match subject.median(other) {
        Some(value) => Cell::number(&quantity::format_metric(other, value), value),
        None => Cell::absent("not known"),
    };
    let runs = subject.runs.len();
    let runs = Cell::number(&format_count(runs as f64), runs as f64);
    let mut cells = match subject.summary(metric) {
        Some(summary) => values(summary, unit),
        None => {
            let why = match subject.runs.is_empty() {
                true => "no run",
                false => "not known",
            };
            let missing = (0..6).map(|_| Cell::absent("not summarised"));
            std::iter::once(Cell::words(why).toned(Tone::Strong))
                .chain(missing)
                .collect()
        }
    };
    cells.extend([other, runs]);
    cells
}

fn values(summary: &Summary, unit: InUnit) -> Vec<Cell> {
    let median = &summary.median;
    let decimals = unit.decimals(median);
    let number = |value: f64| unit.number(value, decimals);
    let cell = |value: f64| Cell::number(&number(value), value);
    let from = |fewest: usize, value: f64| match summary.runs >= fewest {
        true => cell(value),
        false => Cell::absent(&format!("takes {fewest} runs")),
    };
    let interval = match median.level > 0.0 {
        true => {
            let ends = format!("{} to {}", number(median.low), number(median.high));
            Cell::number(&ends, median.low)
        }
        false => Cell::absent("a single run has no interval"),
    };
    let with_unit = unit.with_symbol(&number(median.value));
    vec![
        Cell::number(&with_unit, median.value).toned(Tone::Strong),
        interval,
        cell(summary.min),
        from(FEWEST_FOR_P90, summary.p10),
        from(FEWEST_FOR_P90, summary.p90),
        from(FEWEST_FOR_P99, summary.p99),
        cell(summary.max),
    ]
}
