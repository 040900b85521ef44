//! Finds the k-th smallest of the means of two values (Walsh averages), without forming all n²/2 of them.
//!
//! Everything works on the sums x_i + x_j (i <= j): halving is exact, and sums are rounded monotonically, so
//! counting and selecting agree to the last bit.

/// Returns the number of Walsh averages of n values.
pub(crate) fn number_of_averages(n: usize) -> u64 {
    n as u64 * (n as u64 + 1) / 2
}

/// Returns the number of sums x_i + x_j (i <= j) of sorted values that are at most `limit`, in O(n).
pub(crate) fn count_sums_at_most(sorted: &[f64], limit: f64) -> u64 {
    divide(sorted, limit).at_most
}

/// Returns the number of sums below `limit`, in O(n).
pub(crate) fn count_sums_below(sorted: &[f64], limit: f64) -> u64 {
    divide(sorted, limit.next_down()).at_most
}

/// Returns the `rank`-th smallest Walsh average (1 is the smallest) of sorted values. The range is narrowed
/// until it contains about 4n sums, then one of these is selected. O(n log n).
pub(crate) fn nth_average(sorted: &[f64], rank: u64) -> f64 {
    let n = sorted.len();
    debug_assert!((1..=number_of_averages(n)).contains(&rank));
    let lowest = divide(sorted, 2.0 * sorted[0]);
    if lowest.at_most >= rank {
        return lowest.below / 2.0;
    }
    // Invariant: (sums <= low) < rank <= (sums <= high); the required sum is in [next, high].
    let (mut low, mut next, mut at_most_low) = (lowest.below, lowest.above, lowest.at_most);
    let (mut high, mut at_most_high) = (2.0 * sorted[n - 1], number_of_averages(n));
    for step in 0.. {
        let left = at_most_high - at_most_low;
        if next >= high {
            return high / 2.0;
        }
        if left <= 4 * n as u64 {
            break;
        }
        // Aim alternately slightly below and slightly above the rank, so that both ends close in. Halve the
        // range every third time, so that outliers can't stall the search. Halving alone took twice as long.
        let (sought, aside) = ((rank - at_most_low) as f64, 1.5 * n as f64);
        let share = match step % 3 {
            0 => (sought - aside) / left as f64,
            1 => (sought + aside) / left as f64,
            _ => 0.5,
        };
        let pivot = next + (high - next) * share.clamp(0.001, 0.999);
        let pivot = if pivot >= high { next } else { pivot };
        let division = divide(sorted, pivot);
        // The ends move to existing sums. Without this, ties cost 530 ms instead of 8 for n = 100,000.
        if division.at_most >= rank {
            (high, at_most_high) = (division.below, division.at_most);
        } else {
            (low, next, at_most_low) = (pivot, division.above, division.at_most);
        }
    }
    let mut left = sums_between(sorted, low, high);
    let index = (rank - at_most_low - 1) as usize;
    *left.select_nth_unstable_by(index, f64::total_cmp).1 / 2.0
}

/// How a limit divides the sums.
struct Division {
    /// Number of sums that are at most the limit.
    at_most: u64,
    /// The largest sum that is at most the limit.
    below: f64,
    /// The smallest sum above the limit.
    above: f64,
}

fn divide(sorted: &[f64], limit: f64) -> Division {
    let mut division = Division {
        at_most: 0,
        below: f64::NEG_INFINITY,
        above: f64::INFINITY,
    };
    let mut end = sorted.len();
    for (i, &x) in sorted.iter().enumerate() {
        while end > i && x + sorted[end - 1] > limit {
            end -= 1;
        }
        if end > i {
            division.at_most += (end - i) as u64;
            division.below = division.below.max(x + sorted[end - 1]);
        }
        if let Some(y) = sorted.get(end.max(i)) {
            division.above = division.above.min(x + y);
        }
        if end <= i {
            break; // All further sums are larger than the one just counted.
        }
    }
    division
}

/// Returns all sums in (low, high].
fn sums_between(sorted: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut sums = Vec::new();
    let (mut from, mut to) = (sorted.len(), sorted.len());
    for (i, &x) in sorted.iter().enumerate() {
        while to > i && x + sorted[to - 1] > high {
            to -= 1;
        }
        while from > 0 && x + sorted[from - 1] > low {
            from -= 1;
        }
        if to <= i {
            break;
        }
        sums.extend(
            sorted[from.max(i)..to.max(from.max(i))]
                .iter()
                .map(|y| x + y),
        );
    }
    sums
}

/// Returns the median of the Walsh averages of sorted values: the Hodges-Lehmann estimate of the centre.
pub(crate) fn median_average(sorted: &[f64]) -> f64 {
    let total = number_of_averages(sorted.len());
    let lower = nth_average(sorted, total.div_ceil(2));
    let division = divide(sorted, 2.0 * lower);
    if total % 2 == 1 || division.at_most > total / 2 {
        return lower;
    }
    lower + (division.above / 2.0 - lower) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes and sorts all averages.
    fn brute_force(sorted: &[f64]) -> Vec<f64> {
        let mut averages: Vec<f64> = (0..sorted.len())
            .flat_map(|i| (i..sorted.len()).map(move |j| (sorted[i] + sorted[j]) / 2.0))
            .collect();
        averages.sort_unstable_by(f64::total_cmp);
        averages
    }

    fn check_against_brute_force(mut values: Vec<f64>) {
        values.sort_unstable_by(f64::total_cmp);
        let averages = brute_force(&values);
        for (i, expected) in averages.iter().enumerate() {
            assert_eq!(
                nth_average(&values, i as u64 + 1),
                *expected,
                "rank {}",
                i + 1
            );
            let at_most = averages.partition_point(|a| a <= expected) as u64;
            let below = averages.partition_point(|a| a < expected) as u64;
            assert_eq!(count_sums_at_most(&values, 2.0 * expected), at_most);
            assert_eq!(count_sums_below(&values, 2.0 * expected), below);
        }
        let middle = averages.len() / 2;
        let median = match averages.len() % 2 {
            1 => averages[middle],
            _ => averages[middle - 1] + (averages[middle] - averages[middle - 1]) / 2.0,
        };
        assert_eq!(median_average(&values), median);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn agrees_with_forming_all(values in prop::collection::vec(-1.0..1.0f64, 1..=60)) {
            check_against_brute_force(values);
        }

        #[test]
        fn agrees_with_forming_all_among_ties(values in prop::collection::vec(-3..=3i8, 1..=60)) {
            check_against_brute_force(values.into_iter().map(f64::from).collect());
        }

        #[test]
        fn agrees_with_forming_all_over_many_magnitudes(
            values in prop::collection::vec((-1.0..1.0f64, -30..30i32), 1..=40)
        ) {
            check_against_brute_force(values.into_iter().map(|(v, e)| v * 2f64.powi(e)).collect());
        }
    }

    /// Centres of samples published with the Pragmastat reference implementation (Akinshin; MIT licence).
    #[test]
    fn centre_agrees_with_pragmastat() {
        let additive_10 = [
            7.957789081278621,
            11.068034093520474,
            11.017359688918825,
            9.460832652837185,
            8.555034203375929,
            9.516927224691715,
            8.49429110854656,
            8.742147445901901,
            8.682360261372322,
            8.492093654887572,
        ];
        let centre = |values: &[f64]| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            median_average(&sorted)
        };
        assert!((centre(&additive_10) - 9.007933428106558).abs() < 1e-12);
        assert_eq!(centre(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), 4.0);
    }
}
