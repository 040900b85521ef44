//! Tests whether the values before a point and those after it differ by more than chance.

use statrs::function::erf::erfc;

/// The maximum size of the smaller group for computing the exact distribution. For five values against fifty
/// without overlap, the normal tail gives 2.7e-4, while 5.7e-7 is right.
const COUNTED: usize = 25;
/// The normal tail is accurate if it is larger than this; computing the exact tail would take 40 µs.
const RARE: f64 = 0.01;

/// Returns the two-sided p-value of 'both groups are alike' (Mann and Whitney 1947). Ties count half, which
/// is conservative.
pub(super) fn p_value(left: &[f64], right: &[f64]) -> f64 {
    let (less, ties) = overlap(left, right);
    let pairs = (left.len() * right.len()) as f64;
    let small = less.min(pairs - less);
    let few = left.len().min(right.len());
    let many = left.len().max(right.len());
    if few == 0 {
        return 1.0;
    }
    let all = (few + many) as f64;
    let spread = pairs / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if spread <= 0.0 {
        return 1.0;
    }
    let z = (pairs / 2.0 - small - 0.5).max(0.0) / spread.sqrt();
    let tail = erfc(z / std::f64::consts::SQRT_2);
    if few <= COUNTED && tail < RARE {
        return (2.0 * counted_tail(few, many, small.ceil() as usize)).min(1.0);
    }
    tail.min(1.0)
}

/// Returns the number of pairs with the smaller value on the left (ties count half), and the sum of t³ - t
/// over the groups of t equal values.
fn overlap(left: &[f64], right: &[f64]) -> (f64, f64) {
    let mut all: Vec<(f64, bool)> = left.iter().map(|value| (*value, true)).collect();
    all.extend(right.iter().map(|value| (*value, false)));
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut less, mut lefts, mut ties) = (0.0, 0.0, 0.0);
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let of_left = group.iter().filter(|(_, left)| *left).count() as f64;
        let of_right = group.len() as f64 - of_left;
        less += of_right * (lefts + of_left / 2.0);
        lefts += of_left;
        let size = group.len() as f64;
        ties += size * size * size - size;
    }
    (less, ties)
}

/// Returns P(U <= `limit`) if all arrangements of `few` and `many` values are equally likely: the
/// coefficients of the Gaussian binomial, up to that degree.
fn counted_tail(few: usize, many: usize, limit: usize) -> f64 {
    let mut ways = vec![0.0; limit + 1];
    ways[0] = 1.0;
    let mut all = 1.0;
    for i in 1..=few {
        for degree in (many + i..=limit).rev() {
            ways[degree] -= ways[degree - many - i];
        }
        for degree in i..=limit {
            ways[degree] += ways[degree - i];
        }
        all *= (many + i) as f64 / i as f64;
    }
    ways.iter().sum::<f64>() / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_do_not_overlap_are_counted_out() {
        let left: Vec<f64> = (0..50).map(f64::from).collect();
        let right: Vec<f64> = (100..105).map(f64::from).collect();
        // Two of C(55, 5) arrangements are as extreme.
        assert!((p_value(&left, &right) / (2.0 / 3_478_761.0) - 1.0).abs() < 1e-9);
        assert_eq!(p_value(&left, &right), p_value(&right, &left));
    }

    #[test]
    fn agrees_with_published_critical_values() {
        // Mann and Whitney's table, n = m = 10: U = 23 is significant at 5 % two-sided, 24 is not.
        assert!(2.0 * counted_tail(10, 10, 23) <= 0.05);
        assert!(2.0 * counted_tail(10, 10, 24) > 0.05);
        // For n = 5 and m = 8, the limits are 6 and 7.
        assert!(2.0 * counted_tail(5, 8, 6) <= 0.05);
        assert!(2.0 * counted_tail(5, 8, 7) > 0.05);
    }

    #[test]
    fn equal_values_differ_by_nothing() {
        assert_eq!(p_value(&[1.0; 20], &[1.0; 9]), 1.0);
        assert_eq!(p_value(&[], &[1.0]), 1.0);
    }
}
