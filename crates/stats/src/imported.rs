//! What another tool's samples, or its figures of samples that nobody has, say of the middle.

use fathom_model::imported::Values;

use crate::median_interval;

/// What an interval rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntervalFrom {
    /// Order statistics of the samples.
    Samples,
    /// The tool gave it; what it assumed is not known.
    Tool,
    /// A standard deviation and a number of samples, taken as independent and of a normal mean.
    Deviation,
    /// Nothing: the interval is the value alone.
    Nothing,
}

/// The middle of what was measured, in the unit of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    /// Median; where the tool gives none, its one value or its mean. The mean too where only that has
    /// an interval.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of samples, 1 where it isn't known.
    pub runs: u64,
    /// What the interval rests on.
    pub from: IntervalFrom,
}

/// `None` where neither a median nor a mean nor a single value is known.
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
    let median = summary.median.or(summary.quantiles.get("50").copied());
    let value = median.or(summary.value).or(summary.mean)?;
    let runs = summary.count.unwrap_or(1);
    let own = summary.low.zip(summary.high);
    // Some intervals are those of another figure, such as of the mean beside a median: an interval
    // stands around the figure that it is of.
    let own_of = |figure: f64| own.filter(|(low, high)| (*low..=*high).contains(&figure));
    let deviation = summary.standard_deviation.filter(|_| runs > 1);
    let of_mean = summary.mean.and_then(|mean| {
        if let Some(ends) = own_of(mean) {
            return Some((mean, ends, IntervalFrom::Tool));
        }
        let half = 1.96 * deviation? / (runs as f64).sqrt();
        Some((mean, (mean - half, mean + half), IntervalFrom::Deviation))
    });
    let (value, (low, high), from) = match (own_of(value), of_mean) {
        (Some(ends), _) => (value, ends, IntervalFrom::Tool),
        (None, Some(of_mean)) => of_mean,
        (None, None) => (value, (value, value), IntervalFrom::Nothing),
    };
    Some(Middle {
        value,
        low,
        high,
        runs,
        from,
    })
}

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
    fn an_interval_stands_around_the_figure_that_it_is_of() {
        let both = Summary {
            mean: Some(2.0),
            median: Some(1.0),
            low: Some(1.8),
            high: Some(2.2),
            ..Summary::default()
        };
        let found = of(both.clone()).expect("both");
        assert_eq!((found.value, found.low, found.high), (2.0, 1.8, 2.2));
        let skewed = of(Summary {
            standard_deviation: Some(5.0),
            count: Some(100),
            low: None,
            ..both.clone()
        })
        .expect("both");
        assert_eq!((skewed.value, skewed.low), (2.0, 2.0 - 1.96 * 0.5));
        let alone = of(Summary {
            mean: None,
            standard_deviation: Some(5.0),
            count: Some(100),
            ..both.clone()
        })
        .expect("a median");
        assert_eq!((alone.value, alone.from), (1.0, IntervalFrom::Nothing));
        let mean = of(Summary {
            median: None,
            ..both
        })
        .expect("a mean");
        assert_eq!(
            (mean.low, mean.high, mean.from),
            (1.8, 2.2, IntervalFrom::Tool)
        );
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
