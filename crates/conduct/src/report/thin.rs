//! Reduces the points of a chart: keeps the smallest and the largest value of each stretch.

/// Returns about `most` positions of `values`. They include both ends, and the smallest and largest value of
/// each of several equal stretches, so that no spike is lost.
pub(super) fn thin(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most.max(4) {
        return (0..values.len()).collect();
    }
    let stretches = (most / 2).max(1);
    let mut kept = vec![0, values.len() - 1];
    for stretch in 0..stretches {
        let from = stretch * values.len() / stretches;
        let to = (stretch + 1) * values.len() / stretches;
        let by = |one: &usize, other: &usize| values[*one].total_cmp(&values[*other]);
        kept.extend((from..to).min_by(by));
        kept.extend((from..to).max_by(by));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::thin;

    #[test]
    fn the_least_and_the_largest_of_each_stretch_stay() {
        let mut values: Vec<f64> = (0..10_000).map(|i| f64::from(i % 7)).collect();
        values[4_321] = 100.0;
        values[8_765] = -100.0;
        let kept = thin(&values, 1_000);
        assert!(kept.len() <= 1_002 && kept.len() > 900, "{}", kept.len());
        for wanted in [0, 4_321, 8_765, 9_999] {
            assert!(kept.contains(&wanted), "{wanted}");
        }
        assert!(kept.is_sorted());
    }

    #[test]
    fn few_values_are_all_kept() {
        assert_eq!(thin(&[3.0, 1.0, 2.0], 100), [0, 1, 2]);
        assert!(thin(&[], 100).is_empty());
    }
}
