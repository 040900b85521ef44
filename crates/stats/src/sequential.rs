//! Decides whether measuring may stop, without making more false claims than promised.
//!
//! The order within a round is random. If two programs do not differ, each pair of values is equally likely
//! in either order, so the signed-rank test is exact for any drift or slow noise of the machine. It may
//! therefore be applied at a fixed schedule of rounds, each analysis with a part of the allowance. The parts
//! add up (Bonferroni), so no assumption is needed on how the analyses depend on each other.
//!
//! - Interim analyses: the first after the minimum number of rounds, each further one after 1.2 times as
//!   many.
//! - `same` and the printed interval: half of the allowance goes to the interim analyses, `alpha / 2 / (k (k
//!   + 1))` to the k-th, and at least half to the last analysis.
//! - `faster` and `slower`: a fifth of the allowance in all ([`CLAIM_SHARE`]). Of that, 20 % go to the first
//!   analysis (what ten rounds can just reach), `10 % / (k (k - 1))` to each later one, and at least 70 % to
//!   the last analysis.
//! - The last analysis is done when measuring ends for a reason that does not depend on which program is
//!   which: the time budget or the largest number of rounds.
//! - An analysis that is due within a stretch of short runs is done at its end, and replaces the earlier ones
//!   in it. The allowance of skipped analyses goes to the last analysis.
//! - A number of runs that was fixed in advance has no interim analyses and the full allowance.

/// The part of the allowance that claims of a difference may use: if intervals have a level of 95 %, claims
/// have 99 %. Consider a check with 40 comparisons of a program with itself that fails if more than two are
/// called different. It would fail in 32 % of cases at 5 %, in 5 % at 2 %, and in 0.7 % at 1 %.
pub const CLAIM_SHARE: f64 = 0.2;

/// The error rates of an analysis, as probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// Probability that the interval misses the ratio, or that a difference beyond the margin is called
    /// `same`.
    pub interval: f64,
    /// Probability that identical programs are called `faster` or `slower`.
    pub claim: f64,
}

impl Allowance {
    /// Returns `share` of both error rates.
    pub(crate) fn times(self, share: f64) -> Allowance {
        Allowance {
            interval: self.interval * share,
            claim: self.claim * share,
        }
    }
}

/// The minimum number of rounds at which the signed-rank test can reject at 5 %: 2 / 2^6 = 0.03.
const EARLIEST: u32 = 6;

/// Returns how many interim analyses are due once `round_count` rounds are complete. The first is due at
/// `minimum` (at least 6) rounds, each further one at 1.2 times as many, rounded up. A missed analysis may be
/// done later, in place of the last one due, at a moment that does not depend on which program is which.
///
/// ```
/// use fathom_stats::sequential::looks_due;
/// let at = |k| (0..40).find(|&rounds| looks_due(rounds, 10) == k);
/// assert_eq!([1, 2, 3, 4, 5, 6, 7].map(|k| at(k).unwrap()), [10, 12, 15, 18, 22, 27, 33]);
/// assert_eq!([looks_due(9, 10), looks_due(17, 10), looks_due(18, 10)], [0, 3, 4]);
/// ```
pub fn looks_due(round_count: u32, minimum: u32) -> u32 {
    let mut analysis = minimum.max(EARLIEST);
    let mut due = 0;
    while analysis <= round_count {
        due += 1;
        match analysis.checked_add(analysis.div_ceil(5)) {
            Some(next) => analysis = next,
            None => break,
        }
    }
    due
}

/// Returns the allowance of the k-th interim analysis, k = 1, 2, ..., out of `alpha` for the whole session.
///
/// ```
/// let first = fathom_stats::sequential::early(1, 0.05);
/// assert_eq!(first.interval, 0.0125);
/// assert!((first.claim - 0.002).abs() < 1e-15); // ten rounds that all agree have 2 / 2^10 = 0.00195
/// ```
pub fn early(k: u32, alpha: f64) -> Allowance {
    let k = f64::from(k.max(1));
    let claim = if k == 1.0 { 0.2 } else { 0.1 / (k * (k - 1.0)) };
    Allowance {
        interval: alpha / 2.0 / (k * (k + 1.0)),
        claim: alpha * CLAIM_SHARE * claim,
    }
}

/// Returns the allowance of the last analysis, when measuring ended for a reason that does not depend on
/// which program is which. It is the part of `alpha` that remains after the earlier analyses, which are given
/// by their numbers.
///
/// ```
/// use fathom_stats::sequential::{after_all_looks, last};
/// assert!((last(0.05, &[]).interval - 0.05).abs() < 1e-15);
/// assert!((last(0.05, &[]).claim - 0.01).abs() < 1e-15);
/// assert!((last(0.05, &[1, 2]).claim - 0.0075).abs() < 1e-15);
/// assert!(last(0.05, &[3, 7]).claim > after_all_looks(0.05).claim);
/// ```
pub fn last(alpha: f64, analyses: &[u32]) -> Allowance {
    let spent = |part: fn(Allowance) -> f64| -> f64 {
        analyses.iter().map(|k| part(early(*k, alpha))).sum()
    };
    Allowance {
        interval: alpha - spent(|allowance| allowance.interval),
        claim: alpha * CLAIM_SHARE - spent(|allowance| allowance.claim),
    }
}

/// Returns the allowance that remains after any number of analyses: half for the interval, 70 % for claims.
/// It is meant for verdicts that ended the session at an interim analysis, which is not a moment fixed in
/// advance.
pub fn after_all_looks(alpha: f64) -> Allowance {
    Allowance {
        interval: alpha * 0.5,
        claim: alpha * CLAIM_SHARE * 0.7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_together_stay_within_the_allowance() {
        let parts: Vec<Allowance> = (1..100_000).map(|k| early(k, 0.05)).collect();
        let analyses: Vec<u32> = (1..100_000).collect();
        let last = last(0.05, &analyses);
        assert!(last.interval > after_all_looks(0.05).interval);
        assert!(last.claim > after_all_looks(0.05).claim);
        let interval: f64 = parts.iter().map(|p| p.interval).sum();
        assert!(interval < 0.025 && interval > 0.0249, "{interval}");
        assert!(interval + after_all_looks(0.05).interval < 0.05);
        assert!((interval + last.interval - 0.05).abs() < 1e-12);
        let claim: f64 = parts.iter().map(|p| p.claim).sum();
        assert!(claim < 0.003 && claim > 0.00299, "{claim}");
        assert!(claim + after_all_looks(0.05).claim < 0.05 * CLAIM_SHARE);
        assert!((claim + last.claim - 0.05 * CLAIM_SHARE).abs() < 1e-12);
    }

    #[test]
    fn a_claim_takes_more_than_an_interval_that_leaves_out_one() {
        let all = (1..50).map(|k| early(k, 0.05));
        for part in all.chain([after_all_looks(0.05), last(0.05, &[])]) {
            assert!(part.claim < part.interval, "{part:?}");
        }
    }

    #[test]
    fn ten_rounds_that_all_agree_decide_at_the_first_look() {
        assert!(2.0 / 2f64.powi(10) <= early(1, 0.05).claim);
    }

    #[test]
    fn looks_are_numbered_without_gaps_and_start_where_the_test_can_reject() {
        let due: Vec<u32> = (0..100_000).map(|n| looks_due(n, 2)).collect();
        assert!(due.windows(2).all(|two| two[1] - two[0] <= 1));
        assert_eq!((due[2], due[5], due[6]), (0, 0, 1));
        assert_eq!(looks_due(u32::MAX, 10), looks_due(u32::MAX - 1, 10));
    }
}
