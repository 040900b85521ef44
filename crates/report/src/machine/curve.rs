//! One curve as a picture.

use fathom_model::quantity::format_size;

use super::figure::machine_figure;
use crate::axis::Axis;
use crate::text::html;

/// Size of the picture and its margins.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;

/// A place of the first axis that has a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// Where.
    pub(crate) at: f64,
    /// Its name.
    pub(crate) label: String,
    /// What the system says of itself, not what was measured.
    pub(crate) reported: bool,
}

/// `points` as a line over `over`, with `marks` where they lie in the picture.
pub(crate) fn picture(
    title: &str,
    points: &[(f64, f64)],
    over: &str,
    unit: &str,
    marks: &[Mark],
) -> String {
    let xs = || points.iter().map(|(x, _)| *x);
    // Sizes and lengths span powers; numbers of lanes, threads and readers do not.
    let across = match points.iter().all(|(x, _)| *x > 0.0) && spans_powers(points) {
        true => Axis::powers(xs(), LEFT, WIDTH - RIGHT),
        false => Axis::even(xs(), LEFT, WIDTH - RIGHT),
    };
    let up = Axis::from_zero(points.iter().map(|(_, y)| *y), HEIGHT - BOTTOM, TOP);
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        html(title)
    );
    for tick in up.ticks() {
        let y = up.place(tick);
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>\n",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            html(&machine_figure(tick, unit))
        ));
    }
    for tick in across.ticks() {
        let x = across.place(tick);
        out.push_str(&format!(
            "<text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>\n",
            HEIGHT - BOTTOM + 18.0,
            html(&number(tick, over))
        ));
    }
    out.push_str(&format!(
        "<text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 6.0,
        html(axis_title(over))
    ));
    for (index, mark) in marks
        .iter()
        .filter(|mark| across.holds(mark.at))
        .enumerate()
    {
        let x = across.place(mark.at);
        // Neighbouring names stand on two heights, so that they do not cover each other.
        let y = if index % 2 == 0 { 12.0 } else { 26.0 };
        let class = if mark.reported { "reported" } else { "mark" };
        out.push_str(&format!(
            "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>\
             <text class=\"middle\" x=\"{x:.1}\" y=\"{y}\">{}</text>\n",
            HEIGHT - BOTTOM,
            html(&mark.label)
        ));
    }
    let line: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{:.1},{:.1}", across.place(*x), up.place(*y)))
        .collect();
    out.push_str(&format!(
        "<polyline class=\"curve\" points=\"{}\"/>\n",
        line.join(" ")
    ));
    for (x, y) in points {
        out.push_str(&format!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}: {}</title></circle>\n",
            across.place(*x),
            up.place(*y),
            html(&with_unit(*x, over)),
            html(&machine_figure(*y, unit))
        ));
    }
    out.push_str("</svg>\n");
    out
}

/// More than a hundredfold from the first to the last.
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

    const POINTS: [(f64, f64); 3] = [(4096.0, 1.0), (1048576.0, 4.0), (1e9, 100.0)];

    #[test]
    fn levels_are_marked_where_they_lie_and_only_there() {
        let mark = |at: f64, label: &str| Mark {
            at,
            label: label.into(),
            reported: false,
        };
        let marks = [mark(32768.0, "L1"), mark(1e12, "far away")];
        let drawn = picture("latency", &POINTS, "bytes", "ns", &marks);
        assert!(drawn.contains(">L1</text>"));
        assert!(!drawn.contains("far away"));
        assert_eq!(drawn.matches("<circle").count(), 3);
        assert!(drawn.contains("1 MiB: 4.00 ns"), "{drawn}");
    }

    #[test]
    fn numbers_of_threads_stand_evenly() {
        let drawn = picture("b", &[(1.0, 20.0), (2.0, 40.0)], "threads", "GB/s", &[]);
        assert!(drawn.contains("2 threads: 40.0 GB/s"), "{drawn}");
    }
}
