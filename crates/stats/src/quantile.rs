//! Quantiles and percentiles.

/// Returns the quantile of sorted values by linear interpolation (Hyndman and Fan 1996, type 7: the default
/// of R and NumPy), in the unit of the values.
///
/// `q` is a share, 0 to 1, and is clamped to that range. An empty slice gives NaN.
///
/// ```
/// assert_eq!(fathom_stats::quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), 2.5);
/// assert_eq!(fathom_stats::quantile(&[1.0, 2.0, 3.0, 4.0], 0.9), 3.7);
/// ```
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    debug_assert!(sorted.is_sorted(), "quantile needs sorted values");
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let share = position - below as f64;
    // Don't use `a + share * (b - a)`, which may leave [a, b] by a rounding error.
    if share == 0.0 {
        sorted[below]
    } else {
        (sorted[below] * (1.0 - share) + sorted[above] * share).clamp(sorted[below], sorted[above])
    }
}

/// The minimum number of values beyond a percentile: with fewer, a single one changes it.
pub const BEYOND_PERCENTILE: u64 = 10;

/// Returns the value that a share `q` (0 to 1) of all values doesn't exceed. The histogram is given as the
/// largest value and the count of each step, in ascending order. For 1, returns the largest value of all.
/// `None` if fewer than [`BEYOND_PERCENTILE`] values are beyond the result.
///
/// ```
/// let steps = [(1, 900), (2, 90), (5, 10)];
/// assert_eq!(fathom_stats::percentile_of_steps(&steps, 0.99), Some(2));
/// assert_eq!(fathom_stats::percentile_of_steps(&steps, 0.999), None);
/// assert_eq!(fathom_stats::percentile_of_steps(&steps, 1.0), Some(5));
/// ```
pub fn percentile_of_steps(steps: &[(u64, u64)], q: f64) -> Option<u64> {
    if q >= 1.0 {
        return steps.last().map(|(value, _)| *value);
    }
    let count = steps.iter().map(|(_, values)| values).sum::<u64>() as f64;
    // Rounding errors must not reject a percentile that 10,000 values exactly support.
    if count * (1.0 - q) < BEYOND_PERCENTILE as f64 - 1e-6 {
        return None;
    }
    let rank = (count * q).ceil() as u64;
    let mut below = 0;
    let reached = steps.iter().find(|(_, values)| {
        below += values;
        below >= rank
    });
    reached.map(|(value, _)| *value)
}

/// Returns the finite values, sorted. Passing a value that is not finite is an error of the caller.
pub(crate) fn sorted_finite(values: &[f64]) -> Vec<f64> {
    debug_assert!(
        values.iter().all(|v| v.is_finite()),
        "a value is not finite"
    );
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_r_type_7() {
        // R: quantile(c(1, 3, 4, 8, 20), c(.1, .25, .5, .9, .99), type = 7)
        let sorted = [1.0, 3.0, 4.0, 8.0, 20.0];
        for (q, expected) in [
            (0.1, 1.8),
            (0.25, 3.0),
            (0.5, 4.0),
            (0.9, 15.2),
            (0.99, 19.52),
        ] {
            assert!((quantile(&sorted, q) - expected).abs() < 1e-12, "q = {q}");
        }
    }

    #[test]
    fn ends_are_the_extremes_and_beyond_is_clamped() {
        let sorted = [2.0, 5.0, 9.0];
        assert_eq!(quantile(&sorted, 0.0), 2.0);
        assert_eq!(quantile(&sorted, 1.0), 9.0);
        assert_eq!(quantile(&sorted, -1.0), 2.0);
        assert_eq!(quantile(&sorted, 7.0), 9.0);
        assert_eq!(quantile(&[4.0], 0.3), 4.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
