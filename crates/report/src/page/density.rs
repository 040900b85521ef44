//! The density of a sample's values, for drawing.

/// Number of points at which a density is drawn.
const STEPS: usize = 120;
/// The number of bandwidths from the nearest value beyond which the density is less than a thousandth.
const REACH: f64 = 4.0;

/// Returns points with their density, 1 at the highest, by a kernel estimate (Gaussian, Silverman's
/// bandwidth) over the values or their logarithms; `None` if there are fewer than five values or all are
/// equal.
pub(super) fn density(sorted: &[f64], of_logarithms: bool) -> Option<Vec<(f64, f64)>> {
    if sorted.len() < 5 {
        return None;
    }
    let scale = |value: f64| match of_logarithms {
        true => value.max(f64::MIN_POSITIVE).ln(),
        false => value,
    };
    let values: Vec<f64> = sorted.iter().map(|value| scale(*value)).collect();
    let width = width(&values)?;
    let reach = REACH * width;
    let height = |place: f64| -> f64 {
        let from = values.partition_point(|value| *value < place - reach);
        let near = values[from..]
            .iter()
            .take_while(|value| **value <= place + reach);
        near.map(|value| (-((place - value) / width).powi(2) / 2.0).exp())
            .sum()
    };
    let (low, high) = (values[0] - reach, values[values.len() - 1] + reach);
    let places = (0..=STEPS).map(|step| low + (high - low) * step as f64 / STEPS as f64);
    let heights: Vec<(f64, f64)> = places.map(|place| (place, height(place))).collect();
    let highest = heights
        .iter()
        .map(|(_, height)| *height)
        .fold(0.0, f64::max);
    let value = |place: f64| if of_logarithms { place.exp() } else { place };
    let heights = heights.into_iter();
    (highest > 0.0).then(|| {
        heights
            .map(|(place, height)| (value(place), height / highest))
            .collect()
    })
}

/// Silverman's rule of thumb: 0.9 times the smaller of the standard deviation and the interquartile range
/// over 1.34, over the fifth root of n.
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
        for of_logarithms in [false, true] {
            let shape = density(&values, of_logarithms).expect("they differ");
            let near = |place: f64| {
                let by = |a: &&(f64, f64), b: &&(f64, f64)| {
                    (a.0 - place).abs().total_cmp(&(b.0 - place).abs())
                };
                shape.iter().min_by(by).expect("it has places").1
            };
            let hills = near(1.05).min(near(3.05));
            assert!(near(1.9) < 0.5 * hills && hills > 0.5, "{shape:?}");
        }
    }

    #[test]
    fn what_is_alike_or_too_little_has_no_shape() {
        assert_eq!(density(&[1.0; 9], false), None);
        assert_eq!(density(&[1.0, 2.0], true), None);
    }
}
