//! One series: its last value, a plot and its points.

use fathom_model::quantity::counted;
use fathom_model::{HistoryPoint, HistoryRecord, HistorySeries, listed, with_parameters};

use super::plot::Bar;
use super::{in_words, last_change, minutes, plot, short_revision};
use crate::Screen;
use crate::document::{Cell, Kind, Table};
use crate::line::{Page, Tone};
use crate::quantity::{Scale, decimals_apart, signed};

/// The maximum number of points shown without `-v`.
const SHOWN: usize = 8;

/// Formats one series of `record` with its points. `change_points` are the indices of points that begin a new
/// level; `others` are the other metrics of the benchmark. Ends with a newline.
pub fn history_series(
    record: &HistoryRecord,
    series: &HistorySeries,
    change_points: &[usize],
    others: &[String],
    screen: &Screen,
) -> String {
    let mut page = Page::new(screen);
    let name = with_parameters(&series.benchmark, listed(&series.parameters));
    let text = format!("{name}: {}, {}", series.metric, series.meaning);
    page.prose(0, Tone::Strong, &text);
    let Some(last) = series.points.last() else {
        page.prose(0, Tone::Plain, "no points since then");
        return page.finish();
    };
    let scale = Scale::of(last.value, &series.unit);
    page.prose(0, Tone::Plain, &answer(series, last, &scale));
    page.gap();
    let bar = |(index, point): (usize, &HistoryPoint)| Bar {
        value: point.value,
        low: point.low,
        high: point.high,
        cut: index > 0 && series.points[index - 1].environment != point.environment,
        marked: change_points.contains(&index),
    };
    let bars: Vec<Bar> = series.points.iter().enumerate().map(bar).collect();
    let symbol = scale.symbol();
    plot::draw(&mut page, &bars, |value| {
        format!("{} {symbol}", scale.short(value))
            .trim_end()
            .to_owned()
    });
    page.gap();
    // Environments are numbered in order of appearance.
    let mut environments: Vec<&str> = Vec::new();
    for point in &series.points {
        if !environments.contains(&point.environment.as_str()) {
            environments.push(&point.environment);
        }
    }
    let from = match screen.verbose {
        true => 0,
        false => series.points.len().saturating_sub(SHOWN),
    };
    let table = table(&series.points[from..], &environments, &scale);
    table.terminal(&mut page, 0);
    page.gap();
    for (index, key) in environments.iter().enumerate() {
        let facts = record.environments.iter().find(|one| one.key == **key);
        let facts = facts.map(in_words).unwrap_or_default();
        page.prose(0, Tone::Quiet, &format!("env {}: {facts}", index + 1));
    }
    if !change_points.is_empty() {
        let mark = plot::change_mark(page.unicode());
        let text = format!("{mark} a lasting new level (a change point)");
        page.prose(0, Tone::Notice, &text);
    }
    page.prose(0, Tone::Quiet, &notes(series, from, others));
    page.finish()
}

/// Builds a table with a row for each point and its environment's number.
fn table(points: &[HistoryPoint], environments: &[&str], scale: &Scale) -> Table {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let bare = |row: usize, more: usize| {
        let point = &points[row];
        scale.bare(point.value, point.low, point.high, more)
    };
    let more = decimals_apart(&values, &bare);
    let place = |point: &HistoryPoint| {
        let mut known = environments.iter();
        let place = known.position(|key| *key == point.environment);
        place.map_or(0, |index| index + 1).to_string()
    };
    let mut table = Table::new("Points")
        .column("revision", Kind::Name)
        .column("measured (UTC)", Kind::Words)
        .column(format!("value {}", scale.symbol()).trim_end(), Kind::Number)
        .column("interval", Kind::Words)
        .column("runs", Kind::Number)
        .column("env", Kind::Words)
        .column("labels", Kind::Words);
    for (row, point) in points.iter().enumerate() {
        let interval = match point.low < point.high {
            true => scale.interval(point.value, point.low, point.high, more[row]),
            false => String::new(),
        };
        let cells = vec![
            Cell::name(&short_revision(point.revision.as_deref(), point.dirty)),
            Cell::words(&minutes(&point.time)),
            Cell::words(&bare(row, more[row])).toned(Tone::Strong),
            Cell::words(&interval),
            Cell::words(&point.runs.to_string()),
            Cell::words(&place(point)),
            Cell::words(&point.labels.join(", ")),
        ];
        table.row("", cells);
    }
    table
}

fn answer(series: &HistorySeries, last: &HistoryPoint, scale: &Scale) -> String {
    let change = match last_change(series) {
        Some(change) => format!(", {} compared with the previous one", signed(change)),
        None if series.points.len() > 1 => ", the first in its environment".to_owned(),
        None => String::new(),
    };
    let first = &series.points[0];
    let day = |time: &str| time.chars().take(10).collect::<String>();
    let span = match (day(&first.time), day(&last.time)) {
        (one, same) if one == same => format!("on {one}"),
        (one, other) => format!("from {one} to {other}"),
    };
    format!(
        "last {}{change}; {} {span}",
        scale.estimate(last.value, last.low, last.high),
        counted(series.points.len() as u64, "point", "points"),
    )
}

fn notes(series: &HistorySeries, hidden: usize, others: &[String]) -> String {
    let mut notes = Vec::new();
    if series.points.iter().any(|point| point.dirty) {
        notes.push("+: tracked files differed from the revision".to_owned());
    }
    if hidden > 0 {
        notes.push(format!(
            "{} with -v",
            counted(hidden as u64, "earlier point", "earlier points")
        ));
    }
    if !others.is_empty() {
        let shown = others.len().min(6);
        let more = match others.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        notes.push(format!("--metric {}{more}", others[..shown].join(", ")));
    }
    notes.join("; ")
}
