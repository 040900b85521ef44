//! Faster, slower, the same, or not yet known?

use fathom_model::{Comparison, Estimate, Metric, MoreRounds, Verdict};

use crate::discovery::interval_alpha;
use crate::paired::Pairs;

/// Fewest rounds on which a verdict is given: with fewer, no outcome at all reaches 5 %.
pub const FEWEST_ROUNDS: usize = 6;

/// More rounds than this are not announced: the estimate behind the number is then noise.
const MOST_ROUNDS: f64 = 1e9;

/// One comparison to be judged: two benchmarks' values of one metric, by round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairData<'a> {
    /// Index of the benchmark that is compared with.
    pub reference_index: usize,
    /// Index of the benchmark that is compared.
    pub subject_index: usize,
    /// Which metric.
    pub metric: Metric,
    /// Values of the reference, in the metric's unit; the i-th value is of the i-th round.
    pub reference: &'a [f64],
    /// Values of the subject, in the metric's unit, as many as of the reference.
    pub subject: &'a [f64],
}

/// Judges several comparisons so that of all differences claimed at most a share of `alpha` is false
/// (expected false discovery rate), and every verdict agrees with the interval that is printed.
///
/// Benjamini-Hochberg decides how many of the m p-values stand (R); every interval then has the
/// level 1 - max(R, 1) * alpha / m (Benjamini and Yekutieli 2005), which leaves out 1 exactly for those.
/// `margin` is a share (0.01 is 1 %): the verdict is `Same` if the whole interval lies within
/// [1 / (1 + margin), 1 + margin], else `Faster` or `Slower` if it leaves out 1, else `Undecided`.
///
/// Fewer than six usable rounds (both values positive), or too few for the level, are `Undecided`, with
/// the interval and level that they do give. A pair without any usable round has no ratio and is left
/// out of the result; all others keep their order.
///
/// ```
/// use fathom_model::{Metric, Verdict};
/// use fathom_stats::{PairData, judge};
/// let reference: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i % 5) / 100.0).collect();
/// let subject: Vec<f64> = reference.iter().map(|v| v * 0.9).collect();
/// let pair = PairData {
///     reference_index: 0,
///     subject_index: 1,
///     metric: Metric::Wall,
///     reference: &reference,
///     subject: &subject,
/// };
/// assert_eq!(judge(&[pair], 0.01, 0.05)[0].verdict, Verdict::Faster);
/// ```
///
/// # Panics
/// When a reference and its subject differ in length.
pub fn judge(pairs: &[PairData], margin: f64, alpha: f64) -> Vec<Comparison> {
    let usable: Vec<(&PairData, Pairs)> = pairs
        .iter()
        .filter_map(|data| Some((data, Pairs::new(data.reference, data.subject)?)))
        .collect();
    let p_values: Vec<f64> = usable
        .iter()
        .filter(|(_, pairs)| pairs.rounds() >= FEWEST_ROUNDS)
        .map(|(_, pairs)| pairs.p_value)
        .collect();
    let alpha = interval_alpha(&p_values, alpha);
    usable
        .iter()
        .map(|(data, pairs)| compare(data, pairs, margin, alpha))
        .collect()
}

fn compare(data: &PairData, pairs: &Pairs, margin: f64, alpha: f64) -> Comparison {
    let (paired, attained) = pairs.ratio(alpha);
    let enough = attained && paired.rounds >= FEWEST_ROUNDS;
    let verdict = match enough {
        true => verdict(&paired.ratio, paired.p_value <= alpha, margin),
        false => Verdict::Undecided,
    };
    let more_rounds = match verdict {
        Verdict::Undecided => more_rounds(&paired.ratio, paired.rounds, margin, alpha),
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

/// Rounds that are missing if the interval shrinks with the square root of their number and the
/// estimate stays: until the interval leaves out 1 or fits into the margin, whichever is sooner.
fn more_rounds(ratio: &Estimate, rounds: usize, margin: f64, alpha: f64) -> Option<MoreRounds> {
    let (centre, low, high) = (ratio.value.ln(), ratio.low.ln(), ratio.high.ln());
    let margin = margin.ln_1p();
    let towards_one = if centre > 0.0 {
        centre - low
    } else {
        high - centre
    };
    let away_from_one = if centre > 0.0 {
        high - centre
    } else {
        centre - low
    };
    // By what factor must the interval shrink? Less than 0 or 0 / 0: never.
    let to_leave_out_one = towards_one / centre.abs();
    let to_fit_above = away_from_one / (margin - centre.abs()).max(0.0);
    let to_fit_below = towards_one / (margin + centre.abs());
    let factor = to_leave_out_one.min(to_fit_above.max(to_fit_below));
    let needed = (rounds as f64 * factor * factor)
        .ceil()
        .max(rounds as f64 + 1.0);
    // At n rounds the smallest possible p-value is 2^(1-n).
    let fewest = (1.0 - alpha.log2()).ceil().max(FEWEST_ROUNDS as f64);
    let more = needed.max(fewest) - rounds as f64;
    (more.is_finite() && more <= MOST_ROUNDS).then_some(MoreRounds(more as u64))
}
