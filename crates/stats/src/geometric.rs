//! What is one number for many benchmarks?

use std::collections::HashMap;

/// Geometric mean, in the unit of the values: the one mean of ratios that does not depend on which
/// side is the reference. `None` when there is no value or one is not positive and finite.
///
/// ```
/// assert_eq!(fathom_stats::geometric_mean(&[1.0, 4.0]), Some(2.0));
/// assert_eq!(fathom_stats::geometric_mean(&[1.0, 0.0]), None);
/// ```
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| !(*v > 0.0 && v.is_finite())) {
        return None;
    }
    // Logarithms, because a product of many values overflows.
    let logarithms: f64 = values.iter().map(|v| v.ln()).sum();
    Some((logarithms / values.len() as f64).exp())
}

/// Geometric mean of the ratios b / a over the names that are in both, the number of those names,
/// and the names left out because they are in one only (those of `a` first, each in its order).
///
/// Comparing means over different sets of benchmarks compares the sets. `None` when no name is in
/// both or a matched value is not positive and finite. A name that comes twice counts with its last
/// value.
///
/// ```
/// let a = [("x".to_string(), 2.0), ("y".to_string(), 1.0), ("z".to_string(), 9.0)];
/// let b = [("y".to_string(), 4.0), ("x".to_string(), 2.0), ("w".to_string(), 9.0)];
/// let (ratio, matched, left_out) = fathom_stats::geometric_mean_of_matched(&a, &b).unwrap();
/// assert_eq!((ratio, matched), (2.0, 2));
/// assert_eq!(left_out, ["z", "w"]);
/// ```
pub fn geometric_mean_of_matched(
    a: &[(String, f64)],
    b: &[(String, f64)],
) -> Option<(f64, usize, Vec<String>)> {
    let by_name =
        |side: &[(String, f64)]| -> HashMap<String, f64> { side.iter().cloned().collect() };
    let (in_a, in_b) = (by_name(a), by_name(b));
    let ratios: Vec<f64> = in_a
        .iter()
        .filter_map(|(name, a)| in_b.get(name).map(|b| b / a))
        .collect();
    let only_a = a.iter().filter(|(name, _)| !in_b.contains_key(name));
    let only_b = b.iter().filter(|(name, _)| !in_a.contains_key(name));
    let left_out = only_a.chain(only_b).map(|(name, _)| name.clone()).collect();
    Some((geometric_mean(&ratios)?, ratios.len(), left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_large_values_do_not_overflow() {
        let mean = geometric_mean(&[1e300; 100]).unwrap();
        assert!((mean / 1e300 - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn nothing_in_common_is_no_result() {
        let a = [("x".to_string(), 2.0)];
        let b = [("y".to_string(), 2.0)];
        assert_eq!(geometric_mean_of_matched(&a, &b), None);
        assert_eq!(geometric_mean_of_matched(&[], &[]), None);
    }
}
