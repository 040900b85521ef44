//! Answers whether this machine is fit to measure on.

use fathom_model::{CheckReport, CheckState, Fitness};
use fathom_report::machine_check_sentence;
use serde::Serialize;

use super::{Answer, record};
use crate::bounded::{sentence, text};

/// Maximum number of checks in an answer.
const ITEMS: usize = 10;

/// The result of `machine_check`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Machine {
    /// The answer in one sentence.
    answer: String,
    /// The recommended next step.
    next: Option<String>,
    /// `quiet`, `usable` or `unfit`.
    fitness: String,
    /// The smallest difference that `bench` can detect here, as a fraction; null if none was found.
    smallest_difference: Option<f64>,
    /// The items that need attention, most serious first.
    items: Vec<Item>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Item {
    id: String,
    /// `warning` or `bad`.
    state: String,
    found: String,
    effect: Option<String>,
    remedy: Option<String>,
}

/// Builds the answer from a record.
///
/// # Errors
/// If the bytes are not such a record.
pub(crate) fn machine(bytes: &[u8]) -> Result<Answer, String> {
    let report: CheckReport = record(bytes)?;
    let mut items: Vec<_> = report
        .items
        .iter()
        .filter(|item| item.state >= CheckState::Warning)
        .collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.state));
    items.truncate(ITEMS);
    let answer = sentence(&machine_check_sentence(&report));
    let mut lines = vec![answer.clone()];
    let smallest = report.noise.smallest_difference;
    lines.extend(smallest.map(|share| {
        format!(
            "The smallest difference that bench finds here: {:.1} %.",
            100.0 * share
        )
    }));
    for item in &items {
        let remedy = item
            .remedy
            .as_ref()
            .map(|remedy| format!(" Remedy: {}.", sentence(remedy)));
        lines.push(format!(
            "{}: {}.{}",
            item.id,
            sentence(&item.found),
            remedy.unwrap_or_default()
        ));
    }
    let (fitness, next) = match report.fitness {
        Fitness::Quiet => ("quiet", None),
        Fitness::Usable => (
            "usable",
            Some("bench still gives good comparisons, because its rounds are interleaved"),
        ),
        Fitness::Unfit => (
            "unfit",
            Some(
                "tell the user that timings are worthless at the moment, and name the most serious item; measure \
                 later",
            ),
        ),
    };
    let text = text(&lines, next.unwrap_or_default());
    let state = |state| {
        if state == CheckState::Bad {
            "bad"
        } else {
            "warning"
        }
    };
    let items = items.into_iter().map(|item| Item {
        id: item.id.clone(),
        state: state(item.state).to_owned(),
        found: sentence(&item.found),
        effect: item.effect.as_deref().map(sentence),
        remedy: item.remedy.as_deref().map(sentence),
    });
    let structured = Machine {
        items: items.collect(),
        answer,
        next: next.map(str::to_owned),
        fitness: fitness.to_owned(),
        smallest_difference: smallest,
    };
    Answer::new(text, &structured)
}
