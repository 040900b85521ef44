//! Decides which steps in one direction are one slow drift.

use super::keep::{Cut, median, sides};

/// The minimum number of points of a drift; a faster change is a step.
const SHORTEST: usize = 15;
/// The amount, in units of log likelihood, by which a slope must explain the points better than the steps.
const BETTER: f64 = 2.0;
/// Number of positions tried for either end of a slope.
const PLACES: usize = 30;
/// Values are clipped at this multiple of the typical distance from the stairs, so that a spike doesn't bend
/// a slope.
const CLIPPED: f64 = 4.0;

/// A change of level, at once or over a slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) index: usize,
    /// The end of the slope; for a step, the same as `index`.
    pub(super) until: usize,
    pub(super) p_value: f64,
}

impl Change {
    pub(super) fn is_drift(&self) -> bool {
        self.until > self.index
    }
}

/// Merges consecutive steps in one direction into one drift if that explains the points better. `first` is
/// where the level before the first cut begins.
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
        // Find the longest stretch of steps that is a drift. If there is none, the first step stays a step.
        let drift = loop {
            let (before, after) = (cuts[begin].index, cuts[end - 1].index);
            // The drift begins after the previous change, which may be a drift beyond its own last cut. It
            // never begins at the first point.
            let earlier = 1 + found.last().map_or(first, |change: &Change| change.until);
            if before <= earlier {
                break None;
            }
            let start = (bound(begin).max(earlier)).max(before.saturating_sub(super::keep::REACH));
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

/// Returns the first and the last point of the slope, if two levels with a slope between them explain these
/// values better than steps at `cuts`.
fn slope(values: &[f64], cuts: &[usize]) -> Option<(usize, usize)> {
    let count = values.len();
    let levels = stairs(values, cuts);
    let residuals = values
        .iter()
        .zip(&levels)
        .map(|(value, level)| (value - level).abs());
    let limit = CLIPPED * median(&residuals.collect::<Vec<f64>>());
    let clipped: Vec<f64> = values
        .iter()
        .zip(&levels)
        .map(|(v, l)| v.clamp(l - limit, l + limit))
        .collect();
    let mut start = 0;
    let mut of_stairs = 0.0;
    for end in cuts.iter().copied().chain([count]) {
        // Use least squares, as for the slope: in noise with one long tail, medians did worse than the slope.
        let level = clipped[start..end].iter().sum::<f64>() / (end - start) as f64;
        of_stairs += clipped[start..end]
            .iter()
            .map(|v| (v - level) * (v - level))
            .sum::<f64>();
        start = end;
    }
    let sums = Sums::of(&clipped);
    let step = count.div_ceil(PLACES).max(1);
    let (mut best, mut ends) = (f64::INFINITY, (0, 0));
    for start in (0..count).step_by(step) {
        for end in (start + SHORTEST..count + step).step_by(step) {
            let end = end.min(count - 1);
            if end >= start + SHORTEST {
                let of_slope = sums.residual(start, end);
                if of_slope < best {
                    (best, ends) = (of_slope, (start, end));
                }
            }
        }
    }
    if !(best > 0.0 && best.is_finite()) {
        return None;
    }
    // A slope has two positions and two levels; stairs have a position and a level for each step, and one
    // more level.
    let n = count as f64;
    let parameters = 4.0 - (2 * cuts.len() + 1) as f64;
    let gain = 0.5 * n * (of_stairs / best).ln() - 0.5 * parameters * n.ln();
    (gain > BETTER).then_some(ends)
}

/// Sums over the first values of a series, so that the time for fitting a slope doesn't depend on its length:
/// fitting each slope over all points took two thirds of the time for 10,000 points.
struct Sums {
    /// Sums of the values.
    values: Vec<f64>,
    /// Sums of position times value.
    moments: Vec<f64>,
    /// Sum of all squares.
    squares: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Sums {
        let middle = values.iter().sum::<f64>() / values.len() as f64;
        let (mut sums, mut moments, mut squares) = (vec![0.0], vec![0.0], 0.0);
        for (place, value) in values.iter().enumerate() {
            let value = value - middle;
            sums.push(sums[place] + value);
            moments.push(moments[place] + place as f64 * value);
            squares += value * value;
        }
        Sums {
            values: sums,
            moments,
            squares,
        }
    }

    /// Returns the sum of squares that remains after fitting two levels with a slope from `start` to `end`:
    /// least squares with the weights 1 - w and w, where w grows from 0 to 1 on the slope.
    fn residual(&self, start: usize, end: usize) -> f64 {
        let count = self.values.len() - 1;
        let length = (end - start) as f64;
        // Over the points start..=end: w = k / length for k = 0..=length.
        let points = length + 1.0;
        let w = points / 2.0;
        let ww = points * (2.0 * length + 1.0) / (6.0 * length);
        let after = (count - end - 1) as f64;
        let (bb, b) = (ww + after, w + after);
        let ab = b - bb;
        let aa = count as f64 - 2.0 * b + bb;
        let on_slope = self.values[end + 1] - self.values[start];
        let moment = self.moments[end + 1] - self.moments[start] - start as f64 * on_slope;
        let bv = moment / length + self.values[count] - self.values[end + 1];
        let av = self.values[count] - bv;
        let determinant = aa * bb - ab * ab;
        if determinant < 1e-9 {
            return f64::INFINITY;
        }
        let low = (av * bb - bv * ab) / determinant;
        let high = (bv * aa - av * ab) / determinant;
        self.squares - low * av - high * bv
    }
}

/// Returns the level of the stairs at each point.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_fit_as_well_as_the_points_do() {
        let at = |i: usize| ((i as f64 - 20.0) / 40.0).clamp(0.0, 1.0) * 3.0 + 5.0;
        let exact: Vec<f64> = (0..90).map(at).collect();
        assert!(Sums::of(&exact).residual(20, 60) < 1e-9);
        assert!(Sums::of(&exact).residual(10, 60) > 0.1);
        let bumpy: Vec<f64> = exact
            .iter()
            .enumerate()
            .map(|(i, v)| v + f64::from(i as u32 % 2))
            .collect();
        let left = Sums::of(&bumpy).residual(20, 60);
        assert!((left - 90.0 / 4.0).abs() < 0.5, "{left}");
    }
}
