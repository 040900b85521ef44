//! Samples on one axis: the density of each, and below it every value.

use fathom_model::{Estimate, Metric};

use super::density::density;
use super::svg::{LEFT, RIGHT, Svg, colour, figure};
use crate::axis::Axis;
use crate::distribution::{slow_fence, sorted};
use crate::quantity::{counted, format_count, format_metric};

/// One sample of a metric, in its unit.
pub(crate) struct Sample<'a> {
    /// The name; untrusted.
    pub(crate) name: &'a str,
    pub(crate) values: Vec<f64>,
    pub(crate) median: Option<Estimate>,
}

/// Vertical positions within a row: name, density, dots.
const NAME: f64 = 18.0;
const DENSITY: f64 = 44.0;
const DOTS: f64 = 24.0;
const ROW: f64 = NAME + DENSITY + DOTS + 14.0;
/// The maximum number of values drawn for a sample: more would hide each other and make the page large.
const MOST_DOTS: usize = 800;
/// Draws the samples, a row each; empty if there are no values.
pub(crate) fn distributions(samples: &[Sample], metric: Metric) -> String {
    let write = |value| format_metric(metric, value);
    let sorted_values: Vec<Vec<f64>> = samples.iter().map(|s| sorted(s.values.clone())).collect();
    let inside = |sorted: &[f64]| -> usize {
        let fence = slow_fence(sorted).unwrap_or(f64::INFINITY);
        sorted.partition_point(|value| *value <= fence)
    };
    let shown = sorted_values
        .iter()
        .flat_map(|sorted| &sorted[..inside(sorted)]);
    if shown.clone().next().is_none() {
        return String::new();
    }
    let axis = Axis::around(shown.copied(), LEFT, RIGHT);
    let mut svg = Svg::new();
    let bottom = ROW * samples.len() as f64;
    svg.across(&axis, &axis.of(metric.unit()), (NAME, bottom));
    let mut thinned = false;
    for (index, (sample, sorted)) in samples.iter().zip(&sorted_values).enumerate() {
        let top = ROW * index as f64;
        svg.name(top + 13.0, sample.name);
        let (inside, beyond) = sorted.split_at(inside(sorted));
        svg.begin_group(colour(index));
        curve(&mut svg, &axis, inside, top + NAME + DENSITY);
        thinned |= dots(&mut svg, &axis, inside, top + NAME + DENSITY + 6.0, &write);
        if let Some(most) = beyond.last() {
            let runs = counted(beyond.len() as u64, "run", "runs");
            let text = format!("{runs} beyond, up to {}", write(*most));
            svg.stop((RIGHT, top + NAME + DENSITY + 18.0), 5.0, "beyond", &text);
        }
        median(&mut svg, &axis, sample, top + NAME + DENSITY, &write);
        svg.end_group();
    }
    let drawing = svg.finish(
        bottom + Svg::ticks_height(),
        &format!("The {} of all runs", metric.label()),
    );
    let mut caption =
        "Above, the distribution of the runs; below, each run. The bar is the median's interval."
            .to_owned();
    if thinned {
        caption.push_str(&format!(
            " At most {} runs are drawn.",
            format_count(MOST_DOTS as f64)
        ));
    }
    figure(&drawing, &caption)
}

fn curve(svg: &mut Svg, axis: &Axis, sorted: &[f64], floor: f64) {
    let Some(shape) = density(sorted, axis.is_logarithmic()) else {
        return;
    };
    let held = shape.iter().filter(|(place, _)| axis.holds(*place));
    let edge = held.map(|(place, height)| (axis.place(*place), floor - height * (DENSITY - 6.0)));
    let edge: Vec<(f64, f64)> = edge.collect();
    let (Some(first), Some(last)) = (edge.first(), edge.last()) else {
        return;
    };
    let mut area = vec![(first.0, floor)];
    area.extend(&edge);
    area.push((last.0, floor));
    svg.curve(&area, floor, "density", true);
    svg.curve(&edge, floor, "curve edge", false);
}

/// Draws the values, but at most [`MOST_DOTS`] of them; returns whether some were skipped.
fn dots(
    svg: &mut Svg,
    axis: &Axis,
    sorted: &[f64],
    top: f64,
    write: &impl Fn(f64) -> String,
) -> bool {
    let every = sorted.len().div_ceil(MOST_DOTS).max(1);
    for (index, value) in sorted.iter().enumerate().step_by(every) {
        // Multiples of the golden ratio spread neighbours over the height, in a reproducible way.
        let part = (index as f64 * 0.618_034).fract();
        svg.dot(
            (axis.place(*value), top + part * DOTS),
            2.5,
            "each",
            &write(*value),
        );
    }
    every > 1
}

fn median(svg: &mut Svg, axis: &Axis, sample: &Sample, y: f64, write: &impl Fn(f64) -> String) {
    let Some(median) = sample.median else { return };
    let mut title = format!("median {}", write(median.value));
    if median.level > 0.0 {
        let ends = (axis.place(median.low), axis.place(median.high));
        svg.area(ends, (y - 2.0, 4.0), "interval", "");
        title.push_str(&format!(
            ", {} to {}",
            write(median.low),
            write(median.high)
        ));
    }
    svg.stop((axis.place(median.value), y), 4.5, "median", &title);
}
