//! A single number for many benchmarks.

/// Returns the geometric mean, in the unit of the values: the only mean of ratios that does not depend on
/// which side is the reference. `None` if there are no values, or if one of them is not positive and finite.
///
/// ```
/// assert_eq!(fathom_stats::geometric_mean(&[1.0, 4.0]), Some(2.0));
/// assert_eq!(fathom_stats::geometric_mean(&[1.0, 0.0]), None);
/// ```
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| !(*v > 0.0 && v.is_finite())) {
        return None;
    }
    // Use logarithms, because a product of many values overflows.
    let logarithms: f64 = values.iter().map(|v| v.ln()).sum();
    Some((logarithms / values.len() as f64).exp())
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
}
