//! The complete description of each comparison.

use fathom_model::{Comparison, Verdict};

use super::verdict;
use crate::distribution::{quantile_range, sorted};
use crate::quantity::{
    Words, bound, change, change_and_interval, change_with_interval, counted, format_level,
    is_counted,
};
use crate::session::Subject;
use crate::text::JOIN;

/// The number of columns before the verdict of a benchmark.
pub(crate) const INDENT: usize = 5;

/// Formats the verdict.
pub(crate) fn verdict(comparison: &Comparison) -> String {
    let ratio = &comparison.ratio;
    let words = Words::of(comparison.metric);
    let rounds =
        counted(comparison.rounds as u64, "round", "rounds").replace(' ', &JOIN.to_string());
    let level = format_level(ratio.level);
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("{}, {rounds}", change_with_interval(ratio, words))
        }
        Verdict::Same if is_counted(ratio) => {
            let (change, counted) = change_and_interval(ratio, words);
            match ratio.value == 1.0 {
                true => format!("same, {counted}, {rounds}"),
                false => format!("same: {change}, {counted}, {rounds}"),
            }
        }
        Verdict::Same => {
            let bound = bound(ratio);
            format!("same, within {bound} ({level} interval, {rounds})")
        }
        Verdict::Undecided => match verdict::too_few(comparison) {
            Some(too_few) => format!("{too_few}; so far {}", change(ratio.value, words)),
            None => {
                let between = verdict::between(comparison);
                let missing = verdict::missing(comparison);
                let missing = missing.map(|text| format!("; {text}")).unwrap_or_default();
                format!("undecided after {rounds}: {between} ({level} interval){missing}")
            }
        },
    }
}

/// Describes a tail that moved far from the rest. A move of a tenth or more affects which command is
/// preferable if slow runs matter.
pub(super) fn moved_tail(comparison: &Comparison, subjects: &[Subject]) -> Option<String> {
    const FAR: f64 = 0.1;
    let far = (comparison.shift.p90.ln() - comparison.ratio.value.ln()).abs() >= FAR.ln_1p();
    far.then(|| shift(comparison, subjects)).flatten()
}

/// Formats the ratios at three quantiles, if one of them differs from the median's by more than the interval
/// and by more than the runs vary at that quantile: then not all runs moved in the same way.
pub(crate) fn shift(comparison: &Comparison, subjects: &[Subject]) -> Option<String> {
    let shift = &comparison.shift;
    let sample = |index: usize| Some(sorted(subjects.get(index)?.values(comparison.metric)));
    let (ours, reference) = (sample(comparison.subject)?, sample(comparison.reference)?);
    let width = comparison.ratio.high.ln() - comparison.ratio.low.ln();
    let changed_at = |p: f64, ratio: f64| {
        let (Some(ours), Some(reference)) =
            (quantile_range(&ours, p), quantile_range(&reference, p))
        else {
            return false;
        };
        let possible = ours.0 / reference.1..=ours.1 / reference.0;
        (ratio.ln() - shift.p50.ln()).abs() > width && !possible.contains(&shift.p50)
    };
    let what = match (changed_at(0.1, shift.p10), changed_at(0.9, shift.p90)) {
        (false, false) => return None,
        (false, true) => "the slow runs show a different change from the rest",
        (true, false) => "the fast runs show a different change from the rest",
        (true, true) => "the change is not the same for all runs",
    };
    // The ratio of the medians would be a second figure next to the estimate.
    let words = Words::of(comparison.metric);
    let (fast, slow) = (change(shift.p10, words), change(shift.p90, words));
    Some(format!("{what}: {fast} at{JOIN}p10, {slow} at{JOIN}p90"))
}
