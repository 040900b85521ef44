//! The verdicts.

use fathom_model::{BenchRecord, Comparison, Metric, Verdict};

use super::options::{SortOrder, TerminalOptions};
use crate::distribution::{quantile_range, sorted};
use crate::line::{Line, Page, Tone};
use crate::quantity::{Words, bound, change, change_with_interval, counted, format_level};
use crate::session::Subject;
use crate::text::JOIN;

/// Columns before the verdict of a benchmark.
const INDENT: usize = 5;
/// A name that is cut to fewer columns than this moves to a line of its own.
const SHORTEST_NAME: usize = 24;

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
        let number = format!("  {}: ", comparison.subject.saturating_add(1));
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
    let start = format!("Against {}: ", comparison.reference.saturating_add(1));
    let end = format!(", by {}, round by round", clock(comparison.metric));
    let name = name_of(subjects, comparison.reference);
    let start_line = Line::new().add(Tone::Plain, start.as_str());
    let room = page.width().saturating_sub(start.len() + end.len());
    if room >= SHORTEST_NAME {
        let name = page.fit(name, room);
        page.push(start_line.add(Tone::Strong, name).add(Tone::Plain, end));
    } else {
        let name = page.fit(name, page.width() - start.len());
        page.push(start_line.add(Tone::Strong, name));
        page.prose(2, Tone::Plain, end.trim_start_matches(", "));
    }
}

fn name_of<'a>(subjects: &'a [Subject], index: usize) -> &'a str {
    subjects
        .get(index)
        .map_or("?", |subject| subject.benchmark.name.as_str())
}

pub(super) fn tone(comparison: &Comparison) -> Tone {
    match comparison.verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Same => Tone::Strong,
        Verdict::Undecided => Tone::Notice,
    }
}

pub(super) fn clock(metric: Metric) -> String {
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
        Verdict::Undecided => undecided(comparison, &rounds),
    }
}

fn undecided(comparison: &Comparison, rounds: &str) -> String {
    let ratio = &comparison.ratio;
    let words = Words::of(comparison.metric);
    let leaves_out_one = ratio.low > 1.0 || ratio.high < 1.0;
    let fewest = fathom_stats::fewest_rounds(comparison.claim_level);
    if (leaves_out_one || ratio.level <= 0.0) && comparison.rounds < fewest {
        // However large the difference, so few rounds can't reach the level of a claim.
        return format!(
            "undecided: {rounds} of the {fewest} that a claim takes; so far {}",
            change(ratio.value, words)
        );
    }
    let level = format_level(ratio.level);
    let claim = format_level(comparison.claim_level);
    let between = format!(
        "between {} and {}",
        change(ratio.low, words),
        change(ratio.high, words)
    );
    let more = more(comparison);
    if leaves_out_one {
        return format!(
            "undecided after {rounds}: {between} ({level} interval), but a claim takes {claim}{more}"
        );
    }
    let level = if level == format_level(0.95) {
        String::new()
    } else {
        format!(" ({level} interval)")
    };
    format!("undecided after {rounds}: {between}{level}{more}")
}

fn more(comparison: &Comparison) -> String {
    match comparison.more_rounds {
        Some(more) => {
            format!(
                "; about {} would decide",
                counted(more.0, "more round", "more rounds")
            )
        }
        None => String::new(),
    }
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
