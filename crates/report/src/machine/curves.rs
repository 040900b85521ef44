//! The curves: small plots, each next to the table of its points.

use fathom_model::ProbeResult;
use fathom_model::quantity::format_size;

use super::figure::{machine_figure, tick};
use crate::axis::Axis;
use crate::page::{
    BOTTOM, Cell, Kind, LEFT, Lines, Mark, Point, RIGHT, Series, TOP, Table, figure, lines,
};
use crate::text::{html, words};

/// The probes whose curves are shown, in this order, each with a description.
const CURVES: [(&str, &str); 9] = [
    (
        "cache_curve",
        "Time per load, by size of the working set. Each step marks a cache that can no longer hold all of it.",
    ),
    (
        "bandwidth_read",
        "Memory read bandwidth, by number of threads.",
    ),
    (
        "bandwidth_write",
        "Memory write bandwidth, by number of threads.",
    ),
    (
        "bandwidth_write_around",
        "Bandwidth of writes that bypass the caches, by number of threads.",
    ),
    (
        "bandwidth_copy",
        "Memory copy bandwidth, by number of threads.",
    ),
    (
        "memory_parallelism",
        "Time per load, by number of independent walks: it shows how many misses can be in flight at once.",
    ),
    (
        "loaded_latency",
        "Time per load while other CPUs read memory as fast as they can.",
    ),
    (
        "predictor_capacity",
        "Cost of a branch, by length of a random pattern: where it rises, the predictor can no longer learn the \
         pattern.",
    ),
    ("tlb_reach", "Time per load, by number of pages visited."),
];

/// Cache levels marked in the latency curve: effective sizes, in bytes.
const LEVELS: [(&str, &str); 3] = [
    ("l1_size", "L1"),
    ("l2_size_effective", "L2"),
    ("last_level_effective", "last level"),
];

/// Formats all curves with at least two points.
pub(super) fn all(results: &[ProbeResult]) -> String {
    let mut out = String::new();
    for (id, about) in CURVES {
        let result = results.iter().find(|result| result.id == id);
        let points = result.and_then(|result| result.points.as_deref());
        if let (Some(result), Some(points)) = (result, points)
            && points.len() >= 2
        {
            let marks = match id {
                "cache_curve" => marks(results),
                _ => Vec::new(),
            };
            out.push_str(&format!(
                "<section>\n<h2>{}</h2>\n<p>{}</p>\n<div class=\"beside\">{}{}</div>\n</section>\n",
                html(&result.title),
                words(about),
                figure(&picture(result, points, &marks), ""),
                table(result, points)
            ));
        }
    }
    out
}

/// Returns the marks of cache levels: the measured size, and the size reported by the system if it differs.
fn marks(results: &[ProbeResult]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (id, name) in LEVELS {
        let Some(result) = results.iter().find(|result| result.id == id) else {
            continue;
        };
        if let Some(at) = result.value {
            marks.push(Mark {
                at,
                name: format!("{name}, {}", machine_figure(at, "B")),
                class: "mark",
            });
        }
        if let Some(at) = result.reported
            && result.value != Some(at)
        {
            marks.push(Mark {
                at,
                name: format!("{name}, reported {}", machine_figure(at, "B")),
                class: "reported",
            });
        }
    }
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    marks
}

fn picture(result: &ProbeResult, points: &[(f64, f64)], marks: &[Mark]) -> String {
    let (over, unit) = (over(result), unit(result));
    let xs = || points.iter().map(|(x, _)| *x);
    // Sizes and lengths span orders of magnitude; numbers of lanes, threads and readers do not.
    let across = match points.iter().all(|(x, _)| *x > 0.0) && spans_powers(points) {
        true => Axis::powers(xs(), LEFT, RIGHT),
        false => Axis::even(xs(), LEFT, RIGHT),
    };
    let up = Axis::from_zero(points.iter().map(|(_, y)| *y), BOTTOM, TOP);
    let series = Series {
        points: points
            .iter()
            .map(|(x, y)| Point {
                x: *x,
                value: *y,
                interval: None,
                joined: true,
                hollow: false,
                title: format!("{}: {}", with_unit(*x, over), machine_figure(*y, unit)),
            })
            .collect(),
    };
    lines(
        &result.title,
        &Lines {
            series: &[series],
            marks,
            across_ticks: across.written(|value| number(value, over)),
            across: &across,
            up_ticks: up.written(|value| tick(value, unit)),
            up: &up,
            over: axis_title(over),
            stops: true,
        },
    )
}

/// Formats the points of the curve as a table.
fn table(result: &ProbeResult, points: &[(f64, f64)]) -> String {
    let (over, unit) = (over(result), unit(result));
    let mut table = Table::new("Points of the curve")
        .column(&crate::escape(axis_title(over)), Kind::Number)
        .column("value", Kind::Number);
    for (x, y) in points {
        table.row(
            "",
            vec![
                Cell::number(&number(*x, over), *x),
                Cell::number(&crate::escape(&machine_figure(*y, unit)), *y),
            ],
        );
    }
    table.html()
}

fn over(result: &ProbeResult) -> &str {
    result.points_over.as_deref().unwrap_or("")
}

fn unit(result: &ProbeResult) -> &str {
    result.points_unit.as_deref().unwrap_or(&result.unit)
}

/// Returns whether the last value is more than a hundred times the first.
fn spans_powers(points: &[(f64, f64)]) -> bool {
    match (points.first(), points.last()) {
        (Some((first, _)), Some((last, _))) => *last > first * 100.0,
        _ => false,
    }
}

fn number(value: f64, over: &str) -> String {
    match over {
        "bytes" => format_size(value),
        _ => format!("{value:.0}"),
    }
}

fn with_unit(value: f64, over: &str) -> String {
    match over {
        "bytes" => format_size(value),
        _ => format!("{value:.0} {over}"),
    }
}

fn axis_title(over: &str) -> &str {
    match over {
        "bytes" => "working set",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [(f64, f64); 3] = [(4096.0, 1.0), (1_048_576.0, 4.0), (1e9, 100.0)];

    fn result(over: &str, unit: &str) -> ProbeResult {
        let json = serde_json::json!({
            "id": "cache_curve", "title": "latency", "value": 1.0, "unit": unit, "estimator": "derived",
            "n": 9, "p10": null, "median": null, "min": null, "spread": null, "share": null,
            "steal_ns": 0, "involuntary_switches": 0, "verdict": "ok", "method": "m", "note": null,
            "reported": null, "core_to_core_ns": null, "points_over": over, "points_unit": null,
            "points": null
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn levels_are_marked_where_they_lie_and_only_there() {
        let mark = |at: f64, name: &str| Mark {
            at,
            name: name.into(),
            class: "mark",
        };
        let marks = [mark(32768.0, "L1"), mark(1e12, "far away")];
        let drawn = picture(&result("bytes", "ns"), &POINTS, &marks);
        assert!(drawn.contains(">L1</text>"));
        assert!(!drawn.contains("far away"));
        assert_eq!(drawn.matches("<circle").count(), 3);
        assert!(drawn.contains("1 MiB: 4.00 ns"), "{drawn}");
    }

    #[test]
    fn numbers_of_threads_stand_evenly() {
        let drawn = picture(&result("threads", "GB/s"), &[(1.0, 20.0), (2.0, 40.0)], &[]);
        assert!(drawn.contains("2 threads: 40.0 GB/s"), "{drawn}");
    }
}
