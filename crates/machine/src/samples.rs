//! Turns chunks into one judged figure. Pure computation without a clock.

use fathom_model::quantity::Nanoseconds;

use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};

/// The chunks of one pass that passed the gate, with the conditions during the pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Samples {
    /// Values of the chunks that count.
    pub values: Vec<f64>,
    /// Number of chunks that didn't have the CPU.
    pub rejected: usize,
    /// CPU time over wall time of the pass.
    pub share: Option<f64>,
    /// Time that the hypervisor gave to others during the pass.
    pub steal_ns: Nanoseconds,
    /// Involuntary switches during the pass.
    pub involuntary_switches: u64,
    /// The visit that the pass belongs to; visits are seconds apart.
    pub visit: usize,
}

/// Minimum number of chunks with which a pass counts.
pub(crate) const LEAST_CHUNKS: usize = 5;

impl Samples {
    /// Returns the estimate of this pass; `None` with fewer than [`LEAST_CHUNKS`] chunks.
    pub(crate) fn estimate(&self, estimator: Estimator) -> Option<f64> {
        if self.values.len() < LEAST_CHUNKS {
            return None;
        }
        estimate(&self.values, estimator)
    }
}

/// Returns the estimate from `values`, `None` if there are none. A derived value has no separate estimate and
/// uses the median.
pub(crate) fn estimate(values: &[f64], estimator: Estimator) -> Option<f64> {
    match estimator {
        Estimator::Minimum => quantile(values, 0.0),
        Estimator::P10 => quantile(values, 0.1),
        Estimator::Median | Estimator::Derived => quantile(values, 0.5),
        Estimator::Mean => mean(values),
        Estimator::Mode => mode(values),
    }
}

/// Returns the quantile at `p` (0 to 1) with linear interpolation between order statistics (Hyndman and Fan's
/// type 7); `None` if there are no values.
pub(crate) fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let at = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
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

/// The agreement between two passes that is required for a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Agreement {
    /// How a figure is derived from the chunks.
    pub estimator: Estimator,
    /// Largest relative difference between passes that agree (0.03 = 3 %).
    pub tolerance: f64,
}

/// Returns the value on which the passes agree and their spread; `None` if they don't agree yet.
///
/// For a minimum, the two lowest passes must agree; higher passes don't matter, because disturbances can only
/// add time. For p10 and median, the figure is the median of the passes, and most of the passes (at least
/// two) must be within the tolerance of it.
pub(crate) fn agree(estimates: &[f64], agreement: Agreement) -> Option<(f64, f64)> {
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

/// Returns whether the chunks of a pass are close enough to come from a single state. If the tenth percentile
/// or the median is used, the median must be above the tenth percentile by at most twice the tolerance. On a
/// quiet machine, it is 3 % above for the third level and 8 % for memory; if others evict the set, it is 60
/// to 100 % above (a latency of 15 ns, although visits had agreed on 39 to 60).
fn is_steady(pass: &Samples, agreement: Agreement) -> bool {
    if !matches!(agreement.estimator, Estimator::P10 | Estimator::Median) {
        return true;
    }
    let (low, middle) = (quantile(&pass.values, 0.1), quantile(&pass.values, 0.5));
    low.zip(middle)
        .is_some_and(|(low, middle)| middle - low <= 2.0 * agreement.tolerance * low)
}

/// Returns the estimate of each visit: that of the best of its steady passes. Disturbances make times longer
/// and rates lower, so the best is the smallest time or the highest rate.
fn of_visits(passes: &[Samples], agreement: Agreement, rate: bool) -> Vec<f64> {
    passes
        .chunk_by(|a, b| a.visit == b.visit)
        .filter_map(|visit| {
            let estimates: Vec<f64> = visit
                .iter()
                .filter(|pass| is_steady(pass, agreement))
                .filter_map(|pass| pass.estimate(agreement.estimator))
                .collect();
            quantile(&estimates, if rate { 1.0 } else { 0.0 })
        })
        .collect()
}

/// Returns the value on which visits seconds apart agree, and their spread; `None` if they don't agree.
/// `rate` means that more is better.
///
/// The best visit must be confirmed by another one, and by most if the figure isn't a minimum: two visits at
/// 214 ns prove nothing once a third has seen 121. The best visit is the figure: the others show the same
/// with more disturbance (their median moved by 20 to 25 % over 10 runs).
pub(crate) fn agree_over_visits(
    passes: &[Samples],
    agreement: Agreement,
    rate: bool,
) -> Option<(f64, f64)> {
    let mut visits = of_visits(passes, agreement, rate);
    visits.sort_by(f64::total_cmp);
    if rate {
        visits.reverse();
    }
    let best = *visits.first()?;
    let near = |value: f64| (value - best).abs() <= agreement.tolerance * best.abs();
    let confirmed: Vec<f64> = visits.iter().copied().filter(|v| near(*v)).collect();
    let minimum = agreement.estimator == Estimator::Minimum;
    let enough = confirmed.len() >= 2 && (minimum || confirmed.len() * 2 > visits.len());
    let low = quantile(&confirmed, 0.0)?;
    let high = quantile(&confirmed, 1.0)?;
    enough.then(|| (best, spread(&[low, high], best)))
}

/// Judges the passes of a probe.
pub(crate) fn judge(heading: Heading, agreement: Agreement, passes: &[Samples]) -> ProbeResult {
    let estimates: Vec<f64> = passes
        .iter()
        .filter_map(|pass| pass.estimate(agreement.estimator))
        .collect();
    let agreed = agree(&estimates, agreement);
    judged(heading, agreement, passes, (estimates, "passes"), agreed)
}

/// Judges passes of visits that are seconds apart.
pub(crate) fn judge_over_visits(
    heading: Heading,
    agreement: Agreement,
    passes: &[Samples],
    rate: bool,
) -> ProbeResult {
    let estimates = of_visits(passes, agreement, rate);
    let agreed = agree_over_visits(passes, agreement, rate);
    let what = "visits, seconds apart,";
    let few = estimates.len() < 2;
    let mut result = judged(heading, agreement, passes, (estimates, what), agreed);
    let unsteady = passes
        .iter()
        .filter(|pass| pass.values.len() >= LEAST_CHUNKS && !is_steady(pass, agreement))
        .count();
    if few && unsteady > 0 {
        result.verdict = ProbeVerdict::Disturbed;
        result.note = Some(format!(
            "in {unsteady} of {} passes, the chunks differ as they do when other programs use the CPU",
            passes.len()
        ));
    }
    result
}

/// Returns the result of `passes`. `estimates` are the values that agreed or not, and `what` names them in
/// messages.
fn judged(
    heading: Heading,
    agreement: Agreement,
    passes: &[Samples],
    (estimates, what): (Vec<f64>, &str),
    agreed: Option<(f64, f64)>,
) -> ProbeResult {
    let all: Vec<f64> = passes
        .iter()
        .flat_map(|pass| pass.values.iter().copied())
        .collect();
    let rejected: usize = passes.iter().map(|pass| pass.rejected).sum();
    let mut result = heading.blank(agreement.estimator, ProbeVerdict::NoAnswer);
    result.n = all.len();
    result.min = quantile(&all, 0.0);
    result.p10 = quantile(&all, 0.1);
    result.median = quantile(&all, 0.5);
    let shares: Vec<f64> = passes.iter().filter_map(|pass| pass.share).collect();
    result.share = quantile(&shares, 0.5);
    result.steal_ns = passes.iter().map(|pass| pass.steal_ns).sum();
    result.involuntary_switches = passes.iter().map(|pass| pass.involuntary_switches).sum();
    match (agreed, estimates.len()) {
        (Some((value, spread)), _) => {
            result.value = Some(value);
            result.spread = Some(spread);
            result.verdict = ProbeVerdict::Ok;
        }
        (None, 0 | 1) => result.add_note(format!(
            "only {} of {} passes had the CPU for long enough ({rejected} chunks did not count)",
            passes
                .iter()
                .filter(|pass| pass.estimate(agreement.estimator).is_some())
                .count(),
            passes.len()
        )),
        (None, _) => {
            let mut sorted = estimates.clone();
            sorted.sort_by(f64::total_cmp);
            let wide = spread(&sorted, sorted[0]);
            result.spread = Some(wide);
            result.verdict = ProbeVerdict::Disturbed;
            result.add_note(format!(
                "{} {what} differ by up to {:.0} %, more than the allowed {:.0} %",
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
    fn the_mean_has_the_slow_pieces_in_it() {
        assert_eq!(estimate(&[10.0, 10.0, 4.0], Estimator::Mean), Some(8.0));
        assert_eq!(estimate(&[], Estimator::Mean), None);
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
        assert_eq!(result.verdict, ProbeVerdict::Disturbed);
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
        assert_eq!(result.verdict, ProbeVerdict::NoAnswer);
        assert!(result.note.unwrap().contains("80 chunks did not count"));
    }

    #[test]
    fn agreeing_passes_give_a_figure_with_its_spread() {
        let result = judge(HEAD, LEAST, &[pass(&[1.0; 9]), pass(&[1.01; 9])]);
        assert_eq!(
            (result.verdict, result.value, result.n),
            (ProbeVerdict::Ok, Some(1.0), 18)
        );
        assert!((result.spread.unwrap() - 0.01).abs() < 1e-12);
    }

    /// Returns passes of visits, each with the values of its visit.
    fn visits(values: &[&[f64]]) -> Vec<Samples> {
        let of = |(visit, values): (usize, &&[f64])| Samples {
            visit,
            ..pass(values)
        };
        values.iter().enumerate().map(of).collect()
    }

    fn verdict(
        passes: &[Samples],
        agreement: Agreement,
        rate: bool,
    ) -> (ProbeVerdict, Option<f64>) {
        let result = judge_over_visits(HEAD, agreement, passes, rate);
        (result.verdict, result.value)
    }

    #[test]
    fn passes_of_one_visit_alone_are_no_figure() {
        // A tracer runs for half a second: eight passes in direct sequence all agree on the slower value.
        let traced = vec![pass(&[411.0; 9]); 8];
        assert_eq!(judge(HEAD, LEAST, &traced).verdict, ProbeVerdict::Ok);
        assert_eq!(verdict(&traced, LEAST, false).1, None);
    }

    #[test]
    fn a_system_call_in_two_states_is_disturbed_until_the_lower_one_is_confirmed() {
        let (slow, fast) = ([411.0; 9], [185.0; 9]);
        let passes = visits(&[&slow, &slow, &fast]);
        assert_eq!(
            verdict(&passes, LEAST, false),
            (ProbeVerdict::Disturbed, None)
        );
        let again = visits(&[&slow, &slow, &fast, &[186.0; 9]]);
        assert_eq!(
            verdict(&again, LEAST, false),
            (ProbeVerdict::Ok, Some(185.0))
        );
    }

    #[test]
    fn memory_that_others_use_in_turns_is_disturbed() {
        let memory = Agreement {
            estimator: Estimator::P10,
            tolerance: 0.15,
        };
        let (busy, quiet) = ([214.0; 9], [121.0; 9]);
        let disturbed = (ProbeVerdict::Disturbed, None);
        assert_eq!(verdict(&visits(&[&busy, &quiet]), memory, false), disturbed);
        let twice = visits(&[&busy, &busy, &quiet, &quiet]);
        assert_eq!(verdict(&twice, memory, false), disturbed);
        let most = visits(&[&quiet, &busy, &[125.0; 9]]);
        assert_eq!(
            verdict(&most, memory, false),
            (ProbeVerdict::Ok, Some(121.0))
        );
    }

    #[test]
    fn a_set_that_others_evict_gives_no_figure_however_often_it_is_seen() {
        let third = Agreement {
            estimator: Estimator::P10,
            tolerance: 0.15,
        };
        // As measured at a load of 18: p10 and median of three visits that would agree.
        let evicted: Vec<f64> = (0..20).map(|i| 38.0 + 4.0 * f64::from(i)).collect();
        let passes = visits(&[&evicted, &evicted, &evicted]);
        assert_eq!(
            verdict(&passes, third, false),
            (ProbeVerdict::Disturbed, None)
        );
        let quiet = [15.5; 9];
        let passes = visits(&[&evicted, &quiet, &quiet]);
        assert_eq!(
            verdict(&passes, third, false),
            (ProbeVerdict::Ok, Some(15.5))
        );
    }

    #[test]
    fn of_rates_the_highest_visit_must_be_confirmed() {
        let (slow, fast) = ([12.0; 9], [23.0; 9]);
        let passes = visits(&[&slow, &slow, &fast]);
        assert_eq!(
            verdict(&passes, MIDDLE, true),
            (ProbeVerdict::Disturbed, None)
        );
        let passes = visits(&[&fast, &slow, &fast]);
        assert_eq!(
            verdict(&passes, MIDDLE, true),
            (ProbeVerdict::Ok, Some(23.0))
        );
    }

    #[test]
    fn a_visit_without_the_cpu_confirms_nothing() {
        let mut passes = visits(&[&[1.0; 9], &[1.0; 2]]);
        passes[1].rejected = 30;
        let result = judge_over_visits(HEAD, LEAST, &passes, false);
        assert_eq!(
            (result.verdict, result.value),
            (ProbeVerdict::NoAnswer, None)
        );
        assert!(result.note.unwrap().contains("1 of 2 passes"));
    }
}
