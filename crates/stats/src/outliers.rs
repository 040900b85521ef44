//! Which runs took unusually long?

use crate::quantile::{quantile, sorted_finite};

/// Interquartile ranges above the third quartile (Tukey's 'far out').
const RANGES: f64 = 3.0;
/// Share above the median below which a run is not worth a word, however tight the others are.
const ABOVE_MEDIAN: f64 = 0.10;

/// Indices of the values above p75 + 3 interquartile ranges that are also at least 10 % above the
/// median. They are pointed out and explained, never dropped.
///
/// ```
/// let mut values: Vec<f64> = (0..30).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
/// values[7] = 1.5;
/// assert_eq!(fathom_stats::outliers(&values), [7]);
/// ```
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let sorted = sorted_finite(values);
    let (p25, p50, p75) = (
        quantile(&sorted, 0.25),
        quantile(&sorted, 0.5),
        quantile(&sorted, 0.75),
    );
    let fence = p75 + RANGES * (p75 - p25);
    let worth_a_word = p50 + ABOVE_MEDIAN * p50.abs();
    let far_out = |v: f64| v.is_finite() && v > fence && v >= worth_a_word;
    values
        .iter()
        .enumerate()
        .filter(|(_, v)| far_out(**v))
        .map(|(i, _)| i)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_values_and_small_excesses_are_not_outliers() {
        let mut values = vec![1.0; 30];
        values[3] = 0.1;
        values[4] = 1.05;
        assert!(outliers(&values).is_empty());
        values[5] = 1.2;
        assert_eq!(outliers(&values), [5]);
        assert!(outliers(&[]).is_empty());
        assert!(outliers(&[1.0]).is_empty());
    }

    #[test]
    fn a_second_mode_is_not_a_row_of_outliers() {
        let values: Vec<f64> = (0..40)
            .map(|i| if i % 3 == 0 { 2.0 } else { 1.0 })
            .collect();
        assert!(outliers(&values).is_empty());
    }
}
