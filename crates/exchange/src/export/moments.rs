//! Mean and standard deviation of a sample, for tools that expect them.

use fathom_stats::quantile;

/// The statistics that hyperfine reports for a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1); absent for a single value.
    pub standard_deviation: Option<f64>,
    /// Median.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Moments {
    /// Computes the statistics of values in ascending order; `None` for an empty sample.
    pub fn of(sorted: &[f64]) -> Option<Moments> {
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let mean = mean(sorted);
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_deviation =
            (sorted.len() > 1).then(|| (squares / (sorted.len() - 1) as f64).sqrt());
        let median = quantile(sorted, 0.5);
        Some(Moments {
            mean,
            standard_deviation,
            median,
            min,
            max,
        })
    }
}

/// Arithmetic mean; 0 for an empty sample.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_has_no_spread() {
        let moments = Moments::of(&[2.0]).expect("one value");
        assert_eq!((moments.mean, moments.standard_deviation), (2.0, None));
        assert_eq!(Moments::of(&[]), None);
    }

    #[test]
    fn the_deviation_divides_by_n_minus_one() {
        let moments = Moments::of(&[1.0, 2.0, 3.0]).expect("three values");
        assert_eq!(
            (moments.median, moments.standard_deviation),
            (2.0, Some(1.0))
        );
    }
}
