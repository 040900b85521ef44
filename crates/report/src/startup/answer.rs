//! The first sentences: how soon the programs write their first byte of output, and which program is sooner.

use fathom_model::{
    Budget, Cache, Metric, StartupComparison, StartupMetric, StartupRecord, StartupSummary,
    StopReason, Verdict,
};

use super::words;
use crate::line::Tone;
use crate::quantity::{Words, bound, change};
use crate::text::JOIN;

/// Width of a name within a sentence.
const NAME: usize = 36;

/// Returns the answer in a sentence or two, and its tone.
pub(super) fn answer(record: &StartupRecord) -> (Tone, String) {
    let mut tone = Tone::Strong;
    let mut sentences = Vec::new();
    if !record.complete {
        tone = Tone::Bad;
        sentences.push(match record.stop {
            StopReason::Interrupted => "PARTIAL: interrupted.".to_owned(),
            _ => "PARTIAL.".to_owned(),
        });
    }
    if let Some(budget) = &record.budget {
        tone = match budget.held {
            _ if !record.complete => tone,
            true => Tone::Good,
            false => Tone::Bad,
        };
        sentences.push(of_budget(record, budget));
    }
    let first = of_first(record);
    let others: Vec<String> = record
        .comparisons
        .iter()
        .filter(|comparison| comparison.cache == Cache::Warm)
        .map(|comparison| of_other(record, comparison))
        .collect();
    sentences.push(match others.is_empty() {
        true => format!("{first}."),
        false => format!("{first}; {}.", others.join(", ")),
    });
    (tone, sentences.join(" ").replace(JOIN, " "))
}

fn of_budget(record: &StartupRecord, budget: &Budget) -> String {
    let limit = words::time(budget.seconds);
    let Some(result) = budget.results.iter().find(|result| !result.held) else {
        return format!("Within the budget of {limit} ({}).", budget.quantile);
    };
    let state = words::state(record, result.cache, " ", "");
    let whose = format!(
        "{} of{state} {}",
        budget.quantile,
        name(record, result.program)
    );
    match result.seconds {
        None => {
            format!(
                "It could not be shown that the budget of {limit} is met: the {whose} is unknown."
            )
        }
        Some(seconds) => format!(
            "Over the budget of {limit}: the {whose} to the {} is {}.",
            words::metric(result.metric),
            words::time(seconds)
        ),
    }
}

/// Describes the first program, warm and cold.
fn of_first(record: &StartupRecord) -> String {
    let Some(warm) = summary(record, 0, Cache::Warm) else {
        return format!("{}: no run was finished", name(record, 0));
    };
    let did = match warm.metric {
        StartupMetric::FirstOutput => "writes its first byte of output after",
        StartupMetric::Exit => "ends after",
    };
    let mut text = format!(
        "{} {did} {} (p90 {})",
        name(record, 0),
        words::time(warm.p50.value),
        words::time(warm.p90)
    );
    if let Some(cold) = summary(record, 0, Cache::Cold) {
        text.push_str(&format!(", cold after {}", words::time(cold.p50.value)));
    }
    text
}

/// Returns the summary of the judged metric, which is the first byte if there is one.
fn summary(record: &StartupRecord, program: usize, cache: Cache) -> Option<&StartupSummary> {
    let all = record.summaries.iter();
    all.filter(|summary| summary.program == program && summary.cache == cache)
        .min_by_key(|summary| summary.metric != StartupMetric::FirstOutput)
}

/// Describes another program compared with the first: `2 (python3 hello.py) is 10.2x slower`.
fn of_other(record: &StartupRecord, comparison: &StartupComparison) -> String {
    let ratio = &comparison.ratio;
    let words = Words::of(Metric::Wall);
    let who = format!(
        "{} ({})",
        comparison.subject + 1,
        name(record, comparison.subject)
    );
    let by_exit = match comparison.metric {
        StartupMetric::FirstOutput => "",
        StartupMetric::Exit => " to its exit",
    };
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("{who} is {}{by_exit}", change(ratio.value, words))
        }
        Verdict::Same => format!("{who} is the same within {}{by_exit}", bound(ratio)),
        Verdict::Undecided => format!(
            "{who} is undecided, between {} and {}{by_exit}",
            change(ratio.low, words),
            change(ratio.high, words)
        ),
    }
}

fn name(record: &StartupRecord, program: usize) -> String {
    crate::shorten(&crate::escape(words::name(record, program)), NAME)
}
