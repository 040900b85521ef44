//! Intervals of a tail quantile and of the mean of one sample.

use fathom_model::Estimate;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

use crate::quantile::{quantile, sorted_finite};

/// Returns quantile `q` (0 to 1) with its order-statistic interval at `level`, for any distribution of the
/// values. If the sample is too small for that level at this quantile, the interval ends at the extreme value
/// and [`Estimate::level`] is the level that is reached. `None` if there are no values.
///
/// ```
/// let values: Vec<f64> = (1..=100).map(f64::from).collect();
/// let p90 = fathom_stats::quantile_interval(&values, 0.9, 0.95).unwrap();
/// assert_eq!((p90.low, p90.high), (84.0, 96.0));
/// ```
pub fn quantile_interval(values: &[f64], q: f64, level: f64) -> Option<Estimate> {
    let sorted = sorted_finite(values);
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let q = q.clamp(0.0, 1.0);
    let half = (1.0 - level) / 2.0;
    // The number of values below the quantile is binomial. Ranks count from 1.
    let low = (1..=n)
        .take_while(|rank| at_most(n, rank - 1, q) <= half)
        .last();
    let high = (1..=n).find(|rank| 1.0 - at_most(n, rank - 1, q) <= half);
    let (low_rank, high_rank) = (low.unwrap_or(1), high.unwrap_or(n));
    let attained = match (low, high) {
        (Some(_), Some(_)) => level,
        _ => (at_most(n, high_rank - 1, q) - at_most(n, low_rank - 1, q)).clamp(0.0, level),
    };
    Some(Estimate {
        value: quantile(&sorted, q),
        low: sorted[low_rank - 1],
        high: sorted[high_rank - 1],
        level: attained,
    })
}

/// Returns P(at most `k` of `n` values are below the quantile `q`).
fn at_most(n: usize, k: usize, q: f64) -> f64 {
    match (k >= n, q) {
        (true, _) => 1.0,
        (false, q) if q <= 0.0 => 1.0,
        (false, q) if q >= 1.0 => 0.0,
        _ => beta_reg((n - k) as f64, (k + 1) as f64, 1.0 - q),
    }
}

/// Returns the arithmetic mean with Student's interval, which assumes that means are approximately normal. A
/// single value has level 0. `None` if there are no values.
///
/// ```
/// let mean = fathom_stats::mean_interval(&[1.0, 2.0, 3.0], 0.95).unwrap();
/// assert_eq!(mean.value, 2.0);
/// assert!((mean.high - 4.484).abs() < 1e-3);
/// ```
pub fn mean_interval(values: &[f64], level: f64) -> Option<Estimate> {
    let sorted = sorted_finite(values);
    let n = sorted.len() as f64;
    if sorted.is_empty() {
        return None;
    }
    let value = sorted.iter().sum::<f64>() / n;
    let freedom = StudentsT::new(0.0, 1.0, n - 1.0);
    let Ok(student) = freedom else {
        return Some(Estimate {
            value,
            low: value,
            high: value,
            level: 0.0,
        });
    };
    let variance = sorted.iter().map(|v| (v - value).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student.inverse_cdf(0.5 + level / 2.0) * (variance / n).sqrt();
    Some(Estimate {
        value,
        low: value - half,
        high: value + half,
        level,
    })
}

/// Returns how many standard deviations on either side of the middle of a normal distribution contain `level`
/// (0 to 1) of it.
///
/// ```
/// assert!((fathom_stats::normal_half_width(0.95) - 1.96).abs() < 1e-3);
/// ```
pub fn normal_half_width(level: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + level.clamp(0.0, 1.0) / 2.0)
}

/// Returns the mean of `subject` minus that of `reference`, with Welch's interval: Student's for two samples
/// with different spreads. If either sample has a single value, the level is 0. `None` if one has no values.
///
/// ```
/// let more = fathom_stats::mean_difference(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95).unwrap();
/// assert_eq!(more.value, 3.0);
/// assert!((more.high - 5.267).abs() < 1e-3);
/// ```
pub fn mean_difference(reference: &[f64], subject: &[f64], level: f64) -> Option<Estimate> {
    let moments = |values: &[f64]| {
        let mean = mean_interval(values, level)?.value;
        let n = values.iter().filter(|value| value.is_finite()).count() as f64;
        let finite = values.iter().filter(|value| value.is_finite());
        let squares: f64 = finite.map(|value| (value - mean).powi(2)).sum();
        Some((mean, n, squares / (n - 1.0).max(1.0) / n))
    };
    let ((from, n, spread), (to, m, more)) = (moments(reference)?, moments(subject)?);
    let value = to - from;
    let both = spread + more;
    let freedom = match both > 0.0 {
        true => {
            both.powi(2) / (spread.powi(2) / (n - 1.0).max(1.0) + more.powi(2) / (m - 1.0).max(1.0))
        }
        false => n + m - 2.0,
    };
    let student = StudentsT::new(0.0, 1.0, freedom);
    let (half, level) = match student {
        Ok(student) if n.min(m) > 1.0 => {
            (student.inverse_cdf(0.5 + level / 2.0) * both.sqrt(), level)
        }
        _ => (0.0, 0.0),
    };
    Some(Estimate {
        value,
        low: value - half,
        high: value + half,
        level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_the_median_agrees_with_that_of_summaries() {
        for n in [10, 20, 50, 100] {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let here = quantile_interval(&values, 0.5, 0.95).unwrap();
            let there = crate::median_interval(&values, 0.95).unwrap();
            assert_eq!((here.low, here.high), (there.low, there.high), "n = {n}");
        }
    }

    #[test]
    fn a_tail_of_few_values_has_less_confidence() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let p99 = quantile_interval(&values, 0.99, 0.95).unwrap();
        // The largest of 20 values is above p99 in 1 - 0.99^20 = 18 % of cases.
        assert_eq!(p99.high, 20.0);
        assert!(p99.level < 0.2, "{}", p99.level);
    }

    #[test]
    fn a_sample_without_spread_leaves_the_freedom_of_the_other() {
        let same = mean_difference(&[2.0; 3], &[5.0; 4], 0.95).unwrap();
        assert_eq!((same.low, same.high, same.level), (3.0, 3.0, 0.95));
        let of_one = mean_difference(&[0.0; 3], &[1.0, 2.0, 3.0], 0.95).unwrap();
        let alone = mean_interval(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert!((of_one.high - alone.high).abs() < 1e-12, "{of_one:?}");
    }

    #[test]
    fn one_value_has_no_confidence() {
        assert_eq!(mean_interval(&[7.0], 0.95).unwrap().level, 0.0);
        assert_eq!(quantile_interval(&[7.0], 0.9, 0.95).unwrap().level, 0.0);
        assert_eq!(
            mean_difference(&[7.0], &[8.0, 9.0], 0.9).unwrap().level,
            0.0
        );
        assert_eq!(mean_interval(&[], 0.95), None);
        assert_eq!(mean_difference(&[], &[8.0, 9.0], 0.9), None);
        assert_eq!(quantile_interval(&[], 0.5, 0.95), None);
    }
}
