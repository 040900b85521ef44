//! Evidence from pairs about a ratio and a limit.

use fathom_model::Estimate;

use super::NULL_ARM;
use super::samples::Pairs;
use crate::paired;

/// The evidence on whether a ratio exceeds the limit.
#[derive(Debug, Clone)]
pub(super) struct Beyond {
    /// One-sided p-value of 'the ratio is at most 1 + limit'.
    pub(super) more: f64,
    /// One-sided p-value of 'the ratio is at least 1 + limit'.
    pub(super) less: f64,
    /// The ratio with its interval.
    pub(super) ratio: Option<Estimate>,
}

/// Performs Wilcoxon's signed-rank test on the ratios relative to the limit, and computes the interval that
/// misses the true value in `alpha` of cases.
pub(super) fn beyond(pairs: &Pairs, limit: f64, alpha: f64) -> Beyond {
    let scaled: Vec<f64> = pairs
        .reference
        .iter()
        .map(|value| value * (1.0 + limit))
        .collect();
    let Some(test) = paired::Pairs::new(&scaled, &pairs.subject) else {
        return Beyond {
            more: 1.0,
            less: 1.0,
            ratio: None,
        };
    };
    let (half, (paired, _)) = (test.p_value / 2.0, test.ratio(alpha));
    let (more, less) = match paired.ratio.value > 1.0 {
        true => (half, 1.0 - half),
        false => (1.0 - half, half),
    };
    let unscaled = |value: f64| value * (1.0 + limit);
    let ratio = Estimate {
        value: unscaled(paired.ratio.value),
        low: unscaled(paired.ratio.low),
        high: unscaled(paired.ratio.high),
        level: paired.ratio.level,
    };
    Beyond {
        more,
        less,
        ratio: Some(ratio),
    }
}

/// Returns half the interval of a program against itself, as a share: a smaller change can't be distinguished
/// from no change. Infinite if nothing was measured.
pub(super) fn half_interval(pairs: &Pairs, level: f64) -> f64 {
    match paired::Pairs::new(&pairs.reference, &pairs.subject) {
        Some(test) => {
            let ratio = test.ratio(1.0 - level).0.ratio;
            (ratio.high / ratio.low).sqrt() - 1.0
        }
        None => f64::INFINITY,
    }
}

/// Returns the p-value of 'a program differs from itself by at most the margin'.
pub(super) fn itself_differs(pairs: &Pairs, margin: f64) -> f64 {
    let up = beyond(pairs, margin, NULL_ARM).more;
    let down = beyond(pairs, 1.0 / (1.0 + margin) - 1.0, NULL_ARM).less;
    (2.0 * up.min(down)).min(1.0)
}

/// Returns how much two copies of the same program certainly differ, as a factor of at least 1. It is 1 if
/// nothing shows a difference.
pub(super) fn apart(pairs: &Pairs) -> f64 {
    let ratio = beyond(pairs, 0.0, APART).ratio;
    match ratio.filter(|ratio| ratio.level >= 1.0 - APART) {
        Some(ratio) if ratio.low > 1.0 || ratio.high < 1.0 => ratio.value.max(1.0 / ratio.value),
        _ => 1.0,
    }
}

/// How often two equal copies may be considered different. This only widens an interval; it isn't an error.
const APART: f64 = 0.01;
