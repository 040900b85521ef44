//! A few ordered figures per row on one axis: quantiles, or an estimate between the ends of its interval.

use super::svg::{LEFT, RIGHT, Svg, colour, figure};
use crate::axis::{Axis, Ticks};

/// One row.
pub(crate) struct Rungs<'a> {
    /// The name; untrusted.
    pub(crate) name: &'a str,
    /// The figures in ascending order, each with its description. A description that is shown is written
    /// above its figure.
    pub(crate) figures: Vec<(f64, String)>,
    /// The index of the main figure.
    pub(crate) main: usize,
    /// The index of its color, as in the other pictures of the page.
    pub(crate) colour: usize,
}

const ROW: f64 = 46.0;
const LINE: f64 = 30.0;

/// Draws the rows over `ticks` of `axis` ([`ladder_axis`]); `line` is a position to compare with.
pub(crate) fn ladder(
    rows: &[Rungs],
    axis: &Axis,
    ticks: &Ticks,
    line: Option<f64>,
    label: &str,
    caption: &str,
) -> String {
    let mut svg = Svg::new();
    let bottom = ROW * rows.len() as f64;
    svg.across(axis, ticks, (4.0, bottom));
    if let Some(at) = line {
        let x = axis.place(at);
        svg.line((x, 4.0), (x, bottom), "mark", "");
    }
    for (index, row) in rows.iter().enumerate() {
        let top = ROW * index as f64;
        svg.name(top + 15.0, row.name);
        let (Some(first), Some(last)) = (row.figures.first(), row.figures.last()) else {
            continue;
        };
        svg.begin_group(colour(row.colour));
        let ends = (axis.place(first.0), axis.place(last.0));
        svg.line((ends.0, top + LINE), (ends.1, top + LINE), "rail", "");
        for (at, (value, title)) in row.figures.iter().enumerate() {
            let x = axis.place(*value);
            match at == row.main {
                true => svg.stop((x, top + LINE), 5.0, "median", title),
                false => svg.line((x, top + LINE - 6.0), (x, top + LINE + 6.0), "rung", title),
            }
        }
        svg.end_group();
    }
    figure(&svg.finish(bottom + Svg::ticks_height(), label), caption)
}

/// Returns an axis for all figures.
pub(crate) fn ladder_axis<'a>(rows: impl Iterator<Item = &'a Rungs<'a>>) -> Axis {
    let values: Vec<f64> = rows
        .flat_map(|row| row.figures.iter().map(|f| f.0))
        .collect();
    Axis::around(values.into_iter(), LEFT, RIGHT)
}
