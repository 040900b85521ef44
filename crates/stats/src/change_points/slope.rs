//! Which steps in one direction are one slow drift?

use super::keep::{Cut, median, sides};

/// A drift takes at least so many points; what is faster is a step.
const SHORTEST: usize = 12;
/// By so much, in units of log likelihood, must a slope explain the points better than the steps.
const BETTER: f64 = 5.0;
/// Places tried for either end of a slope.
const PLACES: usize = 24;
/// Residuals count up to so many times the typical one, so that a spike doesn't bend a slope.
const CLIPPED: f64 = 4.0;

/// A change of level, at once or over a slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) index: usize,
    /// The same as `index` for a step.
    pub(super) until: usize,
    pub(super) p_value: f64,
}

impl Change {
    pub(super) fn is_drift(&self) -> bool {
        self.until > self.index
    }
}

/// Takes steps that follow each other in one direction for one drift where that explains the points
/// better. `first` is where the level before the first cut begins.
pub(super) fn changes(values: &[f64], first: usize, cuts: &[Cut]) -> Vec<Change> {
    let bound = |position: usize| match position {
        0 => first,
        _ => cuts.get(position - 1).map_or(values.len(), |cut| cut.index),
    };
    let up = |position: usize| {
        let index = cuts[position].index;
        let (left, right) = sides(values, bound(position), index, bound(position + 2));
        median(right) > median(left)
    };
    let directions: Vec<bool> = (0..cuts.len()).map(up).collect();
    let mut found = Vec::new();
    let mut begin = 0;
    while begin < cuts.len() {
        let alike = directions[begin..]
            .iter()
            .take_while(|up| **up == directions[begin]);
        let mut end = begin + alike.count();
        // The longest stretch of steps that is a drift; else the first is a step.
        let drift = loop {
            let (before, after) = (cuts[begin].index, cuts[end - 1].index);
            let start = bound(begin).max(before.saturating_sub(super::keep::REACH));
            let stop = bound(end + 1).min(after + super::keep::REACH);
            let inner: Vec<usize> = cuts[begin..end]
                .iter()
                .map(|cut| cut.index - start)
                .collect();
            if let Some((s, e)) = slope(&values[start..stop], &inner) {
                let p_value = cuts[begin..end].iter().map(|cut| cut.p_value);
                break Some(Change {
                    index: start + s,
                    until: start + e,
                    p_value: p_value.fold(1.0, f64::min),
                });
            }
            end -= 1;
            if end == begin {
                break None;
            }
        };
        match drift {
            Some(drift) => {
                found.push(drift);
                begin = end;
            }
            None => {
                let Cut { index, p_value } = cuts[begin];
                found.push(Change {
                    index,
                    until: index,
                    p_value,
                });
                begin += 1;
            }
        }
    }
    found
}

/// First and last point of the slope, if one level, a slope and another level explain these values
/// better than steps at `cuts`.
fn slope(values: &[f64], cuts: &[usize]) -> Option<(usize, usize)> {
    let count = values.len();
    let levels = stairs(values, cuts);
    let residuals: Vec<f64> = values
        .iter()
        .zip(&levels)
        .map(|(v, l)| (v - l).abs())
        .collect();
    let limit = CLIPPED * median(&residuals);
    if limit == 0.0 {
        return None;
    }
    let loss = |fitted: &dyn Fn(usize) -> f64| -> f64 {
        values
            .iter()
            .enumerate()
            .map(|(i, v)| (v - fitted(i)).abs().min(limit))
            .sum()
    };
    let clipped: Vec<f64> = values
        .iter()
        .zip(&levels)
        .map(|(v, l)| v.clamp(l - limit, l + limit))
        .collect();
    let of_stairs = loss(&|i| levels[i]);
    let step = count.div_ceil(PLACES).max(1);
    let (mut best, mut ends) = (f64::INFINITY, (0, 0));
    for s in (0..count).step_by(step) {
        for e in (s + SHORTEST..count + step).step_by(step) {
            let e = e.min(count - 1);
            if e < s + SHORTEST {
                continue;
            }
            let share = |i: usize| ((i as f64 - s as f64) / (e - s) as f64).clamp(0.0, 1.0);
            let (a, b) = ends_of(&clipped, share);
            let lost = loss(&|i| a + (b - a) * share(i));
            if lost < best {
                (best, ends) = (lost, (s, e));
            }
        }
    }
    // Laplace's likelihood; a slope has two places and two levels, stairs a place and a level a step.
    let n = count as f64;
    let parameters = 4.0 - (2 * cuts.len() + 1) as f64;
    let gain = n * (of_stairs / best).ln() - 0.5 * parameters * n.ln();
    (best.is_finite() && gain > BETTER).then_some(ends)
}

/// The level of the stairs at each point.
fn stairs(values: &[f64], cuts: &[usize]) -> Vec<f64> {
    let mut levels = Vec::with_capacity(values.len());
    let mut start = 0;
    for end in cuts.iter().copied().chain([values.len()]) {
        let level = median(&values[start..end]);
        levels.resize(end, level);
        start = end;
    }
    levels
}

/// Least squares: the two levels whose mixture by `share` is closest to the values.
fn ends_of(values: &[f64], share: impl Fn(usize) -> f64) -> (f64, f64) {
    let (mut aa, mut ab, mut bb, mut av, mut bv) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let b = share(index);
        let a = 1.0 - b;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        av += a * value;
        bv += b * value;
    }
    let determinant = aa * bb - ab * ab;
    if determinant.abs() < 1e-9 {
        return (values[0], values[0]);
    }
    (
        (av * bb - bv * ab) / determinant,
        (bv * aa - av * ab) / determinant,
    )
}
