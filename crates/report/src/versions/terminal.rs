//! The screen of text, and the rest with `-v`.

use fathom_model::{ChosenBy, VersionsRecord};

use super::answer::answer;
use super::{steps, table};
use crate::line::{Page, Tone};
use crate::quantity::counted;

/// How a record of revisions is to look on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionOptions {
    /// Columns of the terminal; at least 32 are used.
    pub width: usize,
    /// Whether colour may be used: false when piped and under `NO_COLOR`.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
    /// All rows, and the whole end of what failing builds wrote.
    pub verbose: bool,
}

impl Default for RevisionOptions {
    /// A pipe: 80 columns, no colour.
    fn default() -> Self {
        RevisionOptions {
            width: 80,
            color: false,
            unicode: true,
            verbose: false,
        }
    }
}

/// The record as text: by how much the last version differs from the first, the versions as a table
/// with bars, and the steps. No line is wider than `options.width` and no text from outside can act on
/// the terminal. Ends with a line end.
pub fn versions_terminal(record: &VersionsRecord, options: &RevisionOptions) -> String {
    let mut page = Page::new(options.width, options.color, options.unicode);
    let (tone, text) = answer(record);
    let text = page.clean(&text);
    page.prose(0, tone, &text);
    table::write(&mut page, record, options.verbose);
    steps::write(&mut page, record, options.verbose);
    page.gap();
    let notes = record.notes.iter().map(|note| (None, note.as_str()));
    let outcome = record
        .measured
        .as_ref()
        .and_then(|one| one.outcome.as_ref());
    let warnings = outcome.map_or(&[][..], |outcome| &outcome.warnings);
    let warnings = warnings
        .iter()
        .map(|warning| (warning.benchmark, warning.message.as_str()));
    for (benchmark, note) in notes.chain(warnings) {
        let version = benchmark.and_then(|benchmark| {
            let mut all = record.versions.iter();
            all.find(|version| version.benchmark == Some(benchmark))
        });
        let who = version.map_or_else(String::new, |one| format!("{}: ", one.version));
        let text = page.clean(&format!("{who}{note}"));
        page.field("note", Tone::Notice, &text);
    }
    let text = page.clean(&made(record));
    page.prose(0, Tone::Quiet, &text);
    page.finish()
}

/// How it was measured, in a sentence.
fn made(record: &VersionsRecord) -> String {
    let rounds = record.measured.as_ref().map_or(0, |measured| {
        let rounds = measured.runs.iter().map(|run| run.round + 1);
        rounds.max().unwrap_or(0)
    });
    let chosen = match (record.chosen_by, record.every) {
        (ChosenBy::Named, _) => "installed versions".to_owned(),
        (ChosenBy::Tags, _) => "tags".to_owned(),
        (ChosenBy::Every, Some(1)) => "every revision".to_owned(),
        (ChosenBy::Every, every) => format!("every {}. revision", every.unwrap_or(1)),
    };
    format!(
        "{} of {} ({chosen}), {} in random order: {}",
        record.metric.name(),
        counted(record.versions.len() as u64, "version", "versions"),
        counted(u64::from(rounds), "round", "rounds"),
        record.command
    )
}
