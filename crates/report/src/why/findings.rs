//! The causes, ranked.

use fathom_model::{Confidence, Explanation, Finding};

use super::quote::{could_save, share_text};
use super::{account, processes};
use crate::columns;
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::text::wrap;

/// So many are shown in full, or the answer wouldn't fit on a screen.
const IN_FULL: usize = 3;
/// So many more get a line each.
const IN_BRIEF: usize = 5;
/// Columns before the text of a finding's labelled lines.
const INDENT: usize = 15;

/// Writes the findings, or that there is none.
pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    page.gap();
    let findings = &explanation.findings;
    if findings.is_empty() {
        nothing(page, explanation);
        return;
    }
    let title = match findings.len() {
        1 => "One finding".to_owned(),
        count => format!("{count} findings, the largest first"),
    };
    let facts = "share of the wall time, and what it could save";
    let line = Line::new().add(Tone::Strong, title.as_str());
    match page.width().checked_sub(facts.len()) {
        Some(end) if end > title.len() + 2 => page.push(line.pad_to(end).add(Tone::Quiet, facts)),
        _ => page.push(line),
    }
    let whole = explanation.timed.wall.value;
    for (index, finding) in findings.iter().take(IN_FULL).enumerate() {
        headline(page, index, finding, whole);
        let statement = page.clean(&finding.statement);
        page.prose(5, Tone::Plain, &statement);
        labelled(page, "change", Tone::Good, &finding.advice);
        if let Some(limit) = &finding.limit {
            labelled(page, "limit", Tone::Quiet, limit);
        }
    }
    let rest = findings.get(IN_FULL..).unwrap_or_default();
    for (index, finding) in rest.iter().take(IN_BRIEF).enumerate() {
        headline(page, IN_FULL + index, finding, whole);
    }
    if rest.len() > IN_BRIEF {
        let more = counted((rest.len() - IN_BRIEF) as u64, "more", "more");
        page.prose(5, Tone::Quiet, &format!("and {more}"));
    }
    if !rest.is_empty() {
        page.prose(5, Tone::Quiet, "what to change there: --html or --json");
    }
}

/// No finding: then where the time goes is the answer.
fn nothing(page: &mut Page, explanation: &Explanation) {
    let said = match explanation.end.is_empty() {
        true => "Nothing stands out.",
        false => "It did not end well, and no cause of lost time stands out.",
    };
    page.push(Line::new().add(Tone::Strong, said));
    if let Some(parts) = account::in_a_sentence(&explanation.account) {
        page.prose(2, Tone::Plain, &parts);
    }
    if let Some(child) = processes::busiest_child(explanation) {
        let child = page.clean(&child);
        page.prose(2, Tone::Plain, &child);
    }
}

/// Number and id at the left; share and gain at the right, or below where the page is narrow.
fn headline(page: &mut Page, index: usize, finding: &Finding, whole: f64) {
    let mut facts = vec![share_text(finding.share)];
    facts.extend(could_save(finding, whole));
    let facts = facts.join(", ");
    let likely = match finding.confidence {
        Confidence::Likely => "  likely",
        Confidence::Certain => "",
    };
    let number = format!("{:>3}  ", index + 1);
    let room = page.width().saturating_sub(number.len() + likely.len());
    let id = page.fit(finding.id.as_str(), room);
    let line = Line::new()
        .add(Tone::Quiet, number)
        .add(Tone::Notice, id.as_str())
        .add(Tone::Quiet, likely);
    let end = page.width().saturating_sub(columns(&facts));
    if end >= 5 + columns(&id) + likely.len() + 2 {
        page.push(line.pad_to(end).add(Tone::Strong, facts));
    } else {
        page.push(line);
        page.prose(5, Tone::Strong, &facts);
    }
}

fn labelled(page: &mut Page, label: &str, tone: Tone, text: &str) {
    let text = page.clean(text);
    let width = page.width().saturating_sub(INDENT);
    for (index, line) in wrap(&text, width).into_iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        let start = Line::new().pad_to(5).add(tone, label).pad_to(INDENT);
        page.push(start.add(Tone::Plain, line));
    }
}
