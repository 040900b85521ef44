//! Histograms, for drawing.

use crate::outliers::slow_fence;

/// A histogram from the smallest value to the fence.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The smallest value, in the values' unit.
    pub low: f64,
    /// The upper end of the last bin, in the values' unit.
    pub high: f64,
    /// Number of values in each bin; all bins have the same width.
    pub counts: Vec<usize>,
    /// Number of values above the last bin.
    pub beyond: usize,
}

/// Returns `bins` bins over an ascending sample, up to the fence above which values are slow; `None` if a
/// histogram isn't useful: fewer than ten values, or all equal.
///
/// ```
/// let sorted: Vec<f64> = (0..40).map(f64::from).chain([900.0]).collect();
/// let histogram = fathom_stats::histogram(&sorted, 8).unwrap();
/// assert_eq!((histogram.counts.iter().sum::<usize>(), histogram.beyond), (40, 1));
/// ```
pub fn histogram(sorted: &[f64], bins: usize) -> Option<Histogram> {
    let fence = slow_fence(sorted)?;
    let low = sorted[0];
    let inside = sorted.partition_point(|value| *value <= fence);
    let high = sorted[inside.saturating_sub(1)];
    if bins == 0 || high <= low {
        return None;
    }
    let mut counts = vec![0; bins];
    for value in &sorted[..inside] {
        let bin = ((value - low) / (high - low) * bins as f64) as usize;
        counts[bin.min(bins - 1)] += 1;
    }
    Some(Histogram {
        low,
        high,
        counts,
        beyond: sorted.len() - inside,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn every_value_is_in_a_bin_or_beyond() {
        let sample = sorted((0..40).map(f64::from).chain([500.0, 900.0]).collect());
        let histogram = histogram(&sample, 8).expect("the values differ");
        assert_eq!(histogram.beyond, 2);
        assert_eq!(histogram.counts.iter().sum::<usize>(), 40);
        assert_eq!((histogram.low, histogram.high), (0.0, 39.0));
    }

    #[test]
    fn equal_values_have_no_picture() {
        assert_eq!(histogram(&[1.0; 12], 8), None);
        assert_eq!(histogram(&[1.0, 2.0], 8), None);
    }
}
