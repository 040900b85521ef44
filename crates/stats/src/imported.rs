//! The middle of another tool's samples, or of its summary if the samples are unavailable.

use fathom_model::imported::Values;

use crate::median_interval;

/// The basis of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntervalFrom {
    /// Order statistics of the samples.
    Samples,
    /// The tool reported the interval; its assumptions are unknown.
    Tool,
    /// The quartiles and the number of samples. The samples are assumed to be independent, and normal between
    /// the quartiles.
    Quartiles,
    /// A standard deviation and the number of samples. The samples are assumed to be independent with a
    /// normal mean.
    Deviation,
    /// Nothing: the interval is just the value.
    Nothing,
}

/// The middle of the measurements, in the unit of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    /// The first of the median, the tool's single value and the mean that has a known interval; if there is
    /// none, the first that is available.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// Number of samples, 1 if unknown.
    pub runs: u64,
    /// The basis of the interval.
    pub from: IntervalFrom,
}

/// Returns the middle; `None` if neither a median nor a mean nor a single value is known.
pub fn imported_middle(values: &Values) -> Option<Middle> {
    let summary = match values {
        Values::Samples(samples) => {
            let median = median_interval(samples, 0.95)?;
            return Some(Middle {
                value: median.value,
                low: median.low,
                high: median.high,
                runs: samples.len() as u64,
                from: IntervalFrom::Samples,
            });
        }
        Values::Summary(summary) => summary,
    };
    let quantile = |percent| summary.quantiles.get(percent).copied();
    let median = summary.median.or(quantile("50"));
    let runs = summary.count.unwrap_or(1);
    let root = (runs as f64).sqrt();
    let middle = |value: f64, low, high, from| Middle {
        value,
        low,
        high,
        runs,
        from,
    };
    let around = |value: f64, half: f64, from| middle(value, value - half, value + half, from);
    // A tool's interval belongs to its single value or its mean, if it reports one of them.
    let of_tool = summary.low.zip(summary.high).and_then(|(low, high)| {
        let inside = |value: &f64| (low..=high).contains(value);
        let figures = [summary.value, summary.mean, median];
        let value = figures.into_iter().flatten().find(inside)?;
        Some(middle(value, low, high, IntervalFrom::Tool))
    });
    let of_quartiles = || {
        let spread = quantile("75")? - quantile("25")?;
        let known = runs >= FEWEST && spread >= 0.0;
        let half = 1.96 * 1.2533 / 1.349 * spread / root;
        let median = median.filter(|_| known)?;
        Some(around(median, half, IntervalFrom::Quartiles))
    };
    let of_deviation = || {
        let deviation = summary.standard_deviation.filter(|_| runs > 1)?;
        let half = 1.96 * deviation / root;
        // If there is only one figure, the deviation refers to it.
        let value = match (summary.mean, summary.value, median) {
            (Some(mean), ..) => mean,
            (None, Some(value), _) => value,
            (None, None, median) => median?,
        };
        Some(around(value, half, IntervalFrom::Deviation))
    };
    of_tool
        .or_else(of_quartiles)
        .or_else(of_deviation)
        .or_else(|| {
            let value = median.or(summary.value).or(summary.mean)?;
            Some(around(value, 0.0, IntervalFrom::Nothing))
        })
}

/// The minimum number of samples: quartiles of fewer samples tell little about the spread.
const FEWEST: u64 = 6;

#[cfg(test)]
mod tests {
    use fathom_model::imported::Summary;

    use super::*;

    fn of(summary: Summary) -> Option<Middle> {
        imported_middle(&Values::Summary(Box::new(summary)))
    }

    #[test]
    fn samples_have_a_median_with_its_interval() {
        let found =
            imported_middle(&Values::Samples(vec![3.0, 1.0, 2.0, 5.0, 4.0])).expect("five samples");
        assert_eq!(
            (found.value, found.low, found.high, found.runs),
            (3.0, 1.0, 5.0, 5)
        );
        assert_eq!(imported_middle(&Values::Samples(Vec::new())), None);
    }

    #[test]
    fn an_interval_stands_around_the_estimate_that_it_is_of() {
        let both = Summary {
            mean: Some(2.0),
            median: Some(1.0),
            low: Some(1.8),
            high: Some(2.2),
            ..Summary::default()
        };
        let found = of(both.clone()).expect("a mean");
        assert_eq!(
            (found.value, found.low, found.high, found.from),
            (2.0, 1.8, 2.2, IntervalFrom::Tool)
        );
        // An interval that doesn't contain the figure belongs to something else and is not used.
        let alone = of(Summary {
            low: Some(5.0),
            high: Some(6.0),
            ..both
        })
        .expect("a median");
        assert_eq!((alone.value, alone.from), (1.0, IntervalFrom::Nothing));
        let skewed = Summary {
            count: Some(100),
            mean: Some(10.0),
            median: Some(1.0),
            standard_deviation: Some(5.0),
            ..Summary::default()
        };
        let found = of(skewed.clone()).expect("a mean");
        assert!((found.low - 9.02).abs() < 1e-9 && (found.high - 10.98).abs() < 1e-9);
        let quartiles = [("25".to_owned(), 0.9), ("75".to_owned(), 1.2)];
        let found = of(Summary {
            quantiles: quartiles.into(),
            ..skewed
        })
        .expect("a median");
        assert_eq!((found.value, found.from), (1.0, IntervalFrom::Quartiles));
        assert!((found.high - 1.0546).abs() < 1e-3, "{}", found.high);
        assert_eq!(
            of(Summary {
                max: Some(1.0),
                ..Summary::default()
            }),
            None
        );
    }

    #[test]
    fn a_deviation_gives_an_interval_only_with_several_samples() {
        let with = |count| Summary {
            mean: Some(10.0),
            standard_deviation: Some(2.0),
            count: Some(count),
            ..Summary::default()
        };
        let found = of(with(16)).expect("a mean");
        assert!((found.high - 10.98).abs() < 1e-12 && found.from == IntervalFrom::Deviation);
        assert_eq!(of(with(1)).expect("a mean").from, IntervalFrom::Nothing);
    }
}
