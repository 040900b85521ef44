//! The report on a screen, and the details with `-v`.

use std::collections::BTreeSet;

use fathom_model::{ChosenBy, VersionState, VersionsRecord};

use super::answer::{answer, rounds};
use super::{steps, table};
use crate::Screen;
use crate::line::{Page, Tone};
use crate::quantity::counted;

/// Formats the record as text: by how much the last version differs from the first, the versions as a table
/// with bars, and the steps. No line is wider than `screen.width`, and untrusted text can't affect the
/// terminal. Ends with a newline.
pub fn versions_terminal(record: &VersionsRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (tone, text) = answer(record);
    page.prose(0, tone, &text);
    table::write(&mut page, record, screen.verbose);
    steps::write(&mut page, record, screen.verbose);
    page.gap();
    let before = page.lines();
    notes(&mut page, record, screen.verbose);
    let failed = |state| state == VersionState::DoesNotBuild;
    if record.versions.iter().any(|version| failed(version.state)) {
        let text =
            "failed builds are remembered; --rebuild tries them again, -v shows their full output";
        page.field("builds", Tone::Quiet, text);
    }
    if page.lines() > before {
        page.gap();
    }
    page.prose(0, Tone::Quiet, &made(record));
    page.finish()
}

/// Writes notes on the session, and on its versions.
fn notes(page: &mut Page, record: &VersionsRecord, verbose: bool) {
    for note in &record.notes {
        page.field("note", Tone::Notice, note);
    }
    let outcome = record
        .measured
        .as_ref()
        .and_then(|one| one.outcome.as_ref());
    let warnings = outcome.map_or(&[][..], |outcome| &outcome.warnings);
    let mut said = BTreeSet::new();
    for warning in warnings {
        let alike = warnings
            .iter()
            .filter(|other| other.id == warning.id)
            .count();
        // Versions that were measured together have the same disturbances, so one warning is enough.
        let others = match verbose {
            true => 0,
            false if !said.insert(&warning.id) => continue,
            false => alike - 1,
        };
        let mut all = record.versions.iter();
        let version = all.find(|one| one.benchmark.is_some() && one.benchmark == warning.benchmark);
        let who = match (version, others) {
            (None, _) => String::new(),
            (Some(one), 0) => format!("{}: ", one.version),
            (Some(one), others) => {
                let others = counted(others as u64, "other", "others");
                format!("{}, and similarly {others}: ", one.version)
            }
        };
        page.field("note", Tone::Notice, &format!("{who}{}", warning.message));
    }
}

/// Describes in a sentence how the versions were measured.
fn made(record: &VersionsRecord) -> String {
    let chosen = match (record.chosen_by, record.every) {
        (ChosenBy::Named, _) => "installed versions".to_owned(),
        (ChosenBy::Tags, _) => "tags".to_owned(),
        (ChosenBy::Every, Some(1)) => "every revision".to_owned(),
        (ChosenBy::Every, every) => format!("one of {} revisions", every.unwrap_or(1)),
    };
    format!(
        "{} of {} ({chosen}), {} in random order: {}",
        record.metric.name(),
        counted(record.versions.len() as u64, "version", "versions"),
        counted(rounds(record), "round", "rounds"),
        record.command
    )
}
