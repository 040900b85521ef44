//! Each server against the first, with intervals.

use fathom_model::{ServeComparison, ServeMetric, ServeRecord, Verdict};

use super::words;
use crate::line::{Page, Tone};
use crate::quantity::{Words, bound, change, change_with_interval, counted};

/// Writes the verdicts, a line or two each.
pub(super) fn write(page: &mut Page, record: &ServeRecord) {
    if record.comparisons.is_empty() {
        return;
    }
    page.gap();
    page.prose(0, Tone::Strong, "Against server 1, round by round");
    for comparison in &record.comparisons {
        let tone = match comparison.verdict {
            Verdict::Faster => Tone::Good,
            Verdict::Slower => Tone::Bad,
            Verdict::Same => Tone::Strong,
            Verdict::Undecided => Tone::Notice,
        };
        let text = format!(
            "{}: {}: {}",
            comparison.subject + 1,
            what(record, comparison),
            verdict(comparison)
        );
        page.prose(2, tone, &text);
    }
}

/// By what it is compared.
pub(super) fn what(record: &ServeRecord, comparison: &ServeComparison) -> String {
    let load = || {
        let server = record.servers.get(comparison.subject)?;
        Some(words::load(server.load.get(comparison.load?)?))
    };
    let load = load().map_or(String::new(), |load| format!(", {load}"));
    let metric = match comparison.metric {
        ServeMetric::Ready => "first answer",
        ServeMetric::TimePerRequest => "time per request",
        ServeMetric::P99 => "p99",
        ServeMetric::ServerCpu => "CPU time each",
    };
    format!("{metric}{load}")
}

/// What follows, with its interval.
pub(super) fn verdict(comparison: &ServeComparison) -> String {
    let words = match comparison.metric {
        ServeMetric::ServerCpu => Words {
            less: "less",
            more: "more",
        },
        _ => Words {
            less: "faster",
            more: "slower",
        },
    };
    if !comparison.doubts.is_empty() {
        return format!(
            "{}: no verdict ({})",
            comparison.doubts.join(", "),
            change(comparison.ratio.value, words)
        );
    }
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => change_with_interval(&comparison.ratio, words),
        Verdict::Same => format!("same, any difference is under {}", bound(&comparison.ratio)),
        Verdict::Undecided => {
            let more = comparison.more_rounds.map_or(String::new(), |more| {
                let rounds = counted(more.0, "more round", "more rounds");
                format!("; about {rounds} would decide")
            });
            format!(
                "undecided: between {} and {}{more}",
                change(comparison.ratio.low, words),
                change(comparison.ratio.high, words)
            )
        }
    }
}
