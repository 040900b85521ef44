//! Detects whether a program has two speeds.

use crate::quantile::{quantile, sorted_finite};

/// The minimum number of values for a verdict.
const FEWEST: usize = 20;
/// The minimum share of the values that makes a mode; fewer are outliers.
const SMALLEST_SHARE: f64 = 0.15;
/// The minimum number of values that make a mode. If one run in 50 is an outlier, three of 20 runs are
/// outliers in 0.7 % of samples, and four in 0.06 %.
const FEWEST_IN_MODE: usize = 4;
/// The smallest relevant ratio of the two modes: the default margin of a comparison.
const SMALLEST_RATIO: f64 = 1.01;
/// The minimum distance of the modes for many values, in units of their common spread. A normal sample cut in
/// two has 2.7, a uniform one 3.5.
const SEPARATION: f64 = 4.0;
/// An addition for small samples, divided by n: groups that arise by chance are tight there. With 4.4 at n =
/// 20, a single normal mode is mistaken for two in 0.6 % of samples; with 4.0 in 2 %.
const SEPARATION_FOR_FEW: f64 = 8.0;
/// Half the width of the valley between the modes, as a share of their distance.
const VALLEY: f64 = 0.1;
/// At most one in this number of values may be in the valley; a uniform sample has one in ten there.
const VALLEY_ONE_IN: usize = 20;

/// Two speeds of one program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Median of the low mode, in the unit of the values.
    pub low: f64,
    /// Median of the high mode, in the unit of the values.
    pub high: f64,
    /// Share of the values that are in the high mode, 0.15 to 0.85.
    pub high_share: f64,
}

/// Returns the two modes of the values (at least 20, all positive), if there are two that matter: each has at
/// least 15 % of the values and at least four, and they differ by at least 1 % and at least four times their
/// spread, with (almost) nothing between them. This must hold for the values and for their logarithms,
/// because a skewed single mode has a long tail in only one of the two.
///
/// ```
/// let values: Vec<f64> = (0..40)
///     .map(|i| if i % 4 == 0 { 1.30 } else { 1.0 } + f64::from(i % 7) / 100.0)
///     .collect();
/// let modes = fathom_stats::two_modes(&values).unwrap();
/// assert_eq!(modes.high_share, 0.25);
/// assert!(fathom_stats::two_modes(&values[..19]).is_none());
/// ```
pub fn two_modes(values: &[f64]) -> Option<Modes> {
    let sorted = sorted_finite(values);
    if sorted.len() < FEWEST || sorted[0] <= 0.0 {
        return None;
    }
    let logs: Vec<f64> = sorted.iter().map(|v| v.ln()).collect();
    let split = best_split(&logs);
    let split = middle_split(&logs, split)?;
    let (low, high) = sorted.split_at(split);
    let modes = Modes {
        low: quantile(low, 0.5),
        high: quantile(high, 0.5),
        high_share: high.len() as f64 / sorted.len() as f64,
    };
    let two = is_separated(&sorted, split) && is_separated(&logs, split);
    (two && modes.high >= SMALLEST_RATIO * modes.low).then_some(modes)
}

/// Returns the size of the low group if every value belongs to the nearer of the two medians.
fn middle_split(sorted: &[f64], split: usize) -> Option<usize> {
    let (low, high) = sorted.split_at(split);
    let middle = f64::midpoint(quantile(low, 0.5), quantile(high, 0.5));
    let size = sorted.partition_point(|v| *v < middle);
    let fewest = fewest_in_mode(sorted.len());
    (size >= fewest && sorted.len() - size >= fewest).then_some(size)
}

fn fewest_in_mode(n: usize) -> usize {
    ((SMALLEST_SHARE * n as f64).ceil() as usize).max(FEWEST_IN_MODE)
}

/// Returns the size of the low group for the split with the smallest sum of squares within the groups.
fn best_split(sorted: &[f64]) -> usize {
    let n = sorted.len();
    let fewest = fewest_in_mode(n);
    let total: f64 = sorted.iter().sum();
    let mut below = 0.0;
    let mut best = (f64::NEG_INFINITY, fewest);
    for (i, v) in sorted.iter().enumerate().take(n - fewest) {
        below += v;
        let size = i + 1;
        if size < fewest {
            continue;
        }
        let (a, b) = (size as f64, (n - size) as f64);
        let between = (below / a - (total - below) / b).powi(2) * a * b;
        if between > best.0 {
            best = (between, size);
        }
    }
    best.1
}

fn is_separated(sorted: &[f64], split: usize) -> bool {
    let (low, high) = sorted.split_at(split);
    let (low_centre, high_centre) = (quantile(low, 0.5), quantile(high, 0.5));
    let absolute =
        |group: &[f64], centre: f64| group.iter().map(|v| (v - centre).abs()).sum::<f64>();
    let deviation =
        (absolute(low, low_centre) + absolute(high, high_centre)) / (sorted.len() - 2) as f64;
    // sqrt(pi / 2) converts a mean absolute deviation to the standard deviation of a normal distribution.
    let spread = 1.2533 * deviation;
    let distance = high_centre - low_centre;
    let middle = f64::midpoint(low_centre, high_centre);
    let in_valley = sorted
        .iter()
        .filter(|v| (*v - middle).abs() < VALLEY * distance)
        .count();
    let needed = SEPARATION + SEPARATION_FOR_FEW / sorted.len() as f64;
    distance > 0.0 && distance >= needed * spread && in_valley <= sorted.len() / VALLEY_ONE_IN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_closer_than_the_margin_do_not_matter() {
        let values = |step: f64| -> Vec<f64> {
            (0..40)
                .map(|i| if i % 2 == 0 { 1.0 } else { 1.0 + step })
                .collect()
        };
        assert!(two_modes(&values(0.005)).is_none());
        let modes = two_modes(&values(0.05)).unwrap();
        assert_eq!((modes.low, modes.high, modes.high_share), (1.0, 1.05, 0.5));
    }

    #[test]
    fn few_slow_runs_are_outliers_and_equal_values_one_mode() {
        let mut values: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
        for slow in &mut values[..5] {
            *slow = 3.0;
        }
        assert!(two_modes(&values).is_none(), "5 of 40 are less than 15 %");
        values[5] = 3.0;
        assert!(two_modes(&values).is_some());
        assert!(two_modes(&[2.0; 50]).is_none());
        assert!(two_modes(&[0.0; 50]).is_none());
    }
}
