//! Finding which of many revisions changed a metric: how a search by halving spends its error rate.
//!
//! It answers three questions. *Do the two ends differ?* is a claim like any other. *Is this revision nearer
//! to the one end or to the other?* is answered once for each halving: by the signed-rank test of the
//! revision against the [`geometric_middle`] of both ends in the same rounds. A revision that equals one of
//! the ends is half the whole difference away from the middle. It is mistaken for the other end in at most
//! half of the cases that the test allows, since only errors in that direction count. *Does the remaining
//! revision differ from its parent?* is a claim again.
//!
//! The parts add up (Bonferroni), so no assumption is needed on how the questions depend on each other.

use crate::sequential::CLAIM_SHARE;

/// Returns the middle of two positive values on the scale of ratios: their geometric mean.
///
/// ```
/// assert_eq!(fathom_stats::geometric_middle(1.0, 4.0), 2.0);
/// assert_eq!(fathom_stats::geometric_middle(0.1, 0.1), 0.1); // exactly
/// ```
pub fn geometric_middle(one: f64, other: f64) -> f64 {
    match one == other {
        true => one,
        false => one.sqrt() * other.sqrt(),
    }
}

/// Returns the maximum number of halvings in a search among `revisions` revisions, if all of them can be
/// measured.
///
/// ```
/// use fathom_stats::steps;
/// assert_eq!([1, 2, 3, 4, 5, 1000].map(steps), [0, 1, 2, 2, 3, 10]);
/// ```
pub fn steps(revisions: usize) -> u32 {
    revisions.max(1).next_power_of_two().ilog2()
}

/// The error rate for each question of a search, expressed as the `alpha` of a session. Claims use a fifth of
/// it, see [`CLAIM_SHARE`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halving {
    /// The error rate for whether the ends differ.
    pub ends: f64,
    /// The error rate for each halving: to which end a revision is nearer.
    pub step: f64,
    /// The error rate for whether the remaining revision differs from its parent.
    pub confirmation: f64,
}

/// The part of the error rate for all halvings together. The ends and the confirmation have a quarter each;
/// the halvings have the largest part because there are many of them.
const FOR_STEPS: f64 = 0.5;

impl Halving {
    /// Returns the error rates for `steps` halvings, if a search may name a wrong revision at a rate of
    /// `total`.
    ///
    /// ```
    /// let parts = fathom_stats::Halving::of(0.05, 4);
    /// assert!((parts.step - 0.03125).abs() < 1e-12); // 0.00625 for each claim, four of them
    /// ```
    pub fn of(total: f64, steps: u32) -> Halving {
        // `total` is spent only on claims, which use this share of a session's alpha.
        let session = |claim: f64| claim / CLAIM_SHARE;
        let rest = (1.0 - FOR_STEPS) / 2.0;
        Halving {
            ends: session(total * rest),
            step: session(total * FOR_STEPS / f64::from(steps.max(1))),
            confirmation: session(total * rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PairData, judge, sequential};
    use fathom_model::{Metric, Verdict};

    #[test]
    fn all_parts_together_are_the_whole() {
        for steps in [1, 3, 12] {
            let parts = Halving::of(0.05, steps);
            let sum = parts.ends + f64::from(steps) * parts.step + parts.confirmation;
            assert!((sum * CLAIM_SHARE - 0.05).abs() < 1e-12);
        }
    }

    /// Returns a reproducible number from -1 to 1.
    fn noise(seed: u64) -> f64 {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for _ in 0..3 {
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^= x >> 27;
        }
        (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Returns the results of `searches` comparisons with a revision that equals the first end and is 2 %
    /// from the other, at a noise of 10 %: how many mistake it for the other end, and how many identify it as
    /// the first.
    fn taken(searches: u64, alpha: f64) -> (u32, u32) {
        let (mut wrong, mut right) = (0, 0);
        for search in 0..searches {
            let value = |which: u64, round: u64| {
                let drift = 0.2 * noise(search * 31 + round / 8);
                1.0 + drift + 0.1 * noise((search * 1000 + round) * 3 + which + 7)
            };
            let rounds = 0..20;
            let middles: Vec<f64> = rounds
                .clone()
                .map(|round| geometric_middle(value(0, round), 1.02 * value(1, round)))
                .collect();
            let subject: Vec<f64> = rounds.map(|round| value(2, round)).collect();
            let pair = PairData {
                reference_index: 0,
                subject_index: 2,
                metric: Metric::Wall,
                reference: &middles,
                subject: &subject,
                margin: 1e-9,
            };
            match judge(&[pair], sequential::last(alpha, &[]))[0].verdict {
                Verdict::Slower => wrong += 1,
                Verdict::Faster => right += 1,
                _ => {}
            }
        }
        (wrong, right)
    }

    #[test]
    fn a_revision_is_taken_for_the_wrong_end_more_rarely_than_allowed() {
        let alpha = Halving::of(0.05, 4).step;
        let (wrong, right) = taken(4000, alpha);
        // 0.00625 of 4,000 is 25, for both directions together.
        assert!(wrong <= 12, "{wrong}");
        assert!(right > wrong, "{right} right, {wrong} wrong");
    }
}
