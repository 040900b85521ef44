//! How each comparison was made, in full.

use fathom_model::{BenchRecord, Comparison, Verdict};

use super::options::{SortOrder, TerminalOptions};
use super::verdict;
use crate::distribution::{quantile_range, sorted};
use crate::line::{Line, Page, Tone};
use crate::quantity::{Words, bound, change, change_with_interval, counted, format_level};
use crate::session::Subject;
use crate::text::JOIN;

/// Columns before the verdict of a benchmark.
const INDENT: usize = 5;

/// Writes every comparison, grouped by reference and clock.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    subjects: &[Subject],
    options: &TerminalOptions,
) {
    let Some(outcome) = &record.outcome else {
        return;
    };
    let mut comparisons: Vec<&Comparison> = outcome.comparisons.iter().collect();
    if options.sort == SortOrder::Median {
        comparisons.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    }
    let mut heading = None;
    for comparison in &comparisons {
        let this = (comparison.reference, comparison.metric);
        if heading != Some(this) {
            page.heading("Comparison");
            head(page, subjects, comparison);
            heading = Some(this);
        }
        let number = format!("  {}: ", comparison.subject.saturating_add(1));
        let name = page.fit(
            name_of(subjects, comparison.subject),
            page.width() - number.len(),
        );
        page.push(Line::new().add(Tone::Quiet, number).add(Tone::Strong, name));
        page.prose(INDENT, Tone::of(comparison.verdict), &verdict(comparison));
        let cross = outcome.cross_checks.iter().find(|other| {
            (other.subject, other.reference) == (comparison.subject, comparison.reference)
        });
        if let Some(cross) = cross.filter(|cross| cross.verdict != comparison.verdict) {
            let text = format!(
                "{} alone says: {}",
                verdict::clock_name(cross.metric),
                verdict(cross)
            );
            page.prose(INDENT, Tone::Notice, &text);
        }
        if let Some(text) = shift(comparison, subjects) {
            page.prose(INDENT, Tone::Plain, &text);
        }
    }
    if comparisons.len() > 1 {
        let count = counted(comparisons.len() as u64, "comparison", "comparisons");
        let text = format!("{count}: the false discovery rate is controlled (Benjamini-Hochberg)");
        page.prose(2, Tone::Quiet, &text);
    }
}

/// With whom, and by which clock.
fn head(page: &mut Page, subjects: &[Subject], comparison: &Comparison) {
    let start = format!("against {}: ", comparison.reference.saturating_add(1));
    let name = name_of(subjects, comparison.reference);
    let name = page.fit(name, page.width() - start.len());
    page.push(Line::new().add(Tone::Plain, start).add(Tone::Strong, name));
    let clock = verdict::clock_name(comparison.metric);
    let how = format!("compared by {clock}, paired by round");
    page.prose(2, Tone::Plain, &how);
}

fn name_of<'a>(subjects: &'a [Subject], index: usize) -> &'a str {
    subjects
        .get(index)
        .map_or("?", |subject| subject.benchmark.name.as_str())
}

/// The verdict in words.
fn verdict(comparison: &Comparison) -> String {
    let ratio = &comparison.ratio;
    let words = Words::of(comparison.metric);
    let rounds =
        counted(comparison.rounds as u64, "round", "rounds").replace(' ', &JOIN.to_string());
    let level = format_level(ratio.level);
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("{}, {rounds}", change_with_interval(ratio, words))
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

/// What is said of a tail that moved far from the rest: by a tenth at least it changes which
/// command is to be preferred where the slow runs count.
pub(super) fn moved_tail(comparison: &Comparison, subjects: &[Subject]) -> Option<String> {
    const FAR: f64 = 0.1;
    let far = (comparison.shift.p90.ln() - comparison.ratio.value.ln()).abs() >= FAR.ln_1p();
    far.then(|| shift(comparison, subjects)).flatten()
}

/// The ratios at three quantiles, where one of them differs from the median's by more than the
/// interval and by more than the runs at that quantile scatter: then not all runs moved alike.
fn shift(comparison: &Comparison, subjects: &[Subject]) -> Option<String> {
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
        (false, true) => "the slow runs differ otherwise than the rest",
        (true, false) => "the fast runs differ otherwise than the rest",
        (true, true) => "not all runs differ alike",
    };
    // The ratio of the medians would be a second one beside the estimate.
    let words = Words::of(comparison.metric);
    let (fast, slow) = (change(shift.p10, words), change(shift.p90, words));
    Some(format!("{what}: {fast} at{JOIN}p10, {slow} at{JOIN}p90"))
}
