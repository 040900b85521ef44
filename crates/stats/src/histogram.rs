//! How are the values spread, for drawing?

use crate::quantile::{quantile, sorted_finite};

/// Interquartile ranges above the third quartile at which the drawing is cut: a normal sample never
/// reaches it, and one run that took 100 times as long does not squeeze all others into one bin.
const RANGES: f64 = 6.0;

/// Counts of values in bins of equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Lower end of the first bin: the smallest value, in the unit of the values.
    pub low: f64,
    /// Upper end of the last bin (itself included), in the unit of the values.
    pub high: f64,
    /// Number of values in each bin, from `low` to `high`.
    pub counts: Vec<usize>,
    /// Number of values beyond `high`.
    pub above: usize,
}

/// Histogram with `bins` bins (at least one) from the smallest value to the largest, or to p75 + 6
/// interquartile ranges if that is less. Without values: no counts, from 0 to 0.
///
/// ```
/// let histogram = fathom_stats::histogram(&[1.0, 1.5, 2.0, 2.5, 3.0, 1000.0], 2);
/// assert_eq!((histogram.low, histogram.counts.iter().sum::<usize>(), histogram.above), (1.0, 5, 1));
/// ```
pub fn histogram(values: &[f64], bins: usize) -> Histogram {
    let sorted = sorted_finite(values);
    let mut counts = vec![0; bins.max(1)];
    let (Some(&low), Some(&max)) = (sorted.first(), sorted.last()) else {
        return Histogram {
            low: 0.0,
            high: 0.0,
            counts,
            above: 0,
        };
    };
    let (p25, p75) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let limit = p75 + RANGES * (p75 - p25);
    // Half of the values equal: the range says nothing of the rest, so that nothing is cut.
    let high = if p75 > p25 { max.min(limit) } else { max };
    let last = counts.len() - 1;
    let width = (high - low) / counts.len() as f64;
    let inside = sorted.partition_point(|v| *v <= high);
    for v in &sorted[..inside] {
        let bin = if width > 0.0 {
            ((v - low) / width) as usize
        } else {
            0
        };
        counts[bin.min(last)] += 1;
    }
    Histogram {
        low,
        high,
        counts,
        above: sorted.len() - inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 977)).collect();
        for bins in [0, 1, 7, 40] {
            let h = histogram(&values, bins);
            assert_eq!(h.counts.len(), bins.max(1));
            assert_eq!(h.counts.iter().sum::<usize>() + h.above, values.len());
        }
    }

    #[test]
    fn equal_values_and_the_ends_fall_into_a_bin() {
        assert_eq!(histogram(&[2.0; 5], 3).counts, [5, 0, 0]);
        assert_eq!(histogram(&[0.0, 1.0, 2.0, 3.0], 3).counts, [1, 1, 2]);
        let mostly_equal = histogram(&[1.0, 1.0, 1.0, 1.0, 1.0, 2.0], 2);
        assert_eq!((mostly_equal.counts, mostly_equal.above), (vec![5, 1], 0));
        assert_eq!(histogram(&[], 2).counts, [0, 0]);
    }
}
