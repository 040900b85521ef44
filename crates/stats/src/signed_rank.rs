//! The distribution of Wilcoxon's signed-rank statistic if signs are coin tosses.

use std::sync::OnceLock;

use statrs::function::erf::erfc;

/// The maximum number of pairs for which the exact distribution is computed; for more, a normal tail is used.
/// At 100 pairs, the normal tail exceeds the exact one by at most 4.5 % for p from 0.01 to 0.05 (checked by a
/// test).
const LARGEST_EXACT: usize = 100;

/// The exact distributions. Each is computed once: 0.2 ms for 100 pairs, as much as everything else that a
/// verdict takes.
static EXACT: [OnceLock<Vec<f64>>; LARGEST_EXACT + 1] =
    [const { OnceLock::new() }; LARGEST_EXACT + 1];

/// The distribution of the sum of the positive ranks, if each of the ranks 1 to n is positive or negative
/// with probability one half.
pub(crate) enum SignedRank {
    /// P(T <= t) for t = 0, 1, ... up to the middle of the distribution.
    Exact(&'static [f64]),
    /// Normal approximation with continuity correction, for n pairs.
    Normal(f64),
}

impl SignedRank {
    pub(crate) fn new(n: usize) -> Self {
        if n <= LARGEST_EXACT {
            Self::Exact(EXACT[n].get_or_init(|| cumulated(n)))
        } else {
            Self::Normal(n as f64)
        }
    }

    /// Returns the two-sided p-value if the smaller of the two rank sums is `t`.
    pub(crate) fn two_sided(&self, t: u64) -> f64 {
        let tail = match self {
            Self::Exact(cumulated) => usize::try_from(t)
                .ok()
                .and_then(|t| cumulated.get(t))
                .copied()
                .unwrap_or(1.0),
            Self::Normal(n) => normal_tail(*n, t as f64),
        };
        (2.0 * tail).min(1.0)
    }

    /// Returns the rank k of the Walsh average at which the interval begins: the largest k with `two_sided(k
    /// - 1) <= alpha`; 0 if there are too few pairs for any.
    pub(crate) fn interval_rank(&self, alpha: f64, averages: u64) -> u64 {
        // Invariant: `low` is good or 0, `high` is not good.
        let (mut low, mut high) = (0, averages / 2 + 2);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.two_sided(middle - 1) <= alpha {
                low = middle;
            } else {
                high = middle;
            }
        }
        low.min(averages.div_ceil(2))
    }
}

/// Returns P(T <= t) up to the middle, by adding one rank at a time. All terms are positive, so even the far
/// tail keeps its digits.
fn cumulated(n: usize) -> Vec<f64> {
    let top = n * (n + 1) / 4;
    let mut probability = vec![0.0; top + 1];
    probability[0] = 1.0;
    for rank in 1..=n {
        for t in (0..=top).rev() {
            let without = probability[t];
            let with = if t >= rank {
                probability[t - rank]
            } else {
                0.0
            };
            probability[t] = (without + with) / 2.0;
        }
    }
    let mut sum = 0.0;
    for p in &mut probability {
        sum += *p;
        *p = sum;
    }
    probability
}

fn normal_tail(n: f64, t: f64) -> f64 {
    let mean = n * (n + 1.0) / 4.0;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    erfc((mean - t - 0.5) / deviation / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_agree_with_the_published_table() {
        // Largest t that is significant at 0.05 two-sided (Wilcoxon 1945; any textbook).
        let table = [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (11, 10),
            (12, 13),
            (13, 17),
            (14, 21),
            (15, 25),
            (16, 29),
            (17, 34),
            (18, 40),
            (19, 46),
            (20, 52),
            (25, 89),
        ];
        for (n, critical) in table {
            let distribution = SignedRank::new(n);
            assert!(distribution.two_sided(critical) <= 0.05, "n = {n}");
            assert!(distribution.two_sided(critical + 1) > 0.05, "n = {n}");
        }
    }

    #[test]
    fn too_few_pairs_have_no_interval() {
        assert_eq!(SignedRank::new(5).interval_rank(0.05, 15), 0);
        assert_eq!(SignedRank::new(6).interval_rank(0.05, 21), 1);
    }

    #[test]
    fn the_normal_tail_errs_on_the_safe_side_and_by_little() {
        let n = LARGEST_EXACT;
        for (t, exact) in cumulated(n).into_iter().enumerate() {
            let normal = normal_tail(n as f64, t as f64);
            if exact < 0.04 {
                assert!(normal >= exact, "t = {t}: {normal} < {exact}");
            }
            if (0.005..0.04).contains(&exact) {
                assert!(normal <= 1.045 * exact, "t = {t}: {normal} {exact}");
            }
        }
    }
}
