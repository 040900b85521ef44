//! The shape of the samples at a glance: a strip for each of up to two commands, on one axis.

use fathom_model::Metric;

use super::picture;
use crate::TimeUnit;
use crate::distribution::{slow_fence, sorted};
use crate::line::{Line, Page, Tone};
use crate::quantity::{InUnit, counted};
use crate::session::Subject;
use crate::text::columns;

/// The number of lines of the chart, by the number of commands: three or more have no chart.
pub(super) const LINES: [usize; 4] = [0, 1, 4, 0];
/// The maximum number of bins.
const BINS: usize = 56;
/// The number of columns after the strip, for the runs beyond it.
const BEYOND: usize = 16;

/// Draws the samples, if there is something to see.
pub(super) fn write(page: &mut Page, subjects: &[Subject], clock: Metric, unit: Option<TimeUnit>) {
    let samples: Vec<Vec<f64>> = subjects
        .iter()
        .map(|subject| sorted(subject.values(clock)))
        .collect();
    match &samples[..] {
        [one] => picture::write(page, one, clock, unit),
        [_, _] => two(page, &samples, clock, unit),
        _ => {}
    }
}

fn two(page: &mut Page, samples: &[Vec<f64>], metric: Metric, unit: Option<TimeUnit>) {
    let ends: Option<Vec<(f64, f64)>> = samples.iter().map(|sample| ends(sample)).collect();
    let Some(ends) = ends else { return };
    let low = ends.iter().map(|end| end.0).fold(f64::INFINITY, f64::min);
    let high = ends.iter().map(|end| end.1).fold(0.0, f64::max);
    let bins = BINS.min(page.width().saturating_sub(BEYOND + 5));
    if high <= low || bins < 10 {
        return;
    }
    page.gap();
    for (index, (sample, (_, fence))) in samples.iter().zip(&ends).enumerate() {
        let mut counts = vec![0; bins];
        let inside = sample.iter().filter(|value| **value <= *fence);
        for value in inside.clone() {
            let bin = ((value - low) / (high - low) * bins as f64) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        let beyond = sample.len() - inside.count();
        let line = Line::new()
            .add(Tone::Quiet, format!("  {}  ", index + 1))
            .add(Tone::Plain, picture::strip(&counts, page.unicode()));
        page.push(match beyond {
            0 => line,
            beyond => line.pad_to(5 + bins + 1).add(
                Tone::Quiet,
                format!("{} beyond", counted(beyond as u64, "run", "runs")),
            ),
        });
    }
    let unit = InUnit::asked(metric, high, unit);
    let end = |value: f64| unit.with_symbol(&unit.digits(value, 3));
    let (first, last) = (end(low), end(high));
    let start = (5 + bins).saturating_sub(columns(&last));
    page.push(
        Line::new()
            .add(Tone::Plain, "     ")
            .add(Tone::Quiet, first)
            .pad_to(start)
            .add(Tone::Quiet, last),
    );
}

/// Returns the smallest value, and the largest that isn't a slow run.
fn ends(sorted: &[f64]) -> Option<(f64, f64)> {
    let fence = slow_fence(sorted)?;
    let inside = sorted.partition_point(|value| *value <= fence);
    Some((sorted[0], sorted[inside.saturating_sub(1)]))
}
