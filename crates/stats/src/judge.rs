//! Verdicts: faster, slower, the same, or undecided.

use fathom_model::{Comparison, Estimate, Metric, MoreRounds, Shift, Verdict};

use crate::discovery;
use crate::paired::{PairedRatio, Pairs};
use crate::sequential::Allowance;

/// The minimum number of rounds for a verdict: with fewer, no outcome reaches 5 %. A claim at 99 % needs
/// eight.
pub const FEWEST_ROUNDS: usize = 6;

/// The minimum number of rounds for considering counts constant that never differed.
pub const FEWEST_OF_COUNTS: usize = 3;

/// Larger numbers of rounds are not announced, since the estimate behind them is noise.
const MOST_ROUNDS: f64 = 1e9;

/// One comparison to be judged: the values of two benchmarks for one metric, by round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairData<'a> {
    /// Index of the benchmark to compare with.
    pub reference_index: usize,
    /// Index of the benchmark that is compared.
    pub subject_index: usize,
    /// The compared metric.
    pub metric: Metric,
    /// Values of the reference, in the metric's unit; the i-th value belongs to the i-th round.
    pub reference: &'a [f64],
    /// Values of the subject, in the metric's unit. There are as many as for the reference.
    pub subject: &'a [f64],
    /// Differences up to this share count as no difference (0.01 is 1 %).
    pub margin: f64,
}

/// Judges several comparisons so that at most a share of `allowance.claim` of all claimed differences is
/// false (expected false discovery rate).
///
/// Benjamini-Hochberg decides how many of the m p-values are significant (R). Every interval then has the
/// level 1 - max(R, 1) / m * allowance.interval (Benjamini and Yekutieli 2005), so that the intervals of
/// significant comparisons exclude 1. The verdict is `Same` if the whole interval is within [1 / (1 +
/// margin), 1 + margin], otherwise `Faster` or `Slower` if the p-value is significant, otherwise `Undecided`.
/// A claim needs more than an interval that excludes 1: [`Comparison::claim_level`].
///
/// A count ([`Metric::is_exact`]) that has one value in all runs of a side, in at least [`FEWEST_OF_COUNTS`]
/// rounds, needs no test: its ratio is exact, with a level of 1, and it doesn't count towards the rate.
///
/// A level requires a minimum number of rounds with both values positive, see [`fewest_rounds`]. A pair
/// without any usable round has no ratio and is omitted from the result; all others keep their order.
///
/// ```
/// use fathom_model::{Metric, Verdict};
/// use fathom_stats::{PairData, judge, sequential};
/// let reference: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i % 5) / 100.0).collect();
/// let subject: Vec<f64> = reference.iter().map(|v| v * 0.9).collect();
/// let pair = PairData {
///     reference_index: 0,
///     subject_index: 1,
///     metric: Metric::Wall,
///     reference: &reference,
///     subject: &subject,
///     margin: 0.01,
/// };
/// let judged = judge(&[pair], sequential::last(0.05, &[]));
/// assert_eq!(judged[0].verdict, Verdict::Faster);
/// ```
///
/// # Panics
/// If a reference and its subject differ in length.
pub fn judge(pairs: &[PairData], allowance: Allowance) -> Vec<Comparison> {
    let usable: Vec<(&PairData, Known)> = pairs
        .iter()
        .filter_map(|data| {
            let known = match counted(data) {
                Some(ratio) => Known::Counted(ratio),
                None => Known::Sampled(Pairs::new(data.reference, data.subject)?),
            };
            Some((data, known))
        })
        .collect();
    let p_values: Vec<f64> = usable
        .iter()
        .filter_map(|(_, known)| match known {
            Known::Sampled(pairs) if pairs.rounds() >= FEWEST_ROUNDS => Some(pairs.p_value),
            _ => None,
        })
        .collect();
    let allowance = discovery::each(&p_values, allowance);
    usable
        .iter()
        .map(|(data, known)| match known {
            Known::Counted(ratio) => exactly(data, *ratio),
            Known::Sampled(pairs) => compare(data, pairs, allowance),
        })
        .collect()
}

/// The data about two sides.
enum Known {
    /// The ratio of two counts that are constant over all runs.
    Counted(f64),
    Sampled(Pairs),
}

/// Returns the ratio of two counts that are constant over all runs of each side. `None` if they aren't
/// constant, or if one is 0 and there is no ratio.
fn counted(data: &PairData) -> Option<f64> {
    let value = |values: &[f64]| {
        let first = *values.first()?;
        let alike = values.len() >= FEWEST_OF_COUNTS && values.iter().all(|value| *value == first);
        alike.then_some(first)
    };
    if !data.metric.is_exact() {
        return None;
    }
    let (reference, subject) = (value(data.reference)?, value(data.subject)?);
    match reference == subject {
        true => Some(1.0),
        false => (reference > 0.0 && subject > 0.0).then_some(subject / reference),
    }
}

fn exactly(data: &PairData, ratio: f64) -> Comparison {
    let estimate = Estimate {
        value: ratio,
        low: ratio,
        high: ratio,
        level: 1.0,
    };
    let differs = ratio != 1.0;
    Comparison {
        reference: data.reference_index,
        subject: data.subject_index,
        metric: data.metric,
        rounds: data.reference.len(),
        ratio: estimate,
        shift: Shift {
            p10: ratio,
            p50: ratio,
            p90: ratio,
        },
        p_value: if differs { 0.0 } else { 1.0 },
        claim_level: 1.0,
        margin: data.margin,
        verdict: verdict(&estimate, differs, data.margin),
        more_rounds: None,
    }
}

/// Returns the minimum number of rounds that can reach `level`: n rounds that all agree have a p-value of
/// 2^(1-n).
///
/// ```
/// assert_eq!((fathom_stats::fewest_rounds(0.95), fathom_stats::fewest_rounds(0.99)), (6, 8));
/// ```
pub fn fewest_rounds(level: f64) -> usize {
    let fewest = (1.0 - (1.0 - level).log2()).ceil();
    (fewest as usize).max(FEWEST_ROUNDS)
}

fn compare(data: &PairData, pairs: &Pairs, allowance: Allowance) -> Comparison {
    let margin = data.margin;
    let (paired, attained) = pairs.ratio(allowance.interval);
    let enough = attained && paired.rounds >= FEWEST_ROUNDS;
    let verdict = match enough {
        true => verdict(&paired.ratio, paired.p_value <= allowance.claim, margin),
        false => Verdict::Undecided,
    };
    let more_rounds = match verdict {
        Verdict::Undecided => more_rounds(pairs, &paired, margin, allowance),
        _ => None,
    };
    Comparison {
        reference: data.reference_index,
        subject: data.subject_index,
        metric: data.metric,
        rounds: paired.rounds,
        ratio: paired.ratio,
        shift: paired.shift,
        p_value: paired.p_value,
        claim_level: 1.0 - allowance.claim,
        margin,
        verdict,
        more_rounds,
    }
}

fn verdict(ratio: &Estimate, differs: bool, margin: f64) -> Verdict {
    if ratio.low >= 1.0 / (1.0 + margin) && ratio.high <= 1.0 + margin {
        Verdict::Same
    } else if !differs {
        Verdict::Undecided
    } else if ratio.value < 1.0 {
        Verdict::Faster
    } else {
        Verdict::Slower
    }
}

/// Returns how many more rounds are needed, assuming that the intervals shrink with the square root of the
/// number of rounds and the estimate stays. They suffice as soon as the interval at the claim's level
/// excludes 1, or the printed interval fits into the margin.
fn more_rounds(
    pairs: &Pairs,
    paired: &PairedRatio,
    margin: f64,
    allowance: Allowance,
) -> Option<MoreRounds> {
    let claim = pairs.ratio(allowance.claim).0.ratio;
    let ratio = &paired.ratio;
    let (centre, margin) = (ratio.value.ln(), margin.ln_1p());
    let (below, above) = (centre - ratio.low.ln(), ratio.high.ln() - centre);
    let towards_one = if centre > 0.0 {
        centre - claim.low.ln()
    } else {
        claim.high.ln() - centre
    };
    // The factor by which the interval must shrink. If it is negative or 0 / 0, this never happens.
    let to_claim = towards_one / centre.abs();
    let to_fit = (above / (margin - centre).max(0.0)).max(below / (margin + centre).max(0.0));
    let rounds = paired.rounds as f64;
    let needed = |factor: f64, allowance: f64| {
        (rounds * factor * factor)
            .ceil()
            .max(rounds + 1.0)
            .max(fewest_rounds(1.0 - allowance) as f64)
    };
    let more = needed(to_claim, allowance.claim).min(needed(to_fit, allowance.interval)) - rounds;
    (more.is_finite() && more <= MOST_ROUNDS).then_some(MoreRounds(more as u64))
}
