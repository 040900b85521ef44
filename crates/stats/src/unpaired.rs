//! The factor by which one sample exceeds another, if they were not measured together.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use fathom_model::{Estimate, Verdict};

use crate::discovery::benjamini_hochberg;
use crate::quantile::sorted_finite;

/// The maximum total size of both samples for which the exact rank distribution is computed: binomial
/// coefficients are exact in a float up to 50 over 25.
const COUNTED: usize = 50;

/// The data of one separate measurement of a quantity; all values are positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The runs of the measurement; empty if only the estimate was kept.
    pub samples: Vec<f64>,
    /// The median of the runs with its interval.
    pub estimate: Estimate,
}

/// How much separate measurements of the same thing differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BetweenSessions {
    /// The variance was measured.
    Measured {
        /// The variance of the logarithm of one measurement (no unit), including the scatter of its own runs.
        variance: f64,
        /// The degrees of freedom of the variance.
        freedom: f64,
    },
    /// A share was assumed: two measurements of the same thing differ by less than this in 95 of 100 cases.
    Assumed(f64),
}

impl BetweenSessions {
    /// Returns the share by which two measurements of the same thing may differ, in 95 of 100 cases.
    pub fn share(self) -> f64 {
        match self {
            BetweenSessions::Measured { variance, freedom } => {
                (quantile_of(0.975, freedom) * (2.0 * variance).sqrt()).exp_m1()
            }
            BetweenSessions::Assumed(share) => share,
        }
    }
}

/// A ratio of measurements made at different times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnpairedRatio {
    /// Head / base with its interval at 95 %.
    pub ratio: Estimate,
    /// Two-sided p-value of 'no difference'.
    pub p_value: f64,
}

/// Returns the ratio head / base of separate measurements, with an interval that includes the drift between
/// them.
///
/// For two measurements with samples, the logarithm of the ratio is the median of all differences of their
/// logarithms (Hodges and Lehmann 1963) and its standard error is derived from the interval of the
/// Mann-Whitney test (Moses 1965). Without samples, both come from the medians and their intervals. With
/// several measurements on a side, the mean over all pairs is used.
///
/// That error doesn't include changes from one measurement to the next, such as memory layout and neighbours,
/// so the variance between measurements is added as a random effect (DerSimonian and Laird 1986). A measured
/// variance already contains the scatter of the runs, so the larger of the two is used, with Student's t for
/// its few degrees of freedom. An assumed variance is added.
///
/// `besides` is a share by which the ratio may be off for another known reason, such as waits for a CPU. It
/// is added like an assumed drift, regardless of the number of measurements.
///
/// Measurements that are not positive are skipped; `None` if a side has none.
///
/// ```
/// use fathom_model::Estimate;
/// use fathom_stats::{BetweenSessions, Measured, unpaired_ratio};
/// let measured = |value: f64| Measured {
///     samples: (0..20).map(|i| value * (1.0 + f64::from(i % 5) / 1000.0)).collect(),
///     estimate: Estimate { value, low: value, high: value, level: 0.95 },
/// };
/// let drift = BetweenSessions::Assumed(0.05);
/// let found = unpaired_ratio(&[measured(1.0)], &[measured(1.2)], drift, 0.0).unwrap();
/// assert!((found.ratio.value - 1.2).abs() < 1e-9);
/// assert!(found.ratio.low > 1.14 && found.ratio.high < 1.27 && found.p_value < 0.01);
/// ```
pub fn unpaired_ratio(
    base: &[Measured],
    head: &[Measured],
    drift: BetweenSessions,
    besides: f64,
) -> Option<UnpairedRatio> {
    let usable = |one: &&Measured| one.estimate.value > 0.0 && one.estimate.value.is_finite();
    let base: Vec<&Measured> = base.iter().filter(usable).collect();
    let head: Vec<&Measured> = head.iter().filter(usable).collect();
    let (mut centre, mut variance) = (0.0, 0.0);
    for one in &base {
        for other in &head {
            let (log_ratio, error) = pair(one, other);
            centre += log_ratio;
            variance += error * error;
        }
    }
    let pairs = (base.len() * head.len()) as f64;
    if pairs == 0.0 {
        return None;
    }
    centre /= pairs;
    // Half of a pair's variance comes from each side, and each side's mean has as many parts as measurements.
    let parts = 1.0 / base.len() as f64 + 1.0 / head.len() as f64;
    let own = variance / pairs / 2.0 * parts;
    let (whole, freedom) = match drift {
        BetweenSessions::Measured { variance, freedom } => (own.max(variance * parts), freedom),
        BetweenSessions::Assumed(share) => {
            let deviation = deviation_of(share);
            (own + deviation * deviation / 2.0 * parts, f64::INFINITY)
        }
    };
    let deviation = whole.sqrt().hypot(deviation_of(besides));
    let half = quantile_of(0.975, freedom) * deviation;
    Some(UnpairedRatio {
        ratio: Estimate {
            value: centre.exp(),
            low: (centre - half).exp(),
            high: (centre + half).exp(),
            level: 0.95,
        },
        p_value: two_sided(centre.abs() / deviation, freedom),
    })
}

/// The significance level of a claimed difference, as in [`crate::judge`].
const CLAIM: f64 = 0.01;

/// Judges several ratios together, like [`crate::judge`]: `Same` if the whole interval is within the margin,
/// else `Faster` or `Slower` (less or more than the base) if the p-value is at most 1 % by the rule of
/// Benjamini and Hochberg, else `Undecided`.
pub fn judge_unpaired(ratios: &[UnpairedRatio], margin: f64) -> Vec<Verdict> {
    let p_values: Vec<f64> = ratios.iter().map(|one| one.p_value).collect();
    let claimed = benjamini_hochberg(&p_values, CLAIM);
    let judge = |(one, claimed): (&UnpairedRatio, bool)| {
        let ratio = &one.ratio;
        if ratio.low >= 1.0 / (1.0 + margin) && ratio.high <= 1.0 + margin {
            Verdict::Same
        } else if !claimed {
            Verdict::Undecided
        } else if ratio.value < 1.0 {
            Verdict::Faster
        } else {
            Verdict::Slower
        }
    };
    ratios.iter().zip(claimed).map(judge).collect()
}

/// Returns the standard deviation of a logarithm that deviates by less than `share` in 95 of 100 cases.
fn deviation_of(share: f64) -> f64 {
    share.ln_1p() / quantile_of(0.975, f64::INFINITY)
}

/// Returns the logarithm of the ratio of two measurements, and its standard error.
fn pair(base: &Measured, head: &Measured) -> (f64, f64) {
    let logs = |one: &Measured| {
        let positive = one.samples.iter().filter(|value| **value > 0.0);
        sorted_finite(&positive.map(|value| value.ln()).collect::<Vec<_>>())
    };
    let (r, s) = (logs(base), logs(head));
    if r.len() >= 2 && s.len() >= 2 {
        return shift(&r, &s);
    }
    let error = error_of(&base.estimate).hypot(error_of(&head.estimate));
    (head.estimate.value.ln() - base.estimate.value.ln(), error)
}

/// Returns the standard error of the logarithm of an estimate.
fn error_of(estimate: &Estimate) -> f64 {
    let Estimate {
        low, high, level, ..
    } = *estimate;
    if !(low > 0.0 && high > low && level > 0.0) {
        return 0.0;
    }
    (high.ln() - low.ln()) / 2.0 / quantile_of(0.5 + level.min(0.999) / 2.0, f64::INFINITY)
}

/// Returns the median of all differences of two sorted samples, and its standard error. The error is derived
/// from the interval at 95 %, or from the widest possible interval if there are few values.
fn shift(r: &[f64], s: &[f64]) -> (f64, f64) {
    let all = r.len() as f64 * s.len() as f64;
    let middle = |rank: f64| nth_difference(r, s, rank);
    let centre = f64::midpoint(
        middle(((all + 1.0) / 2.0).floor()),
        middle(((all + 1.0) / 2.0).ceil()),
    );
    let (rank, level) = interval_rank(r.len(), s.len());
    let half = (middle(all + 1.0 - rank) - middle(rank)) / 2.0;
    let error = half / quantile_of(0.5 + level / 2.0, f64::INFINITY);
    (centre, error)
}

/// Returns the difference of rank `rank` (from 1) among all s - r. It is found by bisection, without a list
/// of all differences.
fn nth_difference(r: &[f64], s: &[f64], rank: f64) -> f64 {
    let at_most = |limit: f64| {
        let (mut count, mut below) = (0usize, 0usize);
        for value in s {
            // r >= value - limit; fewer satisfy that as the value grows.
            while below < r.len() && r[below] < value - limit {
                below += 1;
            }
            count += r.len() - below;
        }
        count as f64
    };
    let (mut low, mut high) = (s[0] - r[r.len() - 1], s[s.len() - 1] - r[0]);
    if at_most(low) >= rank {
        return low;
    }
    // 60 halvings leave less than the rounding error of a logarithm.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match at_most(middle) >= rank {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// Returns the rank from either end at which the interval of the differences ends, and its level: 95 %, or
/// less if there are few values.
fn interval_rank(m: usize, n: usize) -> (f64, f64) {
    let (a, b) = (m as f64, n as f64);
    if m + n > COUNTED {
        let deviation = (a * b * (a + b + 1.0) / 12.0).sqrt();
        let rank = a * b / 2.0 - quantile_of(0.975, f64::INFINITY) * deviation;
        return (rank.floor().max(1.0), 0.95);
    }
    let ways = rank_sums(m, n);
    let all: f64 = ways.iter().sum();
    let (mut rank, mut below) = (0, 0.0);
    while 2.0 * (below + ways[rank]) <= 0.05 * all {
        below += ways[rank];
        rank += 1;
    }
    match rank {
        0 => (1.0, 1.0 - 2.0 * ways[0] / all),
        _ => (rank as f64, 0.95),
    }
}

/// Returns the number of orders of m and n values in which the Mann-Whitney statistic is 0, 1, ...: the
/// coefficients of the Gaussian binomial.
fn rank_sums(m: usize, n: usize) -> Vec<f64> {
    let mut ways = vec![0.0; m * n + m + n + 1];
    ways[0] = 1.0;
    for i in 1..=m {
        for at in (n + i..ways.len()).rev() {
            ways[at] -= ways[at - n - i];
        }
        for at in i..ways.len() {
            ways[at] += ways[at - i];
        }
    }
    ways.truncate(m * n + 1);
    ways
}

fn quantile_of(share: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) if freedom.is_finite() => t.inverse_cdf(share),
        _ => Normal::standard().inverse_cdf(share),
    }
}

fn two_sided(distance: f64, freedom: f64) -> f64 {
    if distance.is_nan() {
        return 1.0; // no difference and no scatter
    }
    let tail = match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) if freedom.is_finite() => t.sf(distance),
        _ => Normal::standard().sf(distance),
    };
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_sums_are_those_of_mann_and_whitney() {
        // Mann and Whitney (1947), table I, n = 3, m = 3: P(U <= 0) .050, 1 .100, 2 .200, 3 .350.
        let ways = rank_sums(3, 3);
        let all: f64 = ways.iter().sum();
        let up_to = |u: usize| ways[..=u].iter().sum::<f64>() / all;
        assert_eq!(all, 20.0);
        for (u, expected) in [(0, 0.05), (1, 0.1), (2, 0.2), (3, 0.35)] {
            assert!((up_to(u) - expected).abs() < 1e-12, "{u}");
        }
    }

    #[test]
    fn the_shift_is_the_median_of_all_differences() {
        // Hollander and Wolfe, permeability of membranes: at term and at 12 to 26 weeks. R:
        // wilcox.test(x, y, conf.int = TRUE) estimates 0.305, 95 % interval -0.15 to 0.76.
        let mut x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let mut y = [1.15, 0.88, 0.90, 0.74, 1.21];
        x.sort_by(f64::total_cmp);
        y.sort_by(f64::total_cmp);
        let (centre, error) = shift(&y, &x);
        assert!((centre - 0.305).abs() < 1e-9, "{centre}");
        let half = error * quantile_of(0.975, f64::INFINITY);
        assert!((half - (0.76 + 0.15) / 2.0).abs() < 1e-9, "{half}");
    }
}
