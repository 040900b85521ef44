//! Which points lie alone, far from both sides?

use crate::quantile::quantile;

/// So many points on either side say what is usual.
pub(super) const NEIGHBOURS: usize = 30;
/// Distance from the median of the neighbours, in units of the distance between their quartiles:
/// Tukey's outer fence, which is 3 beyond a quartile.
const FAR: f64 = 3.5;
/// Nothing nearer than this share of the level is a spike: among equal values the quartiles lie
/// together.
const SMALLEST: f64 = 0.02;
/// More points than this in a row are no spike.
const LONGEST: usize = 2;

/// Positions of spikes within a segment, `from` and later.
pub(super) fn spikes(segment: &[f64], logarithms: bool, from: usize) -> Vec<usize> {
    let far: Vec<usize> = (from..segment.len())
        .filter(|&index| is_far(segment, logarithms, index))
        .collect();
    far.chunk_by(|a, b| a + 1 == *b)
        .filter(|run| run.len() <= LONGEST)
        .flatten()
        .copied()
        .collect()
}

fn is_far(segment: &[f64], logarithms: bool, index: usize) -> bool {
    let start = index.saturating_sub(NEIGHBOURS);
    let end = (index + NEIGHBOURS + 1).min(segment.len());
    if end - start < 10 {
        return false;
    }
    let mut sorted = segment[start..end].to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = quantile(&sorted, 0.5);
    let spread = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
    let smallest = if logarithms {
        SMALLEST
    } else {
        SMALLEST * middle.abs()
    };
    (segment[index] - middle).abs() > (FAR * spread).max(smallest)
}
