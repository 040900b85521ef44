//! The text output.

use fathom_model::{BisectRecord, Commit, TestedState};

use super::answer::{answer, more, short};
use crate::Screen;
use crate::document::{Cell, Kind, Table};
use crate::line::{Page, Tone};
use crate::quantity::counted;
use crate::text::JOIN;
use crate::versions::{Figures, called, change_in_words};

/// The number of revisions listed if none can be named.
const LISTED: usize = 8;

/// Formats the record as text: the revision, both ends, and what was tried. No line is wider than
/// `screen.width`, and no untrusted text can control the terminal. Ends with a newline.
pub fn bisect_terminal(record: &BisectRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (tone, text) = answer(record);
    page.prose(0, tone, &text);
    if let Some(text) = more(record) {
        page.prose(0, Tone::Notice, &text);
    }
    if let Some(culprit) = &record.culprit {
        page.gap();
        about(&mut page, &culprit.commit);
        why(&mut page, record);
    }
    ends(&mut page, record);
    tested(&mut page, record, screen.verbose);
    remaining(&mut page, record);
    page.gap();
    let text = format!(
        "{}; {} after {}, {} tried; at most {:.0}{JOIN}% of searches name a wrong revision: {}",
        record.metric.name(),
        counted(record.candidates as u64, "revision", "revisions"),
        called(&record.good),
        record.tested.len(),
        100.0 * record.error_rate,
        record.command
    );
    page.prose(0, Tone::Quiet, &text.replace(JOIN, " "));
    page.finish()
}

fn about(page: &mut Page, commit: &Commit) {
    let rows = [
        ("revision", &commit.revision),
        ("subject", &commit.subject),
        ("author", &commit.author),
        ("date", &commit.date),
    ];
    for (label, text) in rows {
        page.field(label, Tone::Plain, text);
    }
}

/// Writes what the culprit does more of than its parent.
fn why(page: &mut Page, record: &BisectRecord) {
    for (place, line) in record.why.iter().enumerate() {
        let label = if place == 0 { "why" } else { "" };
        page.field(label, Tone::Plain, line);
    }
}

fn ends(page: &mut Page, record: &BisectRecord) {
    let Some(ends) = &record.ends else { return };
    let (Some(good), Some(bad)) = (&ends.good, &ends.bad) else {
        return;
    };
    let figures = Figures::of(record.metric, [good.value, bad.value].into_iter());
    page.gap();
    let rows = [
        (&record.good, good, String::new()),
        (
            &record.bad,
            bad,
            change_in_words(&ends.ratio, record.metric).0,
        ),
    ];
    let mut table = Table::new("Ends")
        .column("", Kind::Name)
        .column("", Kind::Number)
        .column("", Kind::Words)
        .column("", Kind::Words);
    for (name, estimate, change) in rows {
        let cells = vec![
            Cell::name(called(name)),
            Cell::words(&figures.value(estimate.value)).toned(Tone::Strong),
            Cell::words(&figures.interval(estimate)).toned(Tone::Quiet),
            Cell::words(&change),
        ];
        table.row("", cells);
    }
    table.terminal(page, 2);
}

fn tested(page: &mut Page, record: &BisectRecord, verbose: bool) {
    if record.tested.is_empty() {
        return;
    }
    page.heading("Tried");
    let mut table = Table::new("Tried").column("", Kind::Name);
    for _ in ["state", "change", "subject"] {
        table = table.column("", Kind::Words);
    }
    for one in &record.tested {
        let (tone, state) = match one.state {
            TestedState::Good => (Tone::Good, format!("as {}", called(&record.good))),
            TestedState::Bad => (Tone::Bad, format!("as {}", called(&record.bad))),
            TestedState::Undecided => (Tone::Notice, "undecided".to_owned()),
            TestedState::DoesNotBuild => (Tone::Notice, "does not build".to_owned()),
            TestedState::LeftOut => (Tone::Notice, "can't be run".to_owned()),
        };
        let change = one
            .ratio
            .map(|ratio| change_in_words(&ratio, record.metric).0);
        let error = one.error.as_deref().unwrap_or_default();
        let lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
        let said: Vec<String> = match verbose {
            true => lines.map(str::to_owned).collect(),
            false => lines.map(str::to_owned).next_back().into_iter().collect(),
        };
        let cells = vec![
            Cell::name(short(&one.commit.revision)).with_small(said),
            Cell::words(&state).toned(tone),
            Cell::words(&change.unwrap_or_default()),
            Cell::words(&one.commit.subject).toned(Tone::Quiet),
        ];
        table.row("", cells);
    }
    table.terminal(page, 2);
}

fn remaining(page: &mut Page, record: &BisectRecord) {
    if record.remaining.is_empty() || record.ends.is_none() {
        return;
    }
    page.gap();
    let listed = record.remaining.iter().take(LISTED).map(|id| short(id));
    let mut text = listed.collect::<Vec<_>>().join(", ");
    if record.remaining.len() > LISTED {
        text.push_str(&format!(" and {} more", record.remaining.len() - LISTED));
    }
    page.field("may be", Tone::Plain, &text);
}
