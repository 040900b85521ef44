//! How densely the values of a sample lie: for drawing.

/// The density at each of `places`, 1 at its highest, by a kernel estimate (Gaussian, Silverman's
/// width) over the values or their logarithms; `None` of fewer than five values or where all are
/// alike.
pub(super) fn density(sorted: &[f64], places: &[f64], of_logarithms: bool) -> Option<Vec<f64>> {
    if sorted.len() < 5 {
        return None;
    }
    let scale = |value: f64| match of_logarithms {
        true => value.max(f64::MIN_POSITIVE).ln(),
        false => value,
    };
    let values: Vec<f64> = sorted.iter().map(|value| scale(*value)).collect();
    let width = width(&values)?;
    let at = |place: &f64| -> f64 {
        let place = scale(*place);
        // Beyond four widths a value adds less than a thousandth.
        let from = values.partition_point(|value| *value < place - 4.0 * width);
        let near = values[from..]
            .iter()
            .take_while(|value| **value <= place + 4.0 * width);
        near.map(|value| (-((place - value) / width).powi(2) / 2.0).exp())
            .sum()
    };
    let heights: Vec<f64> = places.iter().map(at).collect();
    let highest = heights.iter().copied().fold(0.0, f64::max);
    (highest > 0.0).then(|| heights.iter().map(|height| height / highest).collect())
}

/// Silverman's rule of thumb: 0.9 times the smaller of the standard deviation and the distance of
/// the quartiles over 1.34, over the fifth root of n.
fn width(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (n - 1.0)).sqrt();
    let at = |p: f64| crate::distribution::quantile(sorted, p);
    let quartiles = (at(0.75) - at(0.25)) / 1.34;
    let spread = if quartiles > 0.0 {
        deviation.min(quartiles)
    } else {
        deviation
    };
    (spread > 0.0).then(|| 0.9 * spread / n.powf(0.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clusters_have_two_hills() {
        let values: Vec<f64> = (0..20)
            .map(|i| 1.0 + f64::from(i) / 200.0)
            .chain((0..20).map(|i| 3.0 + f64::from(i) / 200.0))
            .collect();
        let heights = density(&values, &[1.05, 2.0, 3.05], false).unwrap();
        assert!(heights[1] < 0.5 * heights[0].min(heights[2]), "{heights:?}");
    }

    #[test]
    fn what_is_alike_or_too_little_has_no_shape() {
        assert_eq!(density(&[1.0; 9], &[1.0], false), None);
        assert_eq!(density(&[1.0, 2.0], &[1.0], true), None);
    }
}
