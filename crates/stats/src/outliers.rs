//! The limit above which a run is unusually slow.

use crate::quantile::quantile;

/// Runs less than this share above the median aren't reported, however similar the others are.
const ABOVE_MEDIAN: f64 = 0.10;

/// Returns the limit above which a value of an ascending sample is called slow, in the values' unit: the
/// third quartile plus three times the interquartile range (Tukey's outer fence), but at least 10 % above the
/// median. Values beyond it are reported and explained, never dropped. `None` for fewer than ten values: with
/// so few, the quartiles may be too close together by chance.
///
/// ```
/// let mut sorted: Vec<f64> = (0..30).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
/// sorted.push(1.5);
/// assert!(fathom_stats::slow_fence(&sorted).is_some_and(|fence| fence < 1.5));
/// ```
pub fn slow_fence(sorted: &[f64]) -> Option<f64> {
    if sorted.len() < 10 {
        return None;
    }
    let (low, high) = (quantile(sorted, 0.25), quantile(sorted, 0.75));
    let worth_a_word = quantile(sorted, 0.5) * (1.0 + ABOVE_MEDIAN);
    Some((high + 3.0 * (high - low)).max(worth_a_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn a_small_excess_is_not_slow() {
        let sample = sorted(vec![1.0; 30].into_iter().chain([1.05, 1.2]).collect());
        assert_eq!(slow_fence(&sample), Some(1.1));
    }

    #[test]
    fn a_second_mode_is_not_a_row_of_outliers() {
        let values = sorted(
            (0..40)
                .map(|i| if i % 3 == 0 { 2.0 } else { 1.0 })
                .collect(),
        );
        assert!(slow_fence(&values).is_some_and(|fence| fence > 2.0));
        assert_eq!(slow_fence(&[]), None);
    }
}
