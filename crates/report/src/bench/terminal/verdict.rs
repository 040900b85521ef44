//! The verdict of a comparison, as a sentence and in short form.

use fathom_model::{BenchRecord, Comparison, Estimate, Metric, Verdict};

use super::deciding;

use crate::line::{Line, Page, Tone};
use crate::quantity::{
    Words, bound, change, change_and_interval, counted, format_level, is_counted,
};
use crate::session::Subject;
use crate::text::JOIN;
use crate::why::slope_line;

/// The answer that is read first, as a sentence.
pub(crate) struct Answer {
    pub(crate) tone: Tone,
    pub(crate) text: String,
    /// The interval it rests on.
    pub(crate) interval: Option<String>,
    /// What an undecided comparison lacks.
    pub(crate) missing: Option<String>,
}

/// Returns the verdicts, if anything was compared: a sentence for each metric or, for one command with
/// several delays, how much of the delays appeared in the total time.
pub(crate) fn answers(record: &BenchRecord, subjects: &[Subject]) -> Vec<Answer> {
    if let Some(slope) = record.outcome.as_ref().and_then(|o| o.slope.as_ref()) {
        let (tone, said) = slope_line(slope);
        return vec![Answer {
            tone,
            text: format!("{}: {said}", slope.of),
            interval: None,
            missing: None,
        }];
    }
    let all = record.outcome.as_ref().map(|o| &o.comparisons[..]);
    let all = all.unwrap_or_default();
    let groups: Vec<_> = all.chunk_by(|a, b| a.metric == b.metric).collect();
    let several = record.conditions.metrics.len() > 1;
    let of_group = |group: &&[Comparison]| {
        let metric = group.first()?.metric;
        let about = match several || !is_clock(metric) {
            true => format!("{}: ", metric.label()),
            false => String::new(),
        };
        answer(group, subjects, &about)
    };
    groups.iter().filter_map(of_group).collect()
}

/// For two commands, returns the verdict as a sentence. For more, returns a sentence that names the command
/// with the lowest median, because each row has its own verdict.
fn answer(comparisons: &[Comparison], subjects: &[Subject], about: &str) -> Option<Answer> {
    match comparisons {
        [] => None,
        [comparison] => Some(sentence(comparison, about)),
        [first, ..] => {
            let median = |subject: &Subject| subject.median(first.metric);
            let known = subjects.iter().filter(|s| median(s).is_some());
            let lowest = known.min_by(|a, b| {
                let of = |s| median(s).unwrap_or(f64::INFINITY);
                of(a).total_cmp(&of(b))
            });
            let lowest = lowest?.index;
            let start = format!("{about}lowest median: {}", lowest.saturating_add(1));
            match comparisons.iter().find(|c| c.subject == lowest) {
                Some(comparison) => Some(sentence(comparison, &format!("{start}; "))),
                None => Some(Answer {
                    tone: Tone::Strong,
                    text: format!("{start}, the reference for the comparisons"),
                    interval: None,
                    missing: None,
                }),
            }
        }
    }
}

/// Reports whether a metric is a program's time, to which `faster` and `slower` apply.
fn is_clock(metric: Metric) -> bool {
    matches!(metric, Metric::Wall | Metric::Undisturbed)
}

fn sentence(comparison: &Comparison, start: &str) -> Answer {
    let (text, interval) = in_words(comparison);
    Answer {
        tone: Tone::of(comparison.verdict),
        text: format!("{start}{text}").replace(JOIN, " "),
        interval: interval.map(|interval| interval.replace(JOIN, " ")),
        missing: missing(comparison),
    }
}

/// Writes the verdicts, with their intervals next to them if there is space, followed by what would decide
/// them.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    subjects: &[Subject],
    longer: deciding::Longer<'_>,
) {
    let answers = answers(record, subjects);
    if !answers.is_empty() {
        page.gap();
    }
    for answer in &answers {
        let interval = answer.interval.as_ref();
        let interval = interval.map(|interval| format!("   ({interval})"));
        let interval = interval.unwrap_or_default();
        let together = answer.text.chars().count() + interval.chars().count();
        match together + 2 <= page.width() {
            true => page.push(
                Line::new()
                    .add(Tone::Plain, "  ")
                    .add(answer.tone, &answer.text)
                    .add(Tone::Plain, interval),
            ),
            false => page.prose(2, answer.tone, &format!("{}{interval}", answer.text)),
        }
    }
    let missing = match &answers[..] {
        [] => return,
        [one] => one.missing.as_deref(),
        _ => None,
    };
    deciding::write(page, record, missing, longer);
}

/// Returns the verdict, which refers to both commands by number, and the interval it rests on.
fn in_words(comparison: &Comparison) -> (String, Option<String>) {
    let words = Words::of(comparison.metric);
    let ratio = &comparison.ratio;
    let subject = comparison.subject.saturating_add(1);
    let reference = comparison.reference.saturating_add(1);
    let of_time = is_clock(comparison.metric);
    let verb = if of_time { "is" } else { "has" };
    let than = |change: String| format!("{subject} {verb} {change} than {reference}");
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            let (change, interval) = change_and_interval(ratio, words);
            (than(change), Some(interval))
        }
        Verdict::Same => {
            let same = match of_time {
                true => format!("{reference} and {subject}: {}", same(ratio)),
                false => format!("{reference} and {subject} have the {}", same(ratio)),
            };
            let interval = match is_counted(ratio) {
                true => change_and_interval(ratio, words).1,
                false => format!("{} interval", format_level(ratio.level)),
            };
            (same, Some(interval))
        }
        Verdict::Undecided => match too_few(comparison) {
            Some(too_few) => {
                let so_far = than(change(ratio.value, words));
                (format!("{too_few}; so far {so_far}"), None)
            }
            None => (undecided(comparison), Some(than(between(comparison)))),
        },
    }
}

/// Formats `same, within 0.8 %`; for equal counts, only `same`.
fn same(ratio: &Estimate) -> String {
    match is_counted(ratio) && ratio.value == 1.0 {
        true => "same".to_owned(),
        false => format!("same, within {}", bound(ratio)),
    }
}

/// Formats `undecided, under 1.2 %`: any difference is smaller than that.
fn undecided(comparison: &Comparison) -> String {
    format!("undecided, under {}", bound(&comparison.ratio))
}

/// Formats `between 11 % faster and 7.1 % slower`.
pub(super) fn between(comparison: &Comparison) -> String {
    let words = Words::of(comparison.metric);
    let ends = (comparison.ratio.low, comparison.ratio.high);
    format!(
        "between {} and {}",
        change(ends.0, words),
        change(ends.1, words)
    )
}

/// Says that there are too few rounds to reach the level of a claim, however large the difference; `None` if
/// there are enough.
pub(super) fn too_few(comparison: &Comparison) -> Option<String> {
    let fewest = fathom_stats::fewest_rounds(comparison.claim_level);
    let rounds = comparison.rounds;
    let undecided = comparison.verdict == Verdict::Undecided;
    (undecided && rounds < fewest).then(|| format!("too few rounds ({rounds} of {fewest})"))
}

/// Describes what an undecided comparison lacks, beyond the minimum number of rounds.
pub(super) fn missing(comparison: &Comparison) -> Option<String> {
    if comparison.verdict != Verdict::Undecided || too_few(comparison).is_some() {
        return None;
    }
    let ratio = &comparison.ratio;
    let more = comparison.more_rounds.map(|more| {
        let more = counted(more.0, "more round", "more rounds");
        format!("about {more} would decide")
    });
    // An interval that excludes 1 is narrower than that of a claim.
    let claim = (ratio.low > 1.0 || ratio.high < 1.0).then(|| {
        let levels = (
            format_level(comparison.claim_level),
            format_level(ratio.level),
        );
        format!(
            "a verdict needs a {} interval, but this is a {} one",
            levels.0, levels.1
        )
    });
    let parts: Vec<String> = [claim, more].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Formats the short form, for a row, with the same figure as in the sentence.
pub(crate) fn short(comparison: &Comparison) -> String {
    let words = Words::of(comparison.metric);
    let ratio = &comparison.ratio;
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => change_and_interval(ratio, words).0,
        Verdict::Same => same(ratio),
        Verdict::Undecided => too_few(comparison).unwrap_or_else(|| undecided(comparison)),
    }
}
