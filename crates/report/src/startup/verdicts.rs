//! Each program against the first.

use fathom_model::{Cache, Metric, StartupComparison, StartupMetric, StartupRecord, Verdict};

use super::words;
use crate::line::{Line, Page, Tone};
use crate::quantity::{Words, bound, change, change_with_interval, counted, format_level};

/// Writes the verdicts, one line or two each.
pub(super) fn write(page: &mut Page, record: &StartupRecord) {
    for cache in [Cache::Warm, Cache::Cold] {
        let mine: Vec<&StartupComparison> = record
            .comparisons
            .iter()
            .filter(|comparison| comparison.cache == cache)
            .collect();
        if mine.is_empty() {
            continue;
        }
        page.gap();
        let state = match record.conditions.cold_by {
            None => String::new(),
            Some(_) => format!(", {}", words::cache(cache)),
        };
        let clock = common_clock(&mine);
        let by = clock.map_or(String::new(), |metric| {
            format!(", by the time to the {}", words::metric(metric))
        });
        page.prose(
            0,
            Tone::Strong,
            &format!("Against program 1{state}{by}, round by round"),
        );
        for comparison in mine {
            let number = format!("  {}: ", comparison.subject + 1);
            let name = record
                .programs
                .get(comparison.subject)
                .map_or("?", |program| program.name.as_str());
            let name = page.fit(name, page.width() - number.len());
            page.push(Line::new().add(Tone::Quiet, number).add(Tone::Strong, name));
            let by = match clock {
                Some(_) => String::new(),
                None => format!("by the time to the {}: ", words::metric(comparison.metric)),
            };
            let text = format!("{by}{}", verdict(comparison));
            page.prose(5, tone(comparison.verdict), &text);
        }
    }
    if record.comparisons.len() > 1 {
        let count = counted(record.comparisons.len() as u64, "comparison", "comparisons");
        let text = format!("{count}: the false discovery rate is controlled (Benjamini-Hochberg)");
        page.prose(2, Tone::Quiet, &text);
    }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Same => Tone::Strong,
        Verdict::Undecided => Tone::Notice,
    }
}

/// The stretch by which all of them are compared; `None` where they are compared by different ones.
fn common_clock(comparisons: &[&StartupComparison]) -> Option<StartupMetric> {
    let first = comparisons.first()?.metric;
    let same = comparisons.iter().all(|other| other.metric == first);
    same.then_some(first)
}

/// The verdict in words.
pub(super) fn verdict(comparison: &StartupComparison) -> String {
    let ratio = &comparison.ratio;
    let words = Words::of(Metric::Wall);
    let rounds = counted(comparison.rounds as u64, "round", "rounds");
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("{}, {rounds}", change_with_interval(ratio, words))
        }
        Verdict::Same => format!(
            "same: any difference is under {} ({} interval, {rounds})",
            bound(ratio),
            format_level(ratio.level)
        ),
        Verdict::Undecided => {
            let more = comparison.more_rounds.map_or(String::new(), |more| {
                format!(
                    "; about {} would decide",
                    counted(more.0, "more round", "more rounds")
                )
            });
            format!(
                "undecided after {rounds}: between {} and {}{more}",
                change(ratio.low, words),
                change(ratio.high, words)
            )
        }
    }
}
