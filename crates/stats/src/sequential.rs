//! May measuring stop now, without claiming more falsely than promised?
//!
//! The order within a round is random. If two programs do not differ, each pair of values could as
//! well have come the other way round: the signed-rank test is exact, whatever drift or slow noise the
//! machine has. It may therefore be taken at a fixed schedule of rounds, each look with a part of the
//! allowance; the parts add up (Bonferroni), so that no assumption on how the looks depend is needed.
//!
//! - Looks: at the first round count, then each 1.2 times as late.
//! - Half of the allowance goes to the early looks, `alpha / 2 / (k (k + 1))` to the k-th.
//! - The other half is for the last analysis, when measuring ends for a reason that does not depend on
//!   which program is which: the time budget or the largest number of rounds.
//! - A number of runs that was fixed beforehand has no early looks and the full allowance.

/// Fewest rounds at which the signed-rank test can reject at 5 %: 2 / 2^6 = 0.03.
const EARLIEST: u32 = 6;

/// Number k = 1, 2, ... of the look that is due after `round_count` completed rounds, or `None` when
/// none is. The first is at `minimum` (at least 6) rounds, each next at 1.2 times as many, rounded up.
///
/// ```
/// use fathom_stats::sequential::is_look;
/// let looks: Vec<u32> = (0..40).filter(|&n| is_look(n, 10).is_some()).collect();
/// assert_eq!(looks, [10, 12, 15, 18, 22, 27, 33]);
/// assert_eq!(is_look(15, 10), Some(3));
/// ```
pub fn is_look(round_count: u32, minimum: u32) -> Option<u32> {
    let mut look = minimum.max(EARLIEST);
    let mut k = 1;
    while look < round_count {
        look = look.checked_add(look.div_ceil(5))?;
        k += 1;
    }
    (look == round_count).then_some(k)
}

/// Allowance (a probability) of the k-th early look, k = 1, 2, ...; all together are below `alpha / 2`.
///
/// ```
/// use fathom_stats::sequential::early_alpha;
/// assert_eq!(early_alpha(1, 0.05), 0.0125);
/// ```
pub fn early_alpha(k: u32, alpha: f64) -> f64 {
    let k = f64::from(k.max(1));
    alpha / 2.0 / (k * (k + 1.0))
}

/// Allowance of the last analysis, when measuring ended for a reason that does not depend on which
/// program is which: half of `alpha` after early looks, all of it without.
///
/// ```
/// use fathom_stats::sequential::final_alpha;
/// assert_eq!((final_alpha(0.05, true), final_alpha(0.05, false)), (0.025, 0.05));
/// ```
pub fn final_alpha(alpha: f64, had_early_looks: bool) -> f64 {
    if had_early_looks { alpha / 2.0 } else { alpha }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_together_stay_within_the_allowance() {
        let early: f64 = (1..100_000).map(|k| early_alpha(k, 0.05)).sum();
        assert!(early < 0.025 && early > 0.0249, "{early}");
        assert!(early + final_alpha(0.05, true) < 0.05);
    }

    #[test]
    fn looks_are_numbered_without_gaps_and_start_where_the_test_can_reject() {
        let numbers: Vec<u32> = (0..100_000).filter_map(|n| is_look(n, 2)).collect();
        assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>());
        assert_eq!(is_look(2, 2), None);
        assert_eq!(is_look(6, 2), Some(1));
        assert_eq!(is_look(u32::MAX, 10), None);
    }
}
