//! Does a program have two speeds?

use crate::quantile::{quantile, sorted_finite};

/// Fewest values on which a verdict is given.
const FEWEST: usize = 20;
/// Smallest share of the values that makes a mode; fewer are outliers.
const SMALLEST_SHARE: f64 = 0.15;
/// Smallest difference of the two modes that matters: the default margin of a comparison.
const SMALLEST_RATIO: f64 = 1.01;
/// Distance of the modes in units of their common spread.
const SEPARATION: f64 = 4.5;

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

/// The two modes of the values, if there are two that matter.
pub fn two_modes(values: &[f64]) -> Option<Modes> {
    let sorted = sorted_finite(values);
    if sorted.len() < FEWEST || sorted[0] <= 0.0 {
        return None;
    }
    let logs: Vec<f64> = sorted.iter().map(|v| v.ln()).collect();
    let split = best_split(&logs);
    let (low, high) = sorted.split_at(split);
    let separated = separation(&sorted, split).min(separation(&logs, split)) >= SEPARATION;
    let modes = Modes {
        low: quantile(low, 0.5),
        high: quantile(high, 0.5),
        high_share: high.len() as f64 / sorted.len() as f64,
    };
    (separated && modes.high >= SMALLEST_RATIO * modes.low).then_some(modes)
}

/// Size of the low group for which the squares within the groups are smallest.
fn best_split(sorted: &[f64]) -> usize {
    let n = sorted.len();
    let fewest = (SMALLEST_SHARE * n as f64).ceil() as usize;
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

fn separation(sorted: &[f64], split: usize) -> f64 {
    let (low, high) = sorted.split_at(split);
    let (low_centre, high_centre) = (quantile(low, 0.5), quantile(high, 0.5));
    let absolute =
        |group: &[f64], centre: f64| group.iter().map(|v| (v - centre).abs()).sum::<f64>();
    let spread =
        (absolute(low, low_centre) + absolute(high, high_centre)) / (sorted.len() - 2) as f64;
    if spread == 0.0 {
        return if high_centre > low_centre {
            f64::INFINITY
        } else {
            0.0
        };
    }
    // 1.2533: mean absolute deviation to standard deviation of a normal distribution.
    (high_centre - low_centre) / (1.2533 * spread)
}
