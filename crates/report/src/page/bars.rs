//! Stacked bars, one below the other on one axis.

use super::svg::{LEFT, Svg};
use crate::axis::Axis;

/// One bar.
pub(crate) struct Bar<'a> {
    /// The name; untrusted.
    pub(crate) name: &'a str,
    /// Class, seconds and description of each part.
    pub(crate) parts: Vec<(&'static str, f64, String)>,
    /// The text at its end.
    pub(crate) total: String,
}

const ROW: f64 = 50.0;
const BAR: f64 = 22.0;
/// The right end of the axis. The total of the longest bar is to the right of it.
const END: f64 = 82.0;

/// Draws the bars, in seconds from zero.
pub(crate) fn bars(all: &[Bar], label: &str) -> String {
    let total = |bar: &Bar| bar.parts.iter().map(|part| part.1).sum::<f64>();
    let longest = all.iter().map(total).fold(0.0, f64::max);
    let axis = Axis::of_time(longest, LEFT, END);
    let mut svg = Svg::new();
    let bottom = ROW * all.len() as f64;
    svg.across(&axis, &axis.times(), (4.0, bottom));
    for (index, bar) in all.iter().enumerate() {
        let top = ROW * index as f64;
        svg.name(top + 15.0, bar.name);
        let mut at = 0.0;
        for (class, seconds, title) in &bar.parts {
            let ends = (axis.place(at), axis.place(at + seconds));
            svg.area(ends, (top + 21.0, BAR), class, title);
            at += seconds;
        }
        svg.text(axis.place(at) + 1.0, top + 37.0, "total", &bar.total);
    }
    svg.finish(bottom + Svg::ticks_height(), label)
}
