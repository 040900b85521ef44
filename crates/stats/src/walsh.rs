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
