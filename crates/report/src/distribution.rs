//! The shape of a sample: for charts and to identify slow runs, not for verdicts.

pub(crate) use fathom_stats::{histogram, quantile, slow_fence};

/// Returns the two values of an ascending sample that enclose the quantile `p` of its distribution with 95 %
/// confidence: the order statistics 1.96 standard deviations of the binomial below and above it. `None` if
/// the sample is too small to have both.
pub(crate) fn quantile_range(sorted: &[f64], p: f64) -> Option<(f64, f64)> {
    let n = sorted.len() as f64;
    let half = 1.96 * (n * p * (1.0 - p)).sqrt();
    let (below, above) = ((n * p - half).floor(), (n * p + half).ceil());
    if below < 1.0 || above > n {
        return None;
    }
    Some((sorted[below as usize - 1], sorted[above as usize - 1]))
}

/// Returns `values` in ascending order.
pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        let sample = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&sample, 0.0), 1.0);
        assert_eq!(quantile(&sample, 0.5), 2.5);
        assert_eq!(quantile(&sample, 1.0), 4.0);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
    }

    #[test]
    fn a_quantile_is_not_bounded_by_too_few_values() {
        let sample: Vec<f64> = (1..=50).map(f64::from).collect();
        assert_eq!(quantile_range(&sample, 0.9), Some((40.0, 50.0)));
        assert_eq!(quantile_range(&sample[..20], 0.9), None);
    }
}
