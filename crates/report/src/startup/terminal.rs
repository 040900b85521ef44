//! The screen of text.

use fathom_model::{StartupRecord, StopReason};

use super::{cold, machine_notes, programs, tables, verdicts, waits, words};
use crate::line::{Page, Tone};
use crate::quantity::counted;

/// How the record is to look on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartupOptions {
    /// Columns of the terminal; at least 32 are used.
    pub width: usize,
    /// Whether colour may be used: false when piped and under `NO_COLOR`.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
}

impl Default for StartupOptions {
    /// A pipe: 80 columns, no colour.
    fn default() -> Self {
        StartupOptions {
            width: 80,
            color: false,
            unicode: true,
        }
    }
}

/// The record as text: distributions, verdicts, what each program did, what cold means, the budget
/// and what must be known to trust the numbers. No line is wider than `options.width` and no text
/// from outside can act on the terminal. Ends with a line end.
pub fn startup_terminal(record: &StartupRecord, options: &StartupOptions) -> String {
    let mut page = Page::new(options.width, options.color, options.unicode);
    heading(&mut page, record);
    tables::write(&mut page, record);
    verdicts::write(&mut page, record);
    programs::write(&mut page, record);
    cold::write(&mut page, record);
    budget(&mut page, record);
    footer(&mut page, record);
    page.finish()
}

fn heading(page: &mut Page, record: &StartupRecord) {
    let conditions = &record.conditions;
    let mut text = format!(
        "{}, {} in random order (seed {})",
        counted(record.programs.len() as u64, "program", "programs"),
        counted(u64::from(conditions.rounds), "round", "rounds"),
        conditions.seed
    );
    if !record.complete {
        text.push_str(match record.stop {
            StopReason::Interrupted => "; PARTIAL: interrupted",
            _ => "; PARTIAL",
        });
    }
    let tone = if record.complete {
        Tone::Plain
    } else {
        Tone::Bad
    };
    page.prose(0, tone, &text);
}

fn budget(page: &mut Page, record: &StartupRecord) {
    let Some(budget) = &record.budget else { return };
    page.gap();
    let asked = words::time(budget.seconds);
    for result in &budget.results {
        let state = match record.conditions.cold_by {
            None => String::new(),
            Some(_) => format!(" ({})", words::cache(result.cache)),
        };
        let name = record
            .programs
            .get(result.program)
            .map_or("?", |program| program.name.as_str());
        let name = page.fit(name, 40);
        let (tone, text) = match result.seconds {
            None => (
                Tone::Bad,
                format!(
                    "{name}{state}: the {} is not known, so nothing shows that it holds: runs were void or \
                     were ended by --timeout",
                    budget.quantile
                ),
            ),
            Some(seconds) => {
                let found = format!(
                    "{} to the {} is {}",
                    budget.quantile,
                    words::metric(result.metric),
                    words::time(seconds)
                );
                match result.held {
                    true => (
                        Tone::Good,
                        format!("{name}{state}: {found}, within the budget of {asked}"),
                    ),
                    false => (
                        Tone::Bad,
                        format!("{name}{state}: {found}, OVER the budget of {asked}"),
                    ),
                }
            }
        };
        page.field("budget", tone, &text);
    }
}

fn footer(page: &mut Page, record: &StartupRecord) {
    page.gap();
    if let Some(floor) = &record.floor {
        let text = format!(
            "an empty static program takes {} from exec to its exit here",
            words::time(floor.value)
        );
        page.field("floor", Tone::Quiet, &text);
    }
    for (label, text) in machine_notes(record) {
        page.field(label, Tone::Notice, &text);
    }
    for warning in &record.warnings {
        let who = warning
            .benchmark
            .map_or(String::new(), |index| waits::number(record, index));
        let text = page.clean(&warning.message);
        page.field("note", Tone::Notice, &format!("{who}{text}"));
    }
}
