//! The screen of text.

use fathom_model::{BisectRecord, Commit, TestedState};

use super::answer::{SHORT, answer, more, short};
use crate::Screen;
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::text::{JOIN, columns};
use crate::versions::{Figures, called, change_in_words};

/// Revisions that are listed where none can be named.
const LISTED: usize = 8;

/// The record as text: the revision, both ends, what was tried. No line is wider than
/// `screen.width` and no text from outside can act on the terminal. Ends with a line end.
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
        "{}; {} after {}, {} tried; a wrong revision is named in at most {:.0}{JOIN}% of searches: {}",
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

/// What the culprit takes more.
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
    let names = rows.iter().map(|(name, _, _)| page.fit(called(name), 24));
    let names: Vec<String> = names.collect();
    let width = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    for ((_, estimate, change), name) in rows.iter().zip(names) {
        page.push(
            Line::new()
                .add(Tone::Plain, format!("  {name}"))
                .pad_to(4 + width)
                .add(Tone::Strong, figures.value(estimate.value))
                .add(Tone::Quiet, format!("  {}", figures.interval(estimate)))
                .pad_to(4 + width + 32)
                .add(Tone::Plain, change.as_str()),
        );
    }
}

fn tested(page: &mut Page, record: &BisectRecord, verbose: bool) {
    if record.tested.is_empty() {
        return;
    }
    page.heading("Tried");
    for one in &record.tested {
        let (tone, state) = match one.state {
            TestedState::Good => (Tone::Good, format!("as {}", called(&record.good))),
            TestedState::Bad => (Tone::Bad, format!("as {}", called(&record.bad))),
            TestedState::Undecided => (Tone::Notice, "undecided".to_owned()),
            TestedState::DoesNotBuild => (Tone::Notice, "does not build".to_owned()),
            TestedState::LeftOut => (Tone::Notice, "can't be run".to_owned()),
        };
        let error = one.error.as_deref().unwrap_or_default();
        let what = match &one.ratio {
            Some(ratio) => change_in_words(ratio, record.metric).0,
            None => String::new(),
        };
        let state = page.fit(&state, 18);
        let subject = page.clean(&one.commit.subject);
        page.push(
            Line::new()
                .add(Tone::Plain, format!("  {}", short(&one.commit.revision)))
                .pad_to(2 + SHORT + 2)
                .add(tone, state)
                .pad_to(2 + SHORT + 2 + 20)
                .add(Tone::Plain, what)
                .pad_to(2 + SHORT + 2 + 20 + 16)
                .add(Tone::Quiet, subject),
        );
        let lines: Vec<&str> = error
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let from = if verbose {
            0
        } else {
            lines.len().saturating_sub(1)
        };
        for line in &lines[from..] {
            page.prose(2 + SHORT + 2, Tone::Quiet, line.trim());
        }
    }
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
