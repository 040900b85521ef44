//! Line plots of values with their intervals.

use super::svg::{Svg, colour};
use crate::axis::{Axis, Ticks};
use crate::text::html;

/// One line.
pub(crate) struct Series {
    /// Points in the order of x. A line connects a point to the previous one if it is `joined`.
    pub(crate) points: Vec<Point>,
}

/// One point of a series.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether a line connects the point to the previous one.
    pub(crate) joined: bool,
    /// Whether the point doesn't count, such as a warm-up run.
    pub(crate) hollow: bool,
    /// A description; if empty, the line passes here without a mark.
    pub(crate) title: String,
}

/// A position on the horizontal axis; its name may be empty.
pub(crate) struct Mark {
    pub(crate) at: f64,
    pub(crate) name: String,
    pub(crate) class: &'static str,
}

/// The content of a plot.
pub(crate) struct Lines<'a> {
    pub(crate) series: &'a [Series],
    pub(crate) marks: &'a [Mark],
    pub(crate) across: &'a Axis,
    pub(crate) across_ticks: Ticks,
    /// The vertical axis, from [`BOTTOM`] to [`TOP`].
    pub(crate) up: &'a Axis,
    pub(crate) up_ticks: Ticks,
    /// The name of the horizontal axis.
    pub(crate) over: &'a str,
    /// Whether each point can be reached with the keyboard; false if there are hundreds.
    pub(crate) stops: bool,
}

/// Lower and upper end of the vertical axis.
pub(crate) const BOTTOM: f64 = 216.0;
pub(crate) const TOP: f64 = 34.0;
/// Total height, including the ticks and the axis name below.
const HEIGHT: f64 = BOTTOM + 38.0;
/// Width in pixels of a letter of a tick at the side.
const LETTER: f64 = 7.0;

/// Draws the plot. The scale at the left has a fixed width; the plot itself gets the remaining width.
pub(crate) fn lines(label: &str, what: &Lines) -> String {
    let longest = what.up_ticks.iter().map(|(_, text)| text.chars().count());
    let wide = 8.0 + LETTER * longest.max().unwrap_or(0) as f64;
    let bare = match what.marks.iter().all(|mark| mark.name.is_empty()) {
        true => " bare",
        false => "",
    };
    let mut out = format!(
        "<div class=\"framed{bare}\"><svg class=\"scale\" width=\"{wide}\" height=\"{HEIGHT}\" aria-hidden=\"true\">\n"
    );
    let mut svg = Svg::new();
    for (tick, text) in &what.up_ticks {
        let y = what.up.place(*tick);
        svg.line((0.0, y), (100.0, y), "grid", "");
        out.push_str(&format!(
            "<text class=\"axis end\" x=\"{}\" y=\"{:.1}\">{}</text>\n",
            wide - 6.0,
            y + 4.0,
            html(text)
        ));
    }
    out.push_str("</svg>\n");
    svg.across(what.across, &what.across_ticks, (TOP, BOTTOM));
    svg.text(50.0, BOTTOM + 32.0, "axis middle", what.over);
    marks(&mut svg, what);
    for (index, series) in what.series.iter().enumerate() {
        svg.begin_group(colour(index));
        draw(&mut svg, what, series);
        svg.end_group();
    }
    out.push_str(&svg.finish(HEIGHT, label));
    out.push_str("</div>\n");
    out
}

fn marks(svg: &mut Svg, what: &Lines) {
    let held = what.marks.iter().filter(|mark| what.across.holds(mark.at));
    for (index, mark) in held.enumerate() {
        let x = what.across.place(mark.at);
        svg.line((x, TOP - 4.0), (x, BOTTOM), mark.class, &mark.name);
        // Neighbouring names are at two alternating heights, so that they don't overlap.
        let y = if index % 2 == 0 { 11.0 } else { 25.0 };
        let class = if x > 60.0 { "axis end" } else { "axis" };
        if !mark.name.is_empty() {
            svg.text(x, y, class, &mark.name);
        }
    }
}

fn draw(svg: &mut Svg, what: &Lines, series: &Series) {
    let place = |point: &Point| (what.across.place(point.x), what.up.place(point.value));
    let mut stretch: Vec<(f64, f64)> = Vec::new();
    for point in &series.points {
        if !point.joined {
            flush(svg, &mut stretch);
        }
        stretch.push(place(point));
    }
    flush(svg, &mut stretch);
    for point in series.points.iter().filter(|point| !point.title.is_empty()) {
        let at = place(point);
        if let Some((low, high)) = point.interval {
            let (low, high) = (what.up.place(low), what.up.place(high));
            svg.line((at.0, low), (at.0, high), "whisker", "");
        }
        let class = if point.hollow { "hollow" } else { "point" };
        match what.stops {
            true => svg.stop(at, 3.5, class, &point.title),
            false => svg.dot(at, 2.5, class, &point.title),
        }
    }
}

fn flush(svg: &mut Svg, stretch: &mut Vec<(f64, f64)>) {
    if stretch.len() > 1 {
        svg.curve(stretch, HEIGHT, "curve", false);
    }
    stretch.clear();
}
