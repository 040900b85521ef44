//! The factor by which one program takes longer than another, if both ran in the same rounds.

use fathom_model::{Estimate, Shift};

use crate::quantile::{quantile, sorted_finite};
use crate::signed_rank::SignedRank;
use crate::walsh::{
    count_sums_at_most, count_sums_below, median_average, nth_average, number_of_averages,
};

/// The ratio of two samples measured in the same rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedRatio {
    /// The Hodges-Lehmann estimate of subject / reference with its Wilcoxon interval (no unit).
    pub ratio: Estimate,
    /// Two-sided p-value of 'no difference', 0 to 1 (Wilcoxon signed-rank).
    pub p_value: f64,
    /// Ratios of the quantiles p10, p50 and p90 of the two samples.
    pub shift: Shift,
    /// Number of rounds in which both values were positive.
    pub rounds: usize,
}

/// Returns the ratio subject / reference of values paired by their index (the same round).
///
/// The estimate is the median of all means of two log ratios (Hodges and Lehmann 1963). The interval is the
/// set of ratios that the signed-rank test at `1 - level` does not reject, so that the p-value is at most `1
/// - level` exactly if the interval excludes 1. Pairs that tie count against a difference: with ties the
///   error rate is below the nominal one, never above. If there are too few rounds for `level`, the interval
///   is the whole range of the pairs and [`Estimate::level`] is its level, 1 - 2^(1-n).
///
/// Rounds in which a value is not positive and finite are skipped. `None` if no rounds remain. O(n log n):
/// 0.05 ms for 50 rounds, 8 to 70 ms for 100,000.
///
/// ```
/// let reference = [1.00, 1.02, 0.99, 1.01, 1.00, 0.98, 1.03, 1.00];
/// let subject: Vec<f64> = reference.iter().map(|v| v * 1.1).collect();
/// let paired = fathom_stats::paired_ratio(&reference, &subject, 0.95).unwrap();
/// assert!((paired.ratio.value - 1.1).abs() < 1e-12);
/// assert_eq!(paired.p_value, 2.0 / 256.0);
/// ```
///
/// # Panics
/// If the slices differ in length, since they can't be pairs.
pub fn paired_ratio(reference: &[f64], subject: &[f64], level: f64) -> Option<PairedRatio> {
    Some(Pairs::new(reference, subject)?.ratio(1.0 - level).0)
}

/// Returns by how much the subject's values exceed the reference's in the same round: the median of all means
/// of two differences, with the interval of the signed-rank test at `level`, in the samples' own unit. With
/// too few rounds for `level`, it behaves like [`paired_ratio`]. `None` if there are no rounds in which both
/// values are finite.
///
/// ```
/// let reference = [10.0, 12.0, 9.0, 11.0, 10.0, 8.0, 13.0, 10.0];
/// let subject: Vec<f64> = reference.iter().map(|v| v + 5.0).collect();
/// let more = fathom_stats::paired_difference(&reference, &subject, 0.95).unwrap();
/// assert_eq!((more.value, more.low, more.high), (5.0, 5.0, 5.0));
/// ```
///
/// # Panics
/// If the slices differ in length, since they can't be pairs.
pub fn paired_difference(reference: &[f64], subject: &[f64], level: f64) -> Option<Estimate> {
    assert_eq!(
        reference.len(),
        subject.len(),
        "pairs need as many reference values as subject values"
    );
    let pairs = reference.iter().zip(subject);
    let differences: Vec<f64> = pairs.map(|(r, s)| s - r).collect();
    let differences = sorted_finite(&differences);
    let n = differences.len();
    if n == 0 {
        return None;
    }
    let total = number_of_averages(n);
    let (rank, level) = match SignedRank::new(n).interval_rank(1.0 - level, total) {
        0 => (1, 1.0 - 2f64.powi(1 - n as i32)),
        rank => (rank, level),
    };
    Some(Estimate {
        value: median_average(&differences),
        low: nth_average(&differences, rank),
        high: nth_average(&differences, total + 1 - rank),
        level,
    })
}

/// The usable pairs of two samples, ready for intervals at any level.
pub(crate) struct Pairs {
    log_ratios: Vec<f64>,
    distribution: SignedRank,
    centre: f64,
    pub(crate) p_value: f64,
    shift: Shift,
}

impl Pairs {
    pub(crate) fn new(reference: &[f64], subject: &[f64]) -> Option<Self> {
        assert_eq!(
            reference.len(),
            subject.len(),
            "pairs need as many reference values as subject values"
        );
        let usable = |v: f64| v > 0.0 && v.is_finite();
        let (reference, subject): (Vec<f64>, Vec<f64>) = reference
            .iter()
            .zip(subject)
            .filter(|&(&r, &s)| usable(r) && usable(s))
            .unzip();
        if reference.is_empty() {
            return None;
        }
        // Don't use ln(s / r): a difference only changes its sign when the two are swapped.
        let log_ratios: Vec<f64> = reference
            .iter()
            .zip(&subject)
            .map(|(r, s)| s.ln() - r.ln())
            .collect();
        let log_ratios = sorted_finite(&log_ratios);
        let distribution = SignedRank::new(log_ratios.len());
        let total = number_of_averages(log_ratios.len());
        let not_above = count_sums_at_most(&log_ratios, 0.0);
        let not_below = total - count_sums_below(&log_ratios, 0.0);
        Some(Self {
            centre: median_average(&log_ratios),
            p_value: distribution.two_sided(not_above.min(not_below)),
            shift: shift(&reference, &subject),
            log_ratios,
            distribution,
        })
    }

    pub(crate) fn rounds(&self) -> usize {
        self.log_ratios.len()
    }

    /// Returns the ratio with its interval at level `1 - alpha`, and whether there are enough rounds for that
    /// level.
    pub(crate) fn ratio(&self, alpha: f64) -> (PairedRatio, bool) {
        let n = self.rounds();
        let total = number_of_averages(n);
        let rank = self.distribution.interval_rank(alpha, total);
        let attained = rank > 0;
        let rank = rank.max(1);
        let level = if attained {
            1.0 - alpha
        } else {
            1.0 - 2f64.powi(1 - n as i32)
        };
        let ratio = Estimate {
            value: self.centre.exp(),
            low: nth_average(&self.log_ratios, rank).exp(),
            high: nth_average(&self.log_ratios, total + 1 - rank).exp(),
            level,
        };
        let paired = PairedRatio {
            ratio,
            p_value: self.p_value,
            shift: self.shift,
            rounds: n,
        };
        (paired, attained)
    }
}

fn shift(reference: &[f64], subject: &[f64]) -> Shift {
    let (reference, subject) = (sorted_finite(reference), sorted_finite(subject));
    let ratio = |q| quantile(&subject, q) / quantile(&reference, q);
    Shift {
        p10: ratio(0.1),
        p50: ratio(0.5),
        p90: ratio(0.9),
    }
}
