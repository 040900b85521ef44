//! Chunks in, one judged figure out: pure, no clock.

use crate::result::{Estimator, Heading, ProbeResult, Verdict};

/// The chunks of one pass that passed the gate, with what happened meanwhile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// Values of the chunks that count.
    pub values: Vec<f64>,
    /// Chunks that did not have the CPU.
    pub rejected: usize,
    /// CPU time over wall time of the pass.
    pub share: Option<f64>,
    /// Steal during the pass in ns.
    pub steal_ns: u64,
    /// Involuntary switches during the pass.
    pub involuntary_switches: u64,
}

/// Fewest chunks with which a pass counts.
pub const LEAST_CHUNKS: usize = 5;

impl Samples {
    /// The estimate of this pass; `None` with fewer than [`LEAST_CHUNKS`] chunks.
    pub fn estimate(&self, estimator: Estimator) -> Option<f64> {
        if self.values.len() < LEAST_CHUNKS {
            return None;
        }
        estimate(&self.values, estimator)
    }
}

/// The estimate from `values`, `None` if there are none. A derived value has no estimate of its
/// own and takes the median.
pub fn estimate(values: &[f64], estimator: Estimator) -> Option<f64> {
    match estimator {
        Estimator::Minimum => quantile(values, 0.0),
        Estimator::P10 => quantile(values, 0.1),
        Estimator::Median | Estimator::Derived => quantile(values, 0.5),
        Estimator::Mode => mode(values),
    }
}

/// The quantile at `p` (0 to 1) with linear interpolation between order statistics (Hyndman and
/// Fan's type 7); `None` if there are no values.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let at = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
}

fn mode(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut best: Option<(usize, f64)> = None;
    for run in sorted.chunk_by(|a, b| a == b) {
        if best.is_none_or(|(count, _)| run.len() > count) {
            best = Some((run.len(), run[0]));
        }
    }
    best.map(|(_, value)| value)
}

/// What two passes must share for the figure to count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// How a figure is taken from the chunks.
    pub estimator: Estimator,
    /// Largest relative difference between passes that agree (0.03 = 3 %).
    pub tolerance: f64,
}

/// The value on which the passes agree and their spread; `None` if they do not agree yet.
///
/// For a minimum the two lowest passes must agree: what disturbs can only add, so passes above
/// are explained. For p10 and median the figure is the median of the passes, and most of the
/// passes (at least two) must lie within the tolerance of it.
pub fn agree(estimates: &[f64], agreement: Agreement) -> Option<(f64, f64)> {
    if estimates.len() < 2 {
        return None;
    }
    let mut sorted = estimates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tolerance = agreement.tolerance;
    let near = |a: f64, b: f64| (a - b).abs() <= tolerance * a.abs().max(f64::MIN_POSITIVE);
    match agreement.estimator {
        Estimator::Minimum => {
            near(sorted[0], sorted[1]).then(|| (sorted[0], spread(&sorted[..2], sorted[0])))
        }
        _ => {
            let middle = quantile(&sorted, 0.5)?;
            let close: Vec<f64> = sorted
                .iter()
                .copied()
                .filter(|e| near(middle, *e))
                .collect();
            (close.len() >= 2 && close.len() * 2 > sorted.len())
                .then(|| (middle, spread(&close, middle)))
        }
    }
}

fn spread(sorted: &[f64], value: f64) -> f64 {
    match (sorted.first(), sorted.last()) {
        (Some(low), Some(high)) if value != 0.0 => (high - low) / value.abs(),
        _ => 0.0,
    }
}

/// Judges the passes of a probe.
pub fn judge(heading: Heading, agreement: Agreement, passes: &[Samples]) -> ProbeResult {
    let estimates: Vec<f64> = passes
        .iter()
        .filter_map(|pass| pass.estimate(agreement.estimator))
        .collect();
    let all: Vec<f64> = passes
        .iter()
        .flat_map(|pass| pass.values.iter().copied())
        .collect();
    let rejected: usize = passes.iter().map(|pass| pass.rejected).sum();
    let mut result = ProbeResult::blank(heading, agreement.estimator, Verdict::NoAnswer);
    result.n = all.len();
    result.min = quantile(&all, 0.0);
    result.p10 = quantile(&all, 0.1);
    result.median = quantile(&all, 0.5);
    let shares: Vec<f64> = passes.iter().filter_map(|pass| pass.share).collect();
    result.share = quantile(&shares, 0.5);
    result.steal_ns = passes.iter().map(|pass| pass.steal_ns).sum();
    result.involuntary_switches = passes.iter().map(|pass| pass.involuntary_switches).sum();
    match (agree(&estimates, agreement), estimates.len()) {
        (Some((value, spread)), _) => {
            result.value = Some(value);
            result.spread = Some(spread);
            result.verdict = Verdict::Ok;
        }
        (None, 0 | 1) => result.add_note(format!(
            "only {} of {} passes had the CPU for long enough ({rejected} chunks did not count)",
            estimates.len(),
            passes.len()
        )),
        (None, _) => {
            let mut sorted = estimates.clone();
            sorted.sort_by(f64::total_cmp);
            let wide = spread(&sorted, sorted[0]);
            result.spread = Some(wide);
            result.verdict = Verdict::Disturbed;
            result.add_note(format!(
                "{} passes lie up to {:.0} % apart, more than the {:.0} % that count as the same",
                estimates.len(),
                wide * 100.0,
                agreement.tolerance * 100.0
            ));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Heading = Heading {
        id: "x",
        title: "x",
        unit: "ns",
        method: "m",
    };
    const LEAST: Agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };
    const MIDDLE: Agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.1,
    };

    fn pass(values: &[f64]) -> Samples {
        Samples {
            values: values.to_vec(),
            share: Some(1.0),
            ..Samples::default()
        }
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[1.0, 2.0], 0.1), Some(1.1));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[f64::NAN, 2.0], 0.5), Some(2.0));
    }

    #[test]
    fn the_mode_is_the_most_frequent_value() {
        assert_eq!(
            estimate(&[52.0, 26.0, 26.0, 78.0], Estimator::Mode),
            Some(26.0)
        );
    }

    #[test]
    fn a_minimum_stands_when_the_two_lowest_passes_agree() {
        assert_eq!(agree(&[9.0, 1.0, 1.02], LEAST).unwrap().0, 1.0);
        assert_eq!(agree(&[1.0, 1.05], LEAST), None);
        assert_eq!(agree(&[1.0], LEAST), None, "one pass proves nothing");
    }

    #[test]
    fn a_median_stands_when_most_passes_agree() {
        assert_eq!(agree(&[100.0, 105.0, 300.0], MIDDLE).unwrap().0, 105.0);
        assert_eq!(agree(&[100.0, 200.0, 300.0], MIDDLE), None);
        assert_eq!(agree(&[100.0, 200.0], MIDDLE), None);
    }

    #[test]
    fn disagreeing_passes_give_no_figure() {
        let result = judge(HEAD, LEAST, &[pass(&[1.0; 9]), pass(&[2.0; 9])]);
        assert_eq!(result.verdict, Verdict::Disturbed);
        assert_eq!(result.value, None);
        assert_eq!(result.min, Some(1.0), "what was seen is kept");
        assert!(result.note.unwrap().contains("100 %"));
    }

    #[test]
    fn passes_without_the_cpu_give_no_answer() {
        let starved = Samples {
            rejected: 40,
            share: Some(0.4),
            ..Samples::default()
        };
        let result = judge(HEAD, LEAST, &[starved.clone(), starved]);
        assert_eq!(result.verdict, Verdict::NoAnswer);
        assert!(result.note.unwrap().contains("80 chunks did not count"));
    }

    #[test]
    fn agreeing_passes_give_a_figure_with_its_spread() {
        let result = judge(HEAD, LEAST, &[pass(&[1.0; 9]), pass(&[1.01; 9])]);
        assert_eq!(
            (result.verdict, result.value, result.n),
            (Verdict::Ok, Some(1.0), 18)
        );
        assert!((result.spread.unwrap() - 0.01).abs() < 1e-12);
    }
}
