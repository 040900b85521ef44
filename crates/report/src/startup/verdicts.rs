//! Compares each program with the first.

use fathom_model::{Metric, StartupComparison, Verdict};

use crate::quantity::{Words, bound, change, change_with_interval, counted, format_level};

/// Returns the verdict in words.
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
