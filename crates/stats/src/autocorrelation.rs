//! Measures how much each run resembles the one before it.

/// The minimum number of values for a verdict.
const FEWEST: usize = 20;
/// An autocorrelation below this changes the width of an interval by less than a quarter.
const MATTERS: f64 = 0.25;
/// The two-sided 1 % point of the standard normal distribution.
const ONE_PERCENT: f64 = 2.576;

/// Returns the correlation between the ranks of neighbouring values in order of measurement, from -1 to 1.
/// Ranks are used so that a single outlier doesn't decide. Returns 0 for fewer than three values or if all
/// are equal.
///
/// ```
/// let rising: Vec<f64> = (0..50).map(f64::from).collect();
/// assert!(fathom_stats::autocorrelation(&rising) > 0.9);
/// ```
pub fn autocorrelation(values: &[f64]) -> f64 {
    if values.len() < 3 {
        return 0.0;
    }
    let ranks = ranks(values);
    let mean = (values.len() as f64 + 1.0) / 2.0;
    let square: f64 = ranks.iter().map(|r| (r - mean).powi(2)).sum();
    if square == 0.0 {
        return 0.0;
    }
    let lagged: f64 = ranks
        .windows(2)
        .map(|w| (w[0] - mean) * (w[1] - mean))
        .sum();
    lagged / square
}

/// Returns whether runs resemble their neighbours so much that it matters. This requires at least 20 values,
/// and a correlation above 0.25 and beyond the 1 % bound of independent values (2.576 / √n).
pub fn is_autocorrelated(values: &[f64]) -> bool {
    let bound = ONE_PERCENT / (values.len() as f64).sqrt();
    values.len() >= FEWEST && autocorrelation(values) > bound.max(MATTERS)
}

/// Returns ranks 1 to n in the order of the values; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        for &index in tied {
            ranks[index] = rank;
        }
        first += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn alternating_is_negative_and_constant_is_none() {
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert!(autocorrelation(&alternating) < -0.9);
        assert!(!is_autocorrelated(&alternating));
        assert_eq!(autocorrelation(&[3.0; 40]), 0.0);
        assert!(!is_autocorrelated(&[3.0; 40]));
    }

    #[test]
    fn slow_waves_are_found_and_one_outlier_does_not_hide_them() {
        let mut wave: Vec<f64> = (0..60).map(|i| 10.0 + (f64::from(i) / 8.0).sin()).collect();
        assert!(is_autocorrelated(&wave));
        wave[30] = 1e6;
        assert!(is_autocorrelated(&wave));
        assert!(!is_autocorrelated(&wave[..19]));
    }
}
