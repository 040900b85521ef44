//! The shape of a sample: for pictures and for telling slow runs from the rest, not for verdicts.

pub(crate) use fathom_stats::quantile;

/// Between which values of an ascending sample the quantile `p` of its source lies, with 95 %
/// confidence: the order statistics 1.96 standard deviations of the binomial around it. `None` where
/// the sample is too small to have values on both sides.
pub(crate) fn quantile_range(sorted: &[f64], p: f64) -> Option<(f64, f64)> {
    let n = sorted.len() as f64;
    let half = 1.96 * (n * p * (1.0 - p)).sqrt();
    let (below, above) = ((n * p - half).floor(), (n * p + half).ceil());
    if below < 1.0 || above > n {
        return None;
    }
    Some((sorted[below as usize - 1], sorted[above as usize - 1]))
}

/// `values` in ascending order.
pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Share above the median below which a run is not worth a word, however alike the others are.
const ABOVE_MEDIAN: f64 = 0.10;

/// Above this a value is called slow: the third quartile and three times the distance between the
/// quartiles (Tukey's outer fence), but at least 10 % above the median. `None` for fewer than ten values: among so few the quartiles lie too
/// close together by chance.
pub(crate) fn slow_fence(sorted: &[f64]) -> Option<f64> {
    if sorted.len() < 10 {
        return None;
    }
    let (low, high) = (quantile(sorted, 0.25), quantile(sorted, 0.75));
    let worth_a_word = quantile(sorted, 0.5) * (1.0 + ABOVE_MEDIAN);
    Some((high + 3.0 * (high - low)).max(worth_a_word))
}

/// A histogram from the smallest value to the fence.
#[derive(Debug, PartialEq)]
pub(crate) struct Histogram {
    /// Smallest value.
    pub(crate) low: f64,
    /// Upper end of the last bin.
    pub(crate) high: f64,
    /// Values in each bin, all bins equally wide.
    pub(crate) counts: Vec<usize>,
    /// Values above the last bin.
    pub(crate) beyond: usize,
}

/// `bins` bins over an ascending sample; `None` where there is nothing to see: fewer than ten
/// values, or all alike.
pub(crate) fn histogram(sorted: &[f64], bins: usize) -> Option<Histogram> {
    let fence = slow_fence(sorted)?;
    let low = sorted[0];
    let inside = sorted.partition_point(|value| *value <= fence);
    let high = sorted[inside.saturating_sub(1)];
    if bins == 0 || high <= low {
        return None;
    }
    let mut counts = vec![0; bins];
    for value in &sorted[..inside] {
        let bin = ((value - low) / (high - low) * bins as f64) as usize;
        counts[bin.min(bins - 1)] += 1;
    }
    Some(Histogram {
        low,
        high,
        counts,
        beyond: sorted.len() - inside,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        let sample = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&sample, 0.0), 1.0);
        assert_eq!(quantile(&sample, 0.5), 2.5);
        assert_eq!(quantile(&sample, 1.0), 4.0);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
    }

    #[test]
    fn a_quantile_is_not_bounded_by_too_few_values() {
        let sample: Vec<f64> = (1..=50).map(f64::from).collect();
        assert_eq!(quantile_range(&sample, 0.9), Some((40.0, 50.0)));
        assert_eq!(quantile_range(&sample[..20], 0.9), None);
    }

    #[test]
    fn every_value_is_in_a_bin_or_beyond() {
        let sample = sorted((0..40).map(f64::from).chain([500.0, 900.0]).collect());
        let histogram = histogram(&sample, 8).expect("the values differ");
        assert_eq!(histogram.beyond, 2);
        assert_eq!(histogram.counts.iter().sum::<usize>(), 40);
        assert_eq!((histogram.low, histogram.high), (0.0, 39.0));
    }

    #[test]
    fn a_small_excess_is_not_slow() {
        let sample = sorted(vec![1.0; 30].into_iter().chain([1.05, 1.2]).collect());
        assert_eq!(slow_fence(&sample), Some(1.1));
    }

    #[test]
    fn equal_values_have_no_picture() {
        assert_eq!(histogram(&[1.0; 12], 8), None);
        assert_eq!(histogram(&[1.0, 2.0], 8), None);
    }
}
