//! A row for every benchmark, readable without a script.

use std::fmt::Write;

use fathom_model::{Report, ReportComparison, ReportSeries, Verdict};

use super::data::key;
use crate::line::Tone;
use crate::page::{Cell, Kind, Table};
use crate::quantity::{Scale, counted, format_share, signed_interval};
use crate::text::{JOIN, bounded, html, name};

/// Number of points in a row's picture.
const SPARK: usize = 60;
/// Size of the picture in pixels.
const WIDE: f64 = 120.0;
const HIGH: f64 = 24.0;

/// Formats the rows of these benchmarks; `link` returns the address of a benchmark's details.
pub(super) fn table(report: &Report, rows: &[usize], link: impl Fn(usize) -> String) -> String {
    let mut table = Table::new("Benchmarks")
        .column("benchmark", Kind::Name)
        .column("last", Kind::Number)
        .column("interval", Kind::Number)
        .column("since the previous one", Kind::Number)
        .column("verdict", Kind::Words)
        .column("since the baseline", Kind::Number)
        .column("over time", Kind::Words);
    for index in rows.iter().copied() {
        let benchmark = &report.benchmarks[index];
        let (Some(main), Some(last)) = (
            benchmark.main(),
            benchmark.main().and_then(|main| main.points.last()),
        ) else {
            continue;
        };
        let scale = Scale::of(last.value, &main.unit);
        let metric = match main.metric.as_str() {
            "wall" => String::new(),
            other => format!("<small>{}</small>", html(&bounded(other, 40))),
        };
        let shown = format!(
            "<a href=\"{}\">{}</a>{metric}",
            html(&link(index)),
            name(&key(benchmark))
        );
        let interval = match last.low < last.high {
            true => Cell::number(
                &scale.interval(last.value, last.low, last.high, 0),
                last.low,
            ),
            false => Cell::none("a single run has no interval"),
        };
        let value = scale.with_unit(last.value, last.low, last.high, 0);
        let verdict = match &benchmark.before {
            Some(before) => Cell::words(before.word()).toned(tone(before)),
            None => Cell::words(""),
        };
        table.row(
            "",
            vec![
                Cell::markup(shown),
                Cell::number(&value, last.value),
                interval,
                change(benchmark.before.as_ref()),
                verdict,
                change(benchmark.baseline.as_ref()),
                Cell::markup(spark(main)),
            ],
        );
    }
    match table.is_empty() {
        true => String::new(),
        false => table.html(),
    }
}

/// Formats links to the pages of an overview.
pub(super) fn pager(pages: usize, current: usize, link: impl Fn(usize) -> String) -> String {
    if pages < 2 {
        return String::new();
    }
    let one = |page: usize| {
        let here = match page == current {
            true => " aria-current=\"page\"",
            false => "",
        };
        format!("<a href=\"{}\"{here}>{}</a>", html(&link(page)), page + 1)
    };
    let links: Vec<String> = (0..pages).map(one).collect();
    format!(
        "<nav class=\"pages\" aria-label=\"Pages\">Page {}</nav>\n",
        links.join(" ")
    )
}

fn tone(one: &ReportComparison) -> Tone {
    match one.verdict {
        Verdict::Faster | Verdict::Slower if one.higher_is_better.is_none() => Tone::Plain,
        Verdict::Undecided => Tone::Quiet,
        verdict => Tone::of(verdict),
    }
}

fn change(comparison: Option<&ReportComparison>) -> Cell {
    let Some(one) = comparison else {
        return Cell::none("no earlier measurement in this environment");
    };
    let (value, interval) = signed_interval(&one.ratio);
    let interval = interval.unwrap_or_else(|| "counted exactly".to_owned());
    let cell = Cell::number(&value, one.ratio.value).toned(tone(one));
    let clock = match one.wait_free {
        true => " by the time without waits for a CPU",
        false => "",
    };
    cell.with_title(&format!(
        "{}{clock}: {interval}, allowing for {} between separate measurements ({})",
        one.word(),
        format_share(one.drift.share).replace(JOIN, " "),
        counted(one.drift.measurements as u64, "earlier one", "earlier ones")
    ))
}

/// Draws the newest values as a line; change points are dots.
fn spark(series: &ReportSeries) -> String {
    let points = &series.points[series.points.len().saturating_sub(SPARK)..];
    let ends = points
        .iter()
        .map(|point| point.value)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let height = (ends.1 - ends.0).max(f64::MIN_POSITIVE);
    let step = WIDE / (points.len().max(2) - 1) as f64;
    let place = |at: usize, value: f64| {
        let part = match ends.1 > ends.0 {
            true => (value - ends.0) / height,
            false => 0.5,
        };
        (at as f64 * step, HIGH - 2.0 - part * (HIGH - 4.0))
    };
    let mut path = String::new();
    for (at, point) in points.iter().enumerate() {
        let joined = at > 0 && points[at - 1].environment == point.environment;
        let (x, y) = place(at, point.value);
        // Writing to a String can't fail.
        let _ = write!(path, "{}{x:.0} {y:.0}", if joined { "L" } else { "M" });
    }
    let mut marks = String::new();
    for change in &series.changes {
        if let Some(at) = points.iter().position(|point| point.index == change.index) {
            let (x, y) = place(at, points[at].value);
            let _ = write!(marks, "<circle cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"3\"/>");
        }
    }
    let scale = Scale::of(ends.1, &series.unit);
    let label = format!(
        "{} from {} to {} {}",
        counted(points.len() as u64, "point", "points"),
        scale.short(ends.0),
        scale.short(ends.1),
        bounded(scale.symbol(), 20)
    );
    format!(
        "<svg class=\"spark c0\" width=\"{WIDE}\" height=\"{HIGH}\" viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" aria-label=\"{}\"><path class=\"curve\" d=\"{path}\"/>{marks}</svg>",
        html(label.trim_end())
    )
}
