//! A typical value of one sample, and how well it is known.

use fathom_model::{Estimate, Metric, Summary};
use statrs::function::beta::beta_reg;

use crate::quantile::{quantile, sorted_finite};

/// Returns everything that is reported for one metric of one benchmark, in the metric's unit.
///
/// `level` is the confidence level of the median's interval, 0 to 1. `None` if there are no values. Values
/// that are not finite are skipped; passing them is an error of the caller.
///
/// ```
/// use fathom_model::Metric;
/// let summary = fathom_stats::summarize(Metric::Wall, &[3.0, 1.0, 2.0], 0.95).unwrap();
/// assert_eq!((summary.runs, summary.median.value, summary.mean), (3, 2.0, 2.0));
/// assert_eq!((summary.min, summary.max), (1.0, 3.0));
/// ```
pub fn summarize(metric: Metric, values: &[f64], level: f64) -> Option<Summary> {
    let sorted = sorted_finite(values);
    let median = interval_of_sorted(&sorted, level)?;
    let (mean, standard_deviation) = mean_and_deviation(&sorted);
    Some(Summary {
        metric,
        runs: sorted.len(),
        median,
        min: sorted[0],
        p10: quantile(&sorted, 0.10),
        p90: quantile(&sorted, 0.90),
        p99: quantile(&sorted, 0.99),
        max: sorted[sorted.len() - 1],
        mean,
        standard_deviation,
    })
}

/// Returns the median with its order-statistic interval: the k-th smallest to the k-th largest value, where k
/// follows from the binomial distribution, for any distribution of the values.
///
/// The true coverage is at least `level` (0 to 1). If the sample is too small for that, the interval is the
/// whole range and [`Estimate::level`] is the level of this range, 1 - 2^(1-n): 0 for one value, 0.9375 for
/// five. `None` if there are no values.
///
/// ```
/// let values = [8.0, 1.0, 3.0, 2.0, 7.0, 4.0, 6.0, 5.0, 9.0, 10.0];
/// let median = fathom_stats::median_interval(&values, 0.95).unwrap();
/// assert_eq!((median.value, median.low, median.high), (5.5, 2.0, 9.0));
/// let few = fathom_stats::median_interval(&values[..5], 0.95).unwrap();
/// assert_eq!((few.low, few.high, few.level), (1.0, 8.0, 0.9375));
/// ```
pub fn median_interval(values: &[f64], level: f64) -> Option<Estimate> {
    interval_of_sorted(&sorted_finite(values), level)
}

fn interval_of_sorted(sorted: &[f64], level: f64) -> Option<Estimate> {
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let value = quantile(sorted, 0.5);
    let rank = interval_rank(n, 1.0 - level);
    let (rank, level) = match rank {
        0 => (1, 1.0 - 2f64.powi(1 - n.min(1000) as i32)),
        rank => (rank, level),
    };
    Some(Estimate {
        value,
        low: sorted[rank - 1],
        high: sorted[n - rank],
        level,
    })
}

/// Returns the largest k for which the interval [k-th smallest, k-th largest] misses the median with a
/// probability of at most `alpha`; 0 if even the whole range misses it more often.
fn interval_rank(n: usize, alpha: f64) -> usize {
    // Invariant: `low` is good enough or 0, `high` is not good enough.
    let (mut low, mut high) = (0, n / 2 + 1);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if 2.0 * binomial_half_cdf(n, middle - 1) <= alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns P(at most `k` heads in `n` fair tosses), k < n.
fn binomial_half_cdf(n: usize, k: usize) -> f64 {
    beta_reg((n - k) as f64, (k + 1) as f64, 0.5)
}

/// Returns the mean and the sample standard deviation (n - 1; 0 for one value). It sums differences from one
/// of the values, so a large offset with a small spread loses no digits.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let origin = values[values.len() / 2];
    let shift = values.iter().map(|v| v - origin).sum::<f64>() / n;
    if values.len() < 2 {
        return (origin + shift, 0.0);
    }
    let (mut squares, mut rest) = (0.0, 0.0);
    for v in values {
        let deviation = (v - origin) - shift;
        squares += deviation * deviation;
        rest += deviation;
    }
    // The second term cancels the rounding error of the mean (Chan, Golub and LeVeque 1983).
    let variance = (squares - rest * rest / n) / (n - 1.0);
    (origin + shift, variance.max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_agree_with_published_tables() {
        // Conover, Practical Nonparametric Statistics; also R: qbinom(0.025, n, 0.5).
        for (n, k) in [
            (5, 0),
            (6, 1),
            (8, 1),
            (9, 2),
            (10, 2),
            (20, 6),
            (50, 18),
            (100, 40),
        ] {
            assert_eq!(interval_rank(n, 0.05), k, "n = {n}");
        }
    }

    #[test]
    fn binomial_cdf_agrees_with_counting() {
        // Pascal's triangle, n = 30.
        let n = 30;
        let mut row = vec![1u64];
        for i in 0..n {
            let mut next = vec![1u64; i + 2];
            for j in 1..=i {
                next[j] = row[j - 1] + row[j];
            }
            row = next;
        }
        for k in 0..n {
            let exact = row[..=k].iter().sum::<u64>() as f64 / 2f64.powi(n as i32);
            let got = binomial_half_cdf(n, k);
            assert!((got / exact - 1.0).abs() < 1e-9, "k = {k}: {got} {exact}");
        }
    }

    #[test]
    fn one_value_has_no_confidence() {
        let one = median_interval(&[7.0], 0.95).unwrap();
        assert_eq!(
            (one.value, one.low, one.high, one.level),
            (7.0, 7.0, 7.0, 0.0)
        );
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(summarize(Metric::Wall, &[], 0.95), None);
    }

    #[test]
    fn a_large_sample_has_a_narrow_interval() {
        let values: Vec<f64> = (0..100_001).map(f64::from).collect();
        let median = median_interval(&values, 0.95).unwrap();
        // 1.96 * sqrt(n) / 2 = 310 ranks to either side.
        assert_eq!(median.value, 50_000.0);
        assert!((median.high - 50_310.0).abs() <= 1.0, "{}", median.high);
        assert_eq!(median.value - median.low, median.high - median.value);
    }
}
