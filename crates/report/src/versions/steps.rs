//! The steps between neighbouring versions: real steps and undecided ones.

use fathom_model::{Verdict, VersionStep, VersionsRecord};

use super::answer::is_real;
use super::change_in_words;
use crate::document::{Cell, Kind, Table};
use crate::line::{Page, Tone};
use crate::quantity::{Words, bound, change, counted};

/// The maximum number of undecided steps listed. If there are more, only their number is shown.
const MOST_UNDECIDED: usize = 3;

/// Width of the names of both versions.
const NAMES: usize = 34;

/// Writes the steps; with `verbose`, all of them.
pub(super) fn write(page: &mut Page, record: &VersionsRecord, verbose: bool) {
    let is_shown = |step: &&VersionStep| verbose || is_real(step.verdict);
    let shown: Vec<&VersionStep> = record.steps.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        page.heading(match verbose {
            true => "Steps",
            false => "Steps that are real",
        });
        let mut table = Table::new("Steps")
            .column("", Kind::Name)
            .column("", Kind::Words);
        for step in shown {
            let (tone, text) = in_words(record, step);
            table.row(
                "",
                vec![
                    Cell::words(&between(page, step)),
                    Cell::words(&text).toned(tone),
                ],
            );
        }
        table.terminal(page, 2);
    }
    let undecided = |step: &&VersionStep| step.verdict == Verdict::Undecided;
    let open: Vec<&VersionStep> = record.steps.iter().filter(undecided).collect();
    if verbose || open.is_empty() {
        return;
    }
    let which = match open.len() {
        many if many > MOST_UNDECIDED => {
            let steps = counted(record.steps.len() as u64, "step", "steps");
            format!("{many} of {steps} (-v lists them)")
        }
        _ => {
            let all = open.iter().map(|step| between(page, step));
            all.collect::<Vec<_>>().join(", ")
        }
    };
    page.gap();
    page.field(
        "undecided",
        Tone::Quiet,
        &format!("{which}; more time (--time) may give a verdict"),
    );
}

fn between(page: &Page, step: &VersionStep) -> String {
    let arrow = if page.unicode() { "→" } else { "->" };
    let half = (NAMES - 4) / 2;
    format!(
        "{} {arrow} {}",
        page.fit(&step.from, half),
        page.fit(&step.to, half)
    )
}

fn in_words(record: &VersionsRecord, step: &VersionStep) -> (Tone, String) {
    let words = Words::of(record.metric);
    match step.verdict {
        Verdict::Faster | Verdict::Slower => {
            let (change, interval) = change_in_words(&step.ratio, record.metric);
            let tone = match step.verdict {
                Verdict::Faster => Tone::Good,
                _ => Tone::Bad,
            };
            let interval = interval.map_or_else(String::new, |text| format!("   {text}"));
            (tone, format!("{change}{interval}"))
        }
        Verdict::Same => (Tone::Plain, format!("same, within {}", bound(&step.ratio))),
        Verdict::Undecided => (
            Tone::Notice,
            format!(
                "undecided: between {} and {}",
                change(step.ratio.low, words),
                change(step.ratio.high, words)
            ),
        ),
    }
}
