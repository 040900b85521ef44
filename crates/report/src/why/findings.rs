//! The findings, ranked.

use fathom_model::{Confidence, Explanation, Finding};

use super::quote::{could_save, share_text};
use super::summary::whole_seconds;
use super::verdict::{not_seen, verdict};
use super::{code_name, processes, proof};
use crate::columns;
use crate::document::Document;
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::text::wrap;

/// The maximum number of findings shown with evidence and change: with more, the answer wouldn't fit a
/// screen.
const IN_FULL: usize = 3;
/// The maximum number of further findings, with one line each.
const IN_BRIEF: usize = 5;
/// The maximum number of items of a summary.
const ITEMS: usize = 5;
/// Indentation of a finding's text.
const INDENT: usize = 3;
/// The number of lines that whole sentences of evidence and change may fill, for the first finding and for
/// each other one. With the headlines this makes about 20 lines of a screen. The first matters most to users.
const LINES_OF_FIRST: usize = 6;
const LINES_OF_OTHERS: usize = 3;
/// The label of the place in the code.
const AT: &str = "at: ";
/// The label of the change.
const CHANGE: &str = "change: ";

/// Writes the findings, or a verdict on the time if there are none. With `all`, each finding is written in
/// full.
pub(super) fn write(page: &mut Page, explanation: &Explanation, all: bool) {
    page.gap();
    let findings = &explanation.findings;
    if findings.is_empty() {
        nothing(page, explanation);
        return;
    }
    let whole = whole_seconds(explanation);
    let in_full = if all { findings.len() } else { IN_FULL };
    for (index, finding) in findings.iter().take(in_full).enumerate() {
        headline(page, index, finding, whole);
        let lines = match index {
            _ if all => usize::MAX,
            0 => LINES_OF_FIRST,
            _ => LINES_OF_OTHERS,
        };
        body(page, finding, lines);
        if let (true, Some(limit)) = (all, &finding.limit) {
            page.prose(INDENT, Tone::Quiet, &format!("limit: {limit}"));
        }
    }
    let rest = findings.get(in_full..).unwrap_or_default();
    for (index, finding) in rest.iter().take(IN_BRIEF).enumerate() {
        headline(page, in_full + index, finding, whole);
    }
    if rest.len() > IN_BRIEF {
        let more = counted((rest.len() - IN_BRIEF) as u64, "more", "more");
        page.prose(INDENT, Tone::Quiet, &format!("and {more}"));
    }
}

/// Writes the answer for an explanation without findings: where the time goes.
fn nothing(page: &mut Page, explanation: &Explanation) {
    page.prose(0, Tone::Strong, &verdict(explanation));
    if let Some(not_seen) = not_seen(explanation) {
        page.prose(2, Tone::Quiet, not_seen);
    }
    if let Some(child) = processes::busiest_child(explanation) {
        page.prose(2, Tone::Plain, &child);
    }
}

/// Adds each finding as an item: id, possible saving, then details.
pub(super) fn items(out: &mut Document, explanation: &Explanation) {
    let findings = &explanation.findings;
    if findings.is_empty() {
        out.prose(0, Tone::Strong, format!("{}.", verdict(explanation)));
        if let Some(child) = processes::busiest_child(explanation) {
            out.prose(0, Tone::Plain, child);
        }
    }
    for finding in findings.iter().take(ITEMS) {
        let (likely, fact) = headline_of(finding, whole_seconds(explanation));
        let place = code_name::pieces(&finding.code, &finding.callers).join(" ");
        let place = match place.is_empty() {
            true => place,
            false => format!(" At {place}."),
        };
        let (id, advice) = (finding.id.as_str(), &finding.advice);
        let proof = proof::line(finding).map_or(String::new(), |(_, line)| format!(" {line}."));
        let text = format!(". {}{place}{proof} Change: {advice}", finding.statement);
        out.item(&format!("{id}{likely}:"), &fact, text);
    }
    if let Some(more @ 1..) = findings.len().checked_sub(ITEMS) {
        out.prose(0, Tone::Plain, format!("and {more} more findings"));
    }
}

/// Returns a mark if the finding is less than certain, and the time that it could save or that it takes.
fn headline_of(finding: &Finding, whole: f64) -> (&'static str, String) {
    let fact = could_save(finding, whole);
    let fact = fact.unwrap_or_else(|| format!("{} of the wall time", share_text(finding.share)));
    match finding.confidence {
        _ if proof::is_refuted(finding) => (" (refuted)", fact),
        Confidence::Likely => (" (likely)", fact),
        Confidence::Certain => ("", fact),
    }
}

/// Writes number and id at the left, and the possible saving at the right, or below on a narrow page.
fn headline(page: &mut Page, index: usize, finding: &Finding, whole: f64) {
    let (likely, fact) = headline_of(finding, whole);
    let number = format!("{:<INDENT$}", index + 1);
    let room = page.width().saturating_sub(number.len() + likely.len());
    let id = page.fit(finding.id.as_str(), room);
    let taken = number.len() + columns(&id) + likely.len();
    let line = Line::new()
        .add(Tone::Quiet, number)
        .add(Tone::Notice, id)
        .add(Tone::Quiet, likely);
    if taken + 3 + columns(&fact) <= page.width() {
        page.push(line.pad_to(taken + 3).add(Tone::Strong, fact));
    } else {
        page.push(line);
        page.prose(INDENT, Tone::Strong, &fact);
    }
}

/// Returns the object, function and caller of a finding, except those that its statement already contains.
pub(super) fn place(finding: &Finding) -> Option<String> {
    let mut place: Vec<String> = finding.object.iter().cloned().collect();
    place.retain(|object| !finding.statement.contains(object.as_str()));
    place.extend(code_name::pieces(&finding.code, &finding.callers));
    (!place.is_empty()).then(|| place.join(" "))
}

/// Writes evidence and change in about `lines` lines: sentences aren't cut.
fn body(page: &mut Page, finding: &Finding, lines: usize) {
    let width = page.width().saturating_sub(INDENT);
    let statement = page.clean(&finding.statement);
    let place = place(finding).map_or_else(Vec::new, |place| {
        wrap(&format!("{AT}{}", page.clean(&place)), width)
    });
    let proof = proof::line(finding);
    let change = format!("{CHANGE}{}", page.clean(&finding.advice));
    let lines_of = |text: &str| wrap(text, width).len();
    let (of_statement, of_change) = divided(lines_of(&statement), lines_of(&change), lines);
    for line in sentences(&statement, width, of_statement) {
        page.push(Line::new().pad_to(INDENT).add(Tone::Plain, line));
    }
    for line in place {
        page.push(Line::new().pad_to(INDENT).add(Tone::Plain, line));
    }
    if let Some((tone, line)) = proof {
        page.prose(INDENT, tone, &page.clean(&line));
    }
    for (index, line) in sentences(&change, width, of_change).into_iter().enumerate() {
        let start = Line::new().pad_to(INDENT);
        page.push(match line.strip_prefix(CHANGE).filter(|_| index == 0) {
            Some(rest) => start.add(Tone::Good, CHANGE).add(Tone::Plain, rest),
            None => start.add(Tone::Plain, line),
        });
    }
}

/// Divides `lines` between two texts that need `first` and `second` lines: each gets half, plus what the
/// other doesn't need.
fn divided(first: usize, second: usize, lines: usize) -> (usize, usize) {
    let of_first = first.min(lines.saturating_sub(second).max(lines / 2));
    (of_first, second.min(lines - of_first))
}

/// Wraps as many whole sentences of a text as fit into `most` lines, but at least the first one.
fn sentences(text: &str, width: usize, most: usize) -> Vec<String> {
    let is_end = |at: usize| {
        let next = text[at + 2..].chars().next();
        next.is_some_and(|next| next.is_uppercase() || next == '`')
    };
    let ends = text.match_indices(". ").map(|(at, _)| at);
    let ends = ends.filter(|at| is_end(*at)).map(|at| at + 1);
    let mut shown = Vec::new();
    for end in ends.chain([text.len()]) {
        let lines = wrap(&text[..end], width);
        if lines.len() > most && !shown.is_empty() {
            break;
        }
        shown = lines;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{divided, sentences};

    #[test]
    fn sentences_are_whole() {
        let text = "It took 1.5 ms. `b` is next. No end";
        assert_eq!(
            sentences(text, 15, 9),
            ["It took 1.5 ms.", "`b` is next. No", "end"]
        );
        assert_eq!(sentences(text, 15, 2), ["It took 1.5 ms.", "`b` is next."]);
        assert_eq!(sentences(text, 8, 1), ["It took", "1.5 ms."]);
        assert_eq!(sentences("Takes e.g. one", 8, 1), ["Takes", "e.g. one"]);
    }

    #[test]
    fn lines_that_one_text_leaves_are_the_others() {
        assert_eq!(divided(2, 3, 6), (2, 3));
        assert_eq!(divided(1, 9, 6), (1, 5));
        assert_eq!(divided(9, 2, 6), (4, 2));
        assert_eq!(divided(9, 9, 6), (3, 3));
        assert_eq!(divided(2, 2, 3), (1, 2));
        assert_eq!(divided(7, 8, usize::MAX), (7, 8));
    }
}
