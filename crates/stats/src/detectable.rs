//! The smallest difference that would be detected.

use fathom_model::{Metric, Verdict};

use crate::judge::{FEWEST_ROUNDS, PairData, judge};
use crate::sequential;

/// The share of tries in which a difference must be detected to count as detectable.
const POWER: f64 = 0.8;

/// Number of tries: at a power of 80 %, 200 tries give the share to within 3 %.
const TRIES: usize = 200;

/// The maximum difference that is tried: 1.0 is twice the time.
const LARGEST: f64 = 8.0;

/// Returns the smallest relative difference (0.01 is 1 %) between two programs that [`judge`] would call
/// slower in four of five sessions with the same number of rounds, if their runs scatter like these.
///
/// `reference` and `subject` are equally many values of the same program; the i-th values belong to the i-th
/// round. Which value belongs to which side is chance, so each try swaps them at random in every round and
/// makes the subject slower by the difference. The verdict is that of [`judge`], with its rule and its
/// `margin`. A difference inside the margin is called `same`, not slower: with a margin of 1 %, differences
/// much below 1 % aren't detected even on the quietest machine.
///
/// `None` with fewer than six rounds, or if not even 800 % would be detected.
///
/// # Panics
/// If `reference` and `subject` differ in length.
pub fn smallest_difference(
    reference: &[f64],
    subject: &[f64],
    margin: f64,
    alpha: f64,
) -> Option<f64> {
    assert_eq!(reference.len(), subject.len(), "both have every round");
    if reference.len() < FEWEST_ROUNDS {
        return None;
    }
    let tries = tries(reference, subject);
    let is_detected = |difference: f64| {
        let detected = tries
            .iter()
            .filter(|(one, other)| is_slower(one, other, difference, margin, alpha))
            .count();
        detected as f64 >= POWER * TRIES as f64
    };
    let mut high = 1e-4;
    while !is_detected(high) {
        high *= 2.0;
        if high > LARGEST {
            return None;
        }
    }
    let mut low = high / 2.0;
    // The result is accurate to 2 % of itself, which is better than anyone needs.
    while high / low > 1.02 {
        let middle = (low * high).sqrt();
        match is_detected(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    Some(high)
}

/// Returns the rounds with both values swapped at random. The seed is fixed, so the same runs give the same
/// result.
fn tries(reference: &[f64], subject: &[f64]) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut random = SplitMix(0x5eed);
    (0..TRIES)
        .map(|_| {
            let swap = |(one, other): (&f64, &f64)| match random.coin() {
                true => (*other, *one),
                false => (*one, *other),
            };
            reference.iter().zip(subject).map(swap).unzip()
        })
        .collect()
}

fn is_slower(one: &[f64], other: &[f64], difference: f64, margin: f64, alpha: f64) -> bool {
    let slowed: Vec<f64> = other
        .iter()
        .map(|value| value * (1.0 + difference))
        .collect();
    let data = PairData {
        reference_index: 0,
        subject_index: 1,
        metric: Metric::Wall,
        reference: one,
        subject: &slowed,
        margin,
    };
    let judged = judge(&[data], sequential::last(alpha, &[]));
    judged
        .first()
        .is_some_and(|comparison| comparison.verdict == Verdict::Slower)
}

/// Steele, Lea and Flood's generator: good enough for coin tosses, without a dependency.
struct SplitMix(u64);

impl SplitMix {
    fn coin(&mut self) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) >> 63 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rounds whose ratio is uniform within `wide` (0.01 is 1 %) on both sides of 1.
    fn rounds(wide: f64) -> (Vec<f64>, Vec<f64>) {
        let ratio = |i: usize| 1.0 + wide * ((i * 37 % 50) as f64 / 24.5 - 1.0);
        (0..50).map(|i| (5e-3, 5e-3 * ratio(i))).unzip()
    }

    #[test]
    fn what_it_gives_is_detected_and_half_of_it_is_not() {
        let (one, other) = rounds(0.1);
        let found = smallest_difference(&one, &other, 0.001, 0.05).unwrap();
        let detected = |difference: f64| {
            let all = tries(&one, &other);
            all.iter()
                .filter(|(a, b)| is_slower(a, b, difference, 0.001, 0.05))
                .count()
        };
        assert!(detected(found) >= 160, "{} at {found}", detected(found));
        assert!(
            detected(found / 2.0) < 160,
            "{} at {}",
            detected(found / 2.0),
            found / 2.0
        );
        // 2.8 standard errors: 0.1 / sqrt(3) per round, over sqrt(50).
        assert!((0.015..0.035).contains(&found), "{found}");
    }

    #[test]
    fn wider_runs_tell_less() {
        let found = |wide| {
            let (one, other) = rounds(wide);
            smallest_difference(&one, &other, 0.001, 0.05).unwrap()
        };
        assert!(found(0.2) > 1.5 * found(0.1));
    }

    #[test]
    fn nothing_far_inside_the_margin_is_detected_however_quiet_it_is() {
        let (one, other) = rounds(0.0001);
        let found = smallest_difference(&one, &other, 0.01, 0.05).unwrap();
        assert!((0.009..0.012).contains(&found), "{found}");
    }

    #[test]
    fn five_rounds_tell_nothing() {
        assert_eq!(smallest_difference(&[1.0; 5], &[1.0; 5], 0.01, 0.05), None);
    }
}
