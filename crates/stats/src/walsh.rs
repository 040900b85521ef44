//! What is the k-th smallest mean of two values? (Walsh averages, without forming all n²/2 of them.)
//!
//! Everything works on the sums x_i + x_j (i <= j): halving is exact, and sums are rounded
//! monotonically, so that counting and selecting agree to the last bit.

/// Number of Walsh averages of n values.
pub(crate) fn number_of_averages(n: usize) -> u64 {
    n as u64 * (n as u64 + 1) / 2
}

/// Number of sums x_i + x_j (i <= j) of sorted values that are at most `limit`: O(n).
pub(crate) fn count_sums_at_most(sorted: &[f64], limit: f64) -> u64 {
    count_sums(sorted, |sum| sum <= limit)
}

/// Number of sums below `limit`: O(n).
pub(crate) fn count_sums_below(sorted: &[f64], limit: f64) -> u64 {
    count_sums(sorted, |sum| sum < limit)
}

fn count_sums(sorted: &[f64], counts: impl Fn(f64) -> bool) -> u64 {
    let mut total = 0;
    let mut end = sorted.len();
    for (i, &x) in sorted.iter().enumerate() {
        while end > i && !counts(x + sorted[end - 1]) {
            end -= 1;
        }
        if end <= i {
            break;
        }
        total += (end - i) as u64;
    }
    total
}

/// The `rank`-th smallest Walsh average (1 is the smallest) of sorted values: bisection by value
/// until about 4n sums are left, then selection among those. O(n log n); 12 ms for n = 100,000.
pub(crate) fn nth_average(sorted: &[f64], rank: u64) -> f64 {
    let n = sorted.len();
    debug_assert!((1..=number_of_averages(n)).contains(&rank));
    let (mut low, mut high) = (2.0 * sorted[0], 2.0 * sorted[n - 1]);
    let mut at_most_low = count_sums_at_most(sorted, low);
    if at_most_low >= rank {
        return low / 2.0;
    }
    // Invariant: (sums <= low) < rank <= (sums <= high).
    let mut at_most_high = number_of_averages(n);
    while at_most_high - at_most_low > 4 * n as u64 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high / 2.0; // Neighbouring numbers: all that is left equals `high`.
        }
        let count = count_sums_at_most(sorted, middle);
        if count >= rank {
            (high, at_most_high) = (middle, count);
        } else {
            (low, at_most_low) = (middle, count);
        }
    }
    let mut left = sums_between(sorted, low, high);
    let index = (rank - at_most_low - 1) as usize;
    *left.select_nth_unstable_by(index, f64::total_cmp).1 / 2.0
}

/// All sums in (low, high].
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

/// Median of the Walsh averages of sorted values: the Hodges-Lehmann estimate of the centre.
pub(crate) fn median_average(sorted: &[f64]) -> f64 {
    let total = number_of_averages(sorted.len());
    let lower = nth_average(sorted, total.div_ceil(2));
    if total % 2 == 1 || count_sums_at_most(sorted, 2.0 * lower) > total / 2 {
        return lower;
    }
    let upper = smallest_average_above(sorted, lower);
    lower + (upper - lower) / 2.0
}

fn smallest_average_above(sorted: &[f64], average: f64) -> f64 {
    let mut smallest = f64::INFINITY;
    let mut from = sorted.len();
    for (i, &x) in sorted.iter().enumerate() {
        while from > 0 && x + sorted[from - 1] > 2.0 * average {
            from -= 1;
        }
        if let Some(y) = sorted.get(from.max(i)) {
            smallest = smallest.min(x + y);
        }
    }
    smallest / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All averages, formed and sorted.
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

    /// Centre of samples published with the Pragmastat reference implementation (Akinshin; MIT licence).
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
