//! The verdicts.

use fathom_model::{BenchRecord, Comparison, Metric, Verdict};

use super::options::{SortOrder, TerminalOptions};
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
            page.gap();
            head(page, subjects, comparison);
            heading = Some(this);
        }
        let number = format!("  {}: ", comparison.subject + 1);
        let name = page.fit(
            name_of(subjects, comparison.subject),
            page.width() - number.len(),
        );
        page.push(Line::new().add(Tone::Quiet, number).add(Tone::Strong, name));
        page.prose(INDENT, tone(comparison), &verdict(comparison));
        let cross = outcome.cross_checks.iter().find(|other| {
            (other.subject, other.reference) == (comparison.subject, comparison.reference)
        });
        if let Some(cross) = cross.filter(|cross| cross.verdict != comparison.verdict) {
            let text = format!("{} alone says: {}", clock(cross.metric), verdict(cross));
            page.prose(INDENT, Tone::Notice, &text);
        }
        if let Some(text) = shift(comparison) {
            page.prose(INDENT, Tone::Plain, &text);
        }
    }
    if comparisons.len() > 1 {
        let count = counted(comparisons.len() as u64, "comparison", "comparisons");
        let text = format!("{count}: the false discovery rate is controlled (Benjamini-Hochberg)");
        page.prose(2, Tone::Quiet, &text);
    }
}

/// What is compared, by which clock, with whom.
fn head(page: &mut Page, subjects: &[Subject], comparison: &Comparison) {
    let start = format!(
        "Compared by {}, round by round, with {}: ",
        clock(comparison.metric),
        comparison.reference + 1
    );
    let room = page.width().saturating_sub(start.len());
    let name = name_of(subjects, comparison.reference);
    if room >= 12 {
        let name = page.fit(name, room);
        page.push(Line::new().add(Tone::Plain, start).add(Tone::Strong, name));
    } else {
        page.prose(0, Tone::Plain, start.trim_end());
        let name = page.fit(name, page.width() - 2);
        page.push(Line::new().pad_to(2).add(Tone::Strong, name));
    }
}

fn name_of<'a>(subjects: &'a [Subject], index: usize) -> &'a str {
    subjects
        .get(index)
        .map_or("?", |subject| subject.benchmark.name.as_str())
}

fn tone(comparison: &Comparison) -> Tone {
    match comparison.verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Same => Tone::Strong,
        Verdict::Undecided => Tone::Notice,
    }
}

fn clock(metric: Metric) -> String {
    match metric {
        Metric::Wall => "wall time".to_owned(),
        Metric::Undisturbed => "undisturbed time".to_owned(),
        Metric::Cpu => "CPU time".to_owned(),
        other => other.name().replace('_', " "),
    }
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
            format!(
                "same: any difference is under {} ({level} interval, {rounds})",
                bound(ratio)
            )
        }
        Verdict::Undecided => {
            let between = format!(
                "between {} and {}",
                change(ratio.low, words),
                change(ratio.high, words)
            );
            let level = if level == format_level(0.95) {
                String::new()
            } else {
                format!(" ({level} interval)")
            };
            let more = match comparison.more_rounds {
                Some(more) => format!(
                    "; about {} would decide",
                    counted(more.0, "more round", "more rounds")
                ),
                None => String::new(),
            };
            format!("undecided after {rounds}: {between}{level}{more}")
        }
    }
}

/// The ratios at three quantiles, where one of them lies further from the median's than the interval
/// is wide: then not all of the distribution moved alike.
fn shift(comparison: &Comparison) -> Option<String> {
    let shift = &comparison.shift;
    let width = comparison.ratio.high.ln() - comparison.ratio.low.ln();
    let apart = |ratio: f64| (ratio.ln() - shift.p50.ln()).abs() > width;
    let (low, high) = (apart(shift.p10), apart(shift.p90));
    let what = match (low, high) {
        (false, false) => return None,
        (false, true) => "the slow runs moved otherwise than the rest",
        (true, false) => "the fast runs moved otherwise than the rest",
        (true, true) => "not all runs moved alike",
    };
    let words = Words::of(comparison.metric);
    Some(format!(
        "{what}: {} at{JOIN}p10, {} at the median, {} at{JOIN}p90",
        change(shift.p10, words),
        change(shift.p50, words),
        change(shift.p90, words)
    ))
}
