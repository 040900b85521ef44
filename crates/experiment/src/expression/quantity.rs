//! Numbers with interval and unit, and arithmetic on them.

use fathom_model::Estimate;

use super::tree::Operator;
use crate::results::Samples;
use crate::unit::Unit;

/// The confidence level of all intervals. A claim is judged up to three times, with more rounds each time,
/// until it is decided. If each of these judgments uses this level, 95 % is kept overall (Pocock, Biometrika
/// 64, 1977).
pub const LEVEL: f64 = 0.978;

/// A number with its interval.
#[derive(Debug, Clone)]
pub(super) struct Quantity<'r> {
    /// Value and interval; a constant's interval has no width.
    pub estimate: Estimate,
    /// Its unit.
    pub unit: Unit,
    /// The samples from which it comes, if it comes directly from samples and so can be paired by round.
    pub samples: Option<&'r Samples>,
    /// Whether it is a quotient of two quantities of the same kind, so that 1 means no effect.
    pub is_ratio: bool,
    /// Whether it depends on a measurement.
    pub measured: bool,
    /// Why its interval can't support a verdict.
    pub weak: Option<String>,
}

impl<'r> Quantity<'r> {
    /// Creates a constant.
    pub(super) fn constant(value: f64, unit: Unit) -> Quantity<'r> {
        Quantity {
            estimate: point(value),
            unit,
            samples: None,
            is_ratio: false,
            measured: false,
            weak: None,
        }
    }

    /// Creates the median of samples.
    pub(super) fn of_samples(samples: &'r Samples) -> Option<Quantity<'r>> {
        let values = samples.plain();
        let estimate = fathom_stats::median_interval(&values, LEVEL)?;
        let (estimate, weak) = supported(estimate, &values, samples.exact);
        Some(Quantity {
            estimate: samples.within_bounds(estimate),
            unit: samples.unit(),
            samples: Some(samples),
            is_ratio: false,
            measured: true,
            weak,
        })
    }

    /// Creates the ratio of two results of the same rounds.
    pub(super) fn paired_ratio(estimate: Estimate, weak: Option<String>) -> Quantity<'r> {
        Quantity {
            estimate,
            unit: Unit::plain(),
            samples: None,
            is_ratio: true,
            measured: true,
            weak,
        }
    }

    /// Creates a number that is derived from samples but isn't their median.
    pub(super) fn derived(&self, estimate: Estimate) -> Quantity<'r> {
        Quantity {
            estimate,
            samples: None,
            ..self.clone()
        }
    }
}

/// Creates a value without width.
pub(super) fn point(value: f64) -> Estimate {
    Estimate {
        value,
        low: value,
        high: value,
        level: 1.0,
    }
}

/// Returns the estimate of values, at the level that they support. The order statistics of fewer than seven
/// values can't reach [`LEVEL`]. Two to six values get Student's interval on their logarithms instead, which
/// makes more assumptions; a single value has no interval.
pub(super) fn supported(
    estimate: Estimate,
    values: &[f64],
    exact: bool,
) -> (Estimate, Option<String>) {
    let all_equal = values.windows(2).all(|pair| pair[0] == pair[1]);
    if exact || (all_equal && values.len() >= 3) || estimate.level >= LEVEL {
        return (estimate, None);
    }
    if values.len() < 2 {
        let weak = "one run has no interval; give it at least 5 rounds".to_string();
        return (estimate, Some(weak));
    }
    match student_of_logarithms(values) {
        Some(estimate) => (estimate, None),
        None => {
            let weak = format!("{} runs are too few for a verdict", values.len());
            (estimate, Some(weak))
        }
    }
}

fn student_of_logarithms(values: &[f64]) -> Option<Estimate> {
    if values.len() > 6 || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mean = fathom_stats::mean_interval(&logarithms, LEVEL)?;
    let range = |pick: fn(f64, f64) -> f64, start| values.iter().copied().fold(start, pick);
    Some(Estimate {
        value: mean.value.exp(),
        low: mean.low.exp().min(range(f64::min, f64::INFINITY)),
        high: mean.high.exp().max(range(f64::max, 0.0)),
        level: mean.level,
    })
}

/// Returns the ratio of samples of the same rounds.
pub(super) fn paired(
    numerator: &Samples,
    denominator: &Samples,
) -> Option<(Estimate, Option<String>)> {
    if numerator.measure != denominator.measure {
        return None;
    }
    let below: std::collections::HashMap<u32, f64> = denominator.values.iter().copied().collect();
    let (above, below): (Vec<f64>, Vec<f64>) = numerator
        .values
        .iter()
        .filter_map(|(round, value)| Some((*value, *below.get(round)?)))
        .filter(|(above, below)| *above > 0.0 && *below > 0.0)
        .unzip();
    let ratio = fathom_stats::paired_ratio(&below, &above, LEVEL)?.ratio;
    let ratios: Vec<f64> = above.iter().zip(&below).map(|(a, b)| a / b).collect();
    let exact = numerator.exact && denominator.exact;
    Some(supported(ratio, &ratios, exact))
}

/// Computes `a + b` and similar operations by interval arithmetic: the result contains every value that the
/// operands allow. Returns `None` if the operation is undefined.
pub(super) fn arithmetic<'r>(
    left: &Quantity<'r>,
    operator: Operator,
    right: &Quantity<'r>,
) -> Option<Quantity<'r>> {
    let (a, b) = (&left.estimate, &right.estimate);
    let (value, unit) = match operator {
        Operator::Add => (a.value + b.value, left.unit.clone()),
        Operator::Subtract => (a.value - b.value, left.unit.clone()),
        Operator::Multiply => (a.value * b.value, left.unit.times(&right.unit, 1)),
        Operator::Divide => (a.value / b.value, left.unit.times(&right.unit, -1)),
    };
    if operator == Operator::Divide && b.low <= 0.0 && b.high >= 0.0 {
        return None;
    }
    let apply = |x: f64, y: f64| match operator {
        Operator::Add => x + y,
        Operator::Subtract => x - y,
        Operator::Multiply => x * y,
        Operator::Divide => x / y,
    };
    let corners = [
        apply(a.low, b.low),
        apply(a.low, b.high),
        apply(a.high, b.low),
        apply(a.high, b.high),
    ];
    let estimate = Estimate {
        value,
        low: corners.iter().copied().fold(f64::INFINITY, f64::min),
        high: corners.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        level: a.level.min(b.level),
    };
    let finite = [estimate.value, estimate.low, estimate.high]
        .iter()
        .all(|number| number.is_finite());
    finite.then(|| Quantity {
        estimate,
        is_ratio: operator == Operator::Divide
            && left.measured
            && right.measured
            && !left.is_ratio
            && unit.is_plain(),
        unit,
        samples: None,
        measured: left.measured || right.measured,
        weak: left.weak.clone().or_else(|| right.weak.clone()),
    })
}
