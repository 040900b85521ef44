//! Finds isolated points, far from both sides.

use crate::quantile::quantile;

/// Number of points on either side that define what is usual.
pub(super) const NEIGHBOURS: usize = 30;
/// Distance from the median of the neighbours, in units of the distance between their quartiles:
/// Tukey's outer fence, which is 3 beyond a quartile.
const FAR: f64 = 3.5;
/// A spike differs from the level by at least this share: among equal values the quartiles coincide.
const SMALLEST: f64 = 0.02;
/// The minimum number of points for determining which values are usual.
const FEWEST: usize = 10;
/// The maximum number of consecutive points of a spike.
const LONGEST: usize = 2;

/// The number of points that share the usual values around them: computing these for each point took 25 ms
/// for 10,000 points.
const TOGETHER: usize = 10;

/// Returns the positions of spikes within a segment, at `from` and later.
pub(super) fn spikes(segment: &[f64], logarithms: bool, from: usize) -> Vec<usize> {
    let mut far: Vec<usize> = Vec::new();
    let mut start = from;
    while start < segment.len() {
        let end = (start + TOGETHER).min(segment.len());
        if let Some((middle, limit)) = usual(segment, logarithms, start, end) {
            far.extend((start..end).filter(|index| (segment[*index] - middle).abs() > limit));
        }
        start = end;
    }
    far.chunk_by(|a, b| a + 1 == *b)
        .filter(|run| run.len() <= LONGEST)
        .flatten()
        .copied()
        .collect()
}

/// Returns the median of the values around these points, and the distance from it that counts as far.
fn usual(segment: &[f64], logarithms: bool, start: usize, end: usize) -> Option<(f64, f64)> {
    let first = start.saturating_sub(NEIGHBOURS);
    let around = &segment[first..(end + NEIGHBOURS).min(segment.len())];
    if around.len() < FEWEST {
        return None;
    }
    let mut sorted = around.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = quantile(&sorted, 0.5);
    let spread = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
    let smallest = if logarithms {
        SMALLEST
    } else {
        SMALLEST * middle.abs()
    };
    Some((middle, (FAR * spread).max(smallest)))
}
