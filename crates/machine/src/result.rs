//! Static information about each probe, and results with and without a figure.

use fathom_model::quantity::Nanoseconds;
pub(crate) use fathom_model::{Estimator, ProbeResult, ProbeVerdict};

/// The note of a probe that Ctrl-C cut short.
pub(crate) const INTERRUPTED: &str = "not reached: interrupted";

/// Static information about a probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heading {
    /// Stable name; see [`ProbeResult::id`].
    pub id: &'static str,
    /// Title for display.
    pub title: &'static str,
    /// Unit of the figure.
    pub unit: &'static str,
    /// The method in one sentence.
    pub method: &'static str,
}

impl Heading {
    /// Returns a result without a figure, to be filled by the probe.
    pub(crate) fn blank(self, estimator: Estimator, verdict: ProbeVerdict) -> ProbeResult {
        ProbeResult {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            value: None,
            unit: self.unit.to_owned(),
            estimator,
            n: 0,
            p10: None,
            median: None,
            min: None,
            spread: None,
            share: None,
            steal_ns: Nanoseconds(0),
            involuntary_switches: 0,
            verdict,
            method: self.method.to_owned(),
            note: None,
            reported: None,
            cycles: None,
            core_to_core_ns: None,
            points_over: None,
            points_unit: None,
            points: None,
        }
    }

    fn without_figure(self, verdict: ProbeVerdict, why: String) -> ProbeResult {
        ProbeResult {
            note: Some(why),
            ..self.blank(Estimator::Derived, verdict)
        }
    }

    /// Returns `not measurable here`, with the reason.
    pub(crate) fn not_measurable(self, why: impl Into<String>) -> ProbeResult {
        self.without_figure(ProbeVerdict::NotMeasurable, why.into())
    }

    /// Returns `no answer`, with the reason.
    pub(crate) fn no_answer(self, why: impl Into<String>) -> ProbeResult {
        self.without_figure(ProbeVerdict::NoAnswer, why.into())
    }

    /// Returns a result without a figure, because the time was up before the probe began or ended.
    pub(crate) fn not_reached(self) -> ProbeResult {
        self.no_answer(ProbeResult::NOT_REACHED)
    }
}

/// Discards the result of a probe that was cut short: an incomplete curve is wrong.
pub(crate) fn cut_short(result: ProbeResult) -> ProbeResult {
    ProbeResult {
        value: None,
        cycles: None,
        spread: None,
        verdict: ProbeVerdict::NoAnswer,
        points: None,
        points_over: None,
        points_unit: None,
        note: Some(ProbeResult::NOT_REACHED.to_owned()),
        ..result
    }
}

/// Combines two passes of a probe. The result has a figure only if those of the passes are within `tolerance`
/// (relative) of each other. The first pass gives the curve, both give the spread.
pub(crate) fn of_two(first: ProbeResult, second: ProbeResult, tolerance: f64) -> ProbeResult {
    let (Some(a), Some(b)) = (first.value, second.value) else {
        return if first.value.is_some() { second } else { first };
    };
    let mut result = first;
    result.n += second.n;
    let difference = difference(a, b);
    result.spread = Some(difference);
    if difference <= tolerance {
        return result;
    }
    result.min = Some(a.min(b));
    result.median = Some(a.max(b));
    result.withdraw(ProbeVerdict::Disturbed, "two passes differ too much");
    result
}

/// Returns the difference of two figures relative to the larger one; 0 if both are 0.
pub(crate) fn difference(a: f64, b: f64) -> f64 {
    (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

/// Returns the difference of two estimates, each of which may be missing.
pub(crate) fn difference_if_both(both: [Option<f64>; 2]) -> Option<f64> {
    both[0].zip(both[1]).map(|(a, b)| difference(a, b))
}

/// Returns a result for tests, in ns, with the verdict for a figure unless another is set.
#[cfg(test)]
pub(crate) fn test_result(id: &'static str, value: Option<f64>) -> ProbeResult {
    let head = Heading {
        id,
        title: id,
        unit: "ns",
        method: "m",
    };
    let verdict = match value {
        Some(_) => ProbeVerdict::Ok,
        None => ProbeVerdict::NoAnswer,
    };
    ProbeResult {
        value,
        ..head.blank(Estimator::Minimum, verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(value: Option<f64>) -> ProbeResult {
        ProbeResult {
            n: 3,
            ..test_result("x", value)
        }
    }

    #[test]
    fn two_passes_must_agree() {
        let same = of_two(result(Some(10.0)), result(Some(9.0)), 0.15);
        assert_eq!(
            (same.value, same.n, same.spread),
            (Some(10.0), 6, Some(0.1))
        );
        let far = of_two(result(Some(10.0)), result(Some(5.0)), 0.15);
        assert_eq!((far.value, far.verdict), (None, ProbeVerdict::Disturbed));
        let half = of_two(result(Some(10.0)), result(None), 0.15);
        assert_eq!((half.value, half.verdict), (None, ProbeVerdict::NoAnswer));
    }
}
