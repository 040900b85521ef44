//! The charts of the page.

use fathom_model::{BenchRecord, Comparison, Metric, Run};

use super::tables::numbered;
use crate::axis::Axis;
use crate::page::{
    BOTTOM, LEFT, Lines, Point, RIGHT, Rungs, Sample, Series, TOP, colour, distributions, figure,
    ladder, ladder_axis, legend, lines,
};
use crate::quantity::{Words, change, counted, format_metric, heading};
use crate::session::Subject;
use crate::text::bounded;

/// The maximum number of commands in a chart; the tables have all.
const MOST: usize = 12;
/// The maximum number of commands whose runs are drawn in order: the number of colors.
const MOST_COLOURS: usize = 6;
/// The maximum number of runs of a command that are drawn in order.
const MOST_RUNS: usize = 1500;

/// Draws density and strip of each command on one axis.
pub(super) fn spread(subjects: &[Subject], metric: Metric) -> String {
    let names: Vec<String> = subjects.iter().map(|s| name(subjects, s.index)).collect();
    let samples: Vec<Sample> = subjects
        .iter()
        .zip(&names)
        .take(MOST)
        .map(|(subject, name)| Sample {
            name,
            values: subject.values(metric),
            median: subject.summary(metric).map(|summary| summary.median),
        })
        .collect();
    distributions(&samples, metric) + &more(subjects.len(), MOST)
}

/// Returns the name, with its number if there are several.
fn name(subjects: &[Subject], index: usize) -> String {
    match subjects {
        [one] => one.benchmark.name.clone(),
        _ => numbered(subjects, index),
    }
}

fn more(count: usize, most: usize) -> String {
    match count.saturating_sub(most) {
        0 => String::new(),
        more => format!(
            "<p class=\"soft small\">{} not drawn.</p>\n",
            counted(more as u64, "more command is", "more commands are")
        ),
    }
}

/// Draws every run in order, warm-up runs first.
pub(super) fn order(record: &BenchRecord, subjects: &[Subject], metric: Metric) -> String {
    let warmups = record.outcome.iter().flat_map(|outcome| &outcome.warmups);
    let mut all: Vec<(&Run, bool)> = warmups.map(|run| (run, true)).collect();
    let counted = || subjects.iter().flat_map(|subject| &subject.runs);
    all.extend(counted().map(|run| (*run, false)));
    // Warm-up runs have a separate clock, and come first.
    all.sort_by_key(|(run, warmup)| (!warmup, run.started_ns, run.position));
    let counted_runs = || counted().filter_map(|run| metric.of(run));
    if counted_runs().nth(1).is_none() {
        return String::new();
    }
    let up = Axis::around(counted_runs(), BOTTOM, TOP);
    let across = Axis::even([1.0, all.len() as f64].into_iter(), LEFT, RIGHT);
    let every = all
        .len()
        .div_ceil(MOST_RUNS * subjects.len().clamp(1, MOST_COLOURS))
        .max(1);
    let mut series: Vec<Series> = subjects
        .iter()
        .take(MOST_COLOURS)
        .map(|_| Series { points: Vec::new() })
        .collect();
    for (index, (run, warmup)) in all.iter().enumerate().step_by(every) {
        let (Some(value), Some(series)) = (metric.of(run), series.get_mut(run.benchmark)) else {
            continue;
        };
        let what = match warmup {
            true => "to warm up".to_owned(),
            false => format!("round {}", run.round + 1),
        };
        let title = format!(
            "run {}, {what}: {}",
            index + 1,
            format_metric(metric, value)
        );
        series.points.push(Point {
            x: index as f64 + 1.0,
            value,
            interval: None,
            joined: false,
            hollow: *warmup,
            title: match subjects {
                [_] => title,
                _ => format!("{} {title}", run.benchmark + 1),
            },
        });
    }
    let drawing = lines(
        "Every run, in order of execution",
        &Lines {
            series: &series,
            marks: &[],
            across_ticks: across.written(|tick| format!("{tick:.0}")),
            across: &across,
            up_ticks: up.of(metric.unit()),
            up: &up,
            over: "runs, in order of execution",
            stops: false,
        },
    );
    let mut caption = String::new();
    if all.iter().any(|(_, warmup)| *warmup) {
        caption.push_str("Hollow: warm-up runs, which do not count; a run far longer than the rest is drawn at the upper edge. ");
    }
    if every > 1 {
        caption.push_str(&format!("One in {every} runs is drawn. "));
    }
    let unknown = all
        .iter()
        .filter(|(run, _)| metric.of(run).is_none())
        .count();
    if unknown > 0 {
        let runs = crate::quantity::counted(unknown as u64, "run", "runs");
        caption.push_str(&format!(
            "Not drawn: {runs} with unknown {}. ",
            match metric {
                Metric::Undisturbed => "wait for a CPU",
                _ => metric.label(),
            }
        ));
    }
    let names: Vec<String> = subjects
        .iter()
        .take(MOST_COLOURS)
        .map(|s| bounded(&name(subjects, s.index), 80))
        .collect();
    let entries = names
        .iter()
        .enumerate()
        .map(|(index, name)| (colour(index), name.as_str()));
    let legend = match subjects {
        [_] => String::new(),
        _ => legend(entries),
    };
    figure(&(drawing + &legend), caption.trim_end()) + &more(subjects.len(), MOST_COLOURS)
}

/// Draws the ratio of each comparison with its interval.
pub(super) fn ratios(all: &[Comparison], subjects: &[Subject]) -> String {
    let names: Vec<String> = all.iter().map(|c| numbered(subjects, c.subject)).collect();
    let rows: Vec<Rungs> = all
        .iter()
        .zip(&names)
        .take(MOST)
        .map(|(comparison, name)| {
            let words = Words::of(comparison.metric);
            let ratio = &comparison.ratio;
            let figure = |value: f64| (value, change(value, words).replace('\u{a0}', " "));
            Rungs {
                name,
                figures: vec![figure(ratio.low), figure(ratio.value), figure(ratio.high)],
                main: 1,
                colour: comparison.subject,
            }
        })
        .collect();
    let one = Rungs {
        name: "",
        figures: vec![(1.0, String::new())],
        main: 0,
        colour: 0,
    };
    let axis = ladder_axis(rows.iter().chain([&one]));
    let ticks = axis.numbers("x");
    let reference = all.first().map_or(1, |c| c.reference.saturating_add(1));
    let metric = all.first().map_or(Metric::Wall, |c| c.metric);
    let less = Words::of(metric).less;
    let of = match metric {
        Metric::Wall | Metric::Undisturbed => "Time".to_owned(),
        _ => heading(metric),
    };
    ladder(
        &rows,
        &axis,
        &ticks,
        Some(1.0),
        "Ratio of each comparison",
        &format!(
            "{of} as a multiple of that of {reference}, with its interval; values left of 1x are {less}."
        ),
    ) + &more(all.len(), MOST)
}
