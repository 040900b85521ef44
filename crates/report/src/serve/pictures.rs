//! The plots of the page: latency by percentile, latency over time, and the start.

use fathom_model::{Estimate, LoadResult, Metric, ServeRecord};

use super::cold::Start;
use super::histogram::{self, count};
use super::words::{self, ms};
use super::{cold, loads};
use crate::axis::{Axis, Ticks};
use crate::page::{
    BOTTOM, LEFT, Lines, Mark, Point, RIGHT, Rungs, Sample, Series, TOP, colour, distributions,
    figure, ladder, ladder_axis, legend, lines,
};
use crate::quantity::{counted, format_count, short_time};
use crate::text::{bounded, words as own};

/// The maximum number of lines in one plot: the number of colors.
const MOST_LINES: usize = 6;
/// The maximum number of plots of one kind; the tables have all values.
const MOST_PICTURES: usize = 16;

/// Returns a server's name, with its number if there are several; untrusted.
pub(super) fn server_name(record: &ServeRecord, server: usize) -> String {
    let name = record
        .servers
        .get(server)
        .map_or("?", |one| one.name.as_str());
    format!("{}{}", words::number(record, server), bounded(name, 72))
}

/// Draws latency over percentiles: a line for each load of one server, or for each server under one load.
pub(super) fn percentiles(record: &ServeRecord) -> String {
    let all = loads::all(record);
    let pictures: Vec<(String, Vec<(String, &LoadResult)>)> = match record.servers.len() {
        1 => {
            let lines = all.iter().map(|(_, load)| (words::load(load), *load));
            vec![(String::new(), lines.collect())]
        }
        _ => {
            let most = record.servers.iter().map(|server| server.load.len());
            let at = (0..most.max().unwrap_or(0)).map(|at| {
                let of = record.servers.iter().enumerate();
                let of = of.filter_map(|(index, one)| Some((index, one.load.get(at)?)));
                let of: Vec<_> = of.collect();
                // All servers get the same loads; a rate may differ by rounding.
                let title = of
                    .first()
                    .map_or(String::new(), |(_, load)| words::load(load));
                let lines = of.into_iter();
                let lines = lines.map(|(index, load)| (server_name(record, index), load));
                (title, lines.collect())
            });
            at.collect()
        }
    };
    let drawn = pictures.iter().filter(|(_, lines)| {
        let mut answered = lines
            .iter()
            .filter(|(_, load)| !load.histogram_ns.is_empty());
        answered.next().is_some()
    });
    let drawn: Vec<String> = drawn.map(|(title, lines)| curves(title, lines)).collect();
    match drawn.is_empty() {
        true => String::new(),
        false => format!(
            "{}<p class=\"small soft\">A line ends where ten answers took longer; the ring is the slowest one.</p>\n",
            side_by_side(&drawn)
        ),
    }
}

fn curves(title: &str, all: &[(String, &LoadResult)]) -> String {
    let shown = &all[..all.len().min(MOST_LINES)];
    let series: Vec<Series> = shown.iter().map(|(name, load)| curve(name, load)).collect();
    let points = || series.iter().flat_map(|one| &one.points);
    let across = Axis::powers(points().map(|point| point.x), LEFT, RIGHT);
    let up = Axis::decades(points().map(|point| point.value), BOTTOM, TOP);
    let drawing = lines(
        "Latency by percentile",
        &Lines {
            series: &series,
            marks: &[],
            across_ticks: shares(&across),
            across: &across,
            up_ticks: up.times(),
            up: &up,
            over: "share of the answers that took at most this long",
            stops: true,
        },
    );
    let entries = shown.iter().enumerate();
    let entries = entries.map(|(index, (name, _))| (colour(index), name.as_str()));
    let more = match all.len().saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!("{} not drawn.", counted(more as u64, "more is", "more are")),
    };
    heading(title) + &figure(&(drawing + &legend(entries)), &more)
}

/// Returns a line through all percentiles, with marks at the percentiles in the record.
fn curve(name: &str, load: &LoadResult) -> Series {
    let through = histogram::curve(&load.histogram_ns).into_iter();
    let mut points: Vec<Point> = through
        .map(|(x, value)| point(x, value, true, ""))
        .collect();
    let response = &load.response_ms;
    let marked = [
        (2.0, "p50", response.p50),
        (10.0, "p90", response.p90),
        (20.0, "p95", response.p95),
        (100.0, "p99", response.p99),
        (1000.0, "p99.9", response.p999),
    ];
    for (x, what, value) in marked {
        if let Some(value) = value {
            let title = format!("{name}: {what} {}", ms(value));
            points.push(point(x, value / 1e3, true, &title));
        }
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    if let Some(most) = response.max {
        let title = format!(
            "{name}: slowest of {} {}",
            format_count(count(&load.histogram_ns) as f64),
            ms(most)
        );
        let x = count(&load.histogram_ns).max(1) as f64;
        points.push(Point {
            hollow: true,
            ..point(x, most / 1e3, false, &title)
        });
    }
    Series { points }
}

pub(super) fn point(x: f64, value: f64, joined: bool, title: &str) -> Point {
    Point {
        x,
        value,
        interval: None,
        joined,
        hollow: false,
        title: title.to_owned(),
    }
}

/// Returns the ticks 50 %, 90 %, 99 % and so on, at 1/(1-q).
fn shares(across: &Axis) -> Ticks {
    let tens = (1..=12).map(|nines: i32| {
        let decimals = usize::try_from(nines - 2).unwrap_or(0);
        let share = 100.0 - 0.1f64.powi(nines) * 100.0;
        (10f64.powi(nines), format!("{share:.decimals$} %"))
    });
    let all = std::iter::once((2.0, "50 %".to_owned())).chain(tens);
    all.filter(|(tick, _)| across.holds(*tick)).collect()
}

/// Draws the latency in each second, one plot for each server and load.
pub(super) fn over_time(record: &ServeRecord) -> String {
    let all = loads::all(record).into_iter();
    let drawn = all.filter(|(_, load)| load.response_ms.max.is_some() && !load.seconds.is_empty());
    let drawn: Vec<String> = drawn
        .map(|(server, load)| {
            let title = format!("{}{}", words::number(record, server), words::load(load));
            heading(&title) + &figure(&seconds(load), "")
        })
        .collect();
    if drawn.is_empty() {
        return String::new();
    }
    let entries = LINES.iter().enumerate();
    let legend = legend(entries.map(|(index, (name, _))| (colour(index), *name)));
    let note = "<p class=\"small soft\">By the moment at which requests should have been sent; dotted lines part the rounds. A median takes \
                20 answers in a second, a p99 1,000.</p>\n";
    side_by_side(&drawn) + &legend + note
}

/// Computes the value of a line from the histogram of a second.
type OfSecond = fn(&histogram::Steps) -> Option<f64>;
const LINES: [(&str, OfSecond); 5] = [
    ("p50", |steps| histogram::percentile(steps, 0.5)),
    ("p90", |steps| histogram::percentile(steps, 0.9)),
    ("p95", |steps| histogram::percentile(steps, 0.95)),
    ("p99", |steps| histogram::percentile(steps, 0.99)),
    ("slowest", histogram::largest),
];

fn seconds(load: &LoadResult) -> String {
    let a_round = load.seconds.iter().map(|second| second.second).max();
    let a_round = f64::from(a_round.unwrap_or(0)) + 1.0;
    let rounds = load.seconds.iter().map(|second| second.round).max();
    let rounds = rounds.unwrap_or(0);
    let series: Vec<Series> = LINES
        .iter()
        .map(|(name, of)| {
            let mut last = None;
            let points = load.seconds.iter().filter_map(|second| {
                let value = of(&second.histogram_ns)?;
                let here = (second.round, second.second);
                let joined =
                    last.replace(here) == here.1.checked_sub(1).map(|before| (here.0, before));
                let failed = match second.failed {
                    0 => String::new(),
                    failed => format!(", {} failed", format_count(failed as f64)),
                };
                let title = format!(
                    "round {}, second {}: {name} {}{failed}",
                    u64::from(here.0) + 1,
                    u64::from(here.1) + 1,
                    short_time(value)
                );
                let x = f64::from(here.0) * a_round + f64::from(here.1) + 0.5;
                Some(point(x, value, joined, &title))
            });
            Series {
                points: points.collect(),
            }
        })
        .collect();
    let values = || {
        series
            .iter()
            .flat_map(|one| &one.points)
            .map(|point| point.value)
    };
    let across = Axis::of_time((f64::from(rounds) + 1.0) * a_round, LEFT, RIGHT);
    let up = Axis::decades(values(), BOTTOM, TOP);
    let marks: Vec<Mark> = (1..=rounds)
        .map(|round| Mark {
            at: f64::from(round) * a_round,
            name: String::new(),
            class: "reported",
        })
        .collect();
    lines(
        "Latency in each second",
        &Lines {
            series: &series,
            marks: &marks,
            across_ticks: across.times(),
            across: &across,
            up_ticks: up.times(),
            up: &up,
            over: "time under load, round after round",
            stops: false,
        },
    )
}

/// Draws the steps from launch to first answer for each start on one axis, and every launch.
pub(super) fn start(record: &ServeRecord, starts: &[Start<'_>]) -> String {
    let all = starts.iter().enumerate();
    let rungs: Vec<Vec<Rungs>> = all.map(|(index, start)| ladder_of(start, index)).collect();
    let axis = ladder_axis(rungs.iter().flatten());
    let ticks = axis.times();
    let mut out = String::new();
    for ((server, cold, state), rungs) in starts.iter().zip(&rungs) {
        if starts.len() > 1 {
            out.push_str(&heading(&format!(
                "{}{state}",
                server_name(record, *server)
            )));
        }
        let caption = "From left to right: min, median (the dot), p90, p95 and p99 where there are 20 and 100 launches, max.";
        out.push_str(&ladder(
            rungs,
            &axis,
            &ticks,
            None,
            "From launch to first answer",
            caption,
        ));
        if let Some(text) = cold::slow(cold) {
            out.push_str(&format!("<p class=\"small\">{}</p>\n", own(&text)));
        }
    }
    out
}

fn ladder_of(start: &Start<'_>, colour: usize) -> Vec<Rungs<'static>> {
    let mut all = cold::rungs(start.1);
    // CPU time is not a step.
    all.pop();
    let rows = all.into_iter().map(|(name, spread)| {
        let figures = [
            ("min", Some(spread.min)),
            ("p50", Some(spread.p50)),
            ("p90", Some(spread.p90)),
            ("p95", spread.p95),
            ("p99", spread.p99),
            ("max", Some(spread.max)),
        ];
        let figures = figures.into_iter();
        let figures = figures.filter_map(|(what, value)| Some((what, value?)));
        Rungs {
            name,
            figures: figures
                .map(|(what, value)| (value / 1e3, format!("{name}: {what} {}", ms(value))))
                .collect(),
            main: 1,
            colour,
        }
    });
    rows.collect()
}

/// Draws every launch by its first answer.
pub(super) fn launches(record: &ServeRecord, starts: &[Start<'_>]) -> String {
    let names: Vec<String> = starts
        .iter()
        .map(|(server, _, state)| format!("{}{state}", server_name(record, *server)))
        .collect();
    let in_seconds = |ms: Estimate| Estimate {
        value: ms.value / 1e3,
        low: ms.low / 1e3,
        high: ms.high / 1e3,
        level: ms.level,
    };
    let samples: Vec<Sample> = starts
        .iter()
        .zip(&names)
        .take(MOST_PICTURES)
        .map(|((_, cold, _), name)| Sample {
            name,
            values: cold.runs.iter().map(|run| run.ready_ms / 1e3).collect(),
            median: Some(in_seconds(cold.ready_median_ms)),
        })
        .collect();
    distributions(&samples, Metric::Wall)
}

fn heading(title: &str) -> String {
    match title {
        "" => String::new(),
        title => format!("<h3>{}</h3>\n", own(&bounded(title, 100))),
    }
}

/// Arranges two plots in a row if there is room.
fn side_by_side(pictures: &[String]) -> String {
    let shown = pictures.iter().take(MOST_PICTURES);
    let shown: String = shown
        .map(|picture| format!("<div>{picture}</div>\n"))
        .collect();
    let more = match pictures.len().saturating_sub(MOST_PICTURES) {
        0 => String::new(),
        more => format!(
            "<p class=\"small soft\">{} not drawn.</p>\n",
            counted(more as u64, "more picture is", "more pictures are")
        ),
    };
    format!("<div class=\"pairs\">\n{shown}</div>\n{more}")
}
