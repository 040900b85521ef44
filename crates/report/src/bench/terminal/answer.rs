//! The default output: the figures, the verdict, the shape of the samples, notes that affect the
//! interpretation, and next steps.

use fathom_model::{BenchRecord, Metric};

use super::deciding::Longer;
use super::options::{SortOrder, TerminalOptions};
use super::{next_steps, notes, strips, verdict};
use crate::bench::figures;
use crate::line::{Page, Tone};
use crate::session::Subject;
use crate::text::wrap;

/// The maximum number of lines of one command's answer: with a prompt and the command line, ten such calls
/// remain visible on a screen.
const LINES_OF_ONE: usize = 8;
/// The maximum number of lines of a comparison of two commands, minus one for the announcement on standard
/// error.
const LINES_OF_TWO: usize = 13;
/// The number of lines in addition to the rows if more than two commands are compared.
const LINES_BESIDE_ROWS: usize = 11;
/// The number of columns before the text of a note.
const NOTE_INDENT: usize = 4;

/// Writes the answer within its limit of lines. Notes that don't fit are counted, and shown with `-v`.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    subjects: &[Subject],
    options: &TerminalOptions,
    longer: Longer<'_>,
) {
    let metrics = metrics(record);
    let clock = clock(record);
    let begin = page.lines();
    let mut ordered: Vec<&Subject> = subjects.iter().collect();
    if options.sort == SortOrder::Median {
        let median = |subject: &Subject| subject.median(clock).unwrap_or(f64::INFINITY);
        ordered.sort_by(|a, b| median(a).total_cmp(&median(b)));
    }
    for (place, metric) in metrics.iter().enumerate() {
        if place > 0 {
            page.gap();
        }
        figures::table(record, &ordered, *metric, options.time_unit).terminal(page, 2);
    }
    verdict::write(page, record, subjects, longer);
    let notes = notes::of(record, subjects, clock);
    let room = match options.screen.verbose {
        true => usize::MAX,
        false => {
            let limit = match subjects.len() {
                0 | 1 => LINES_OF_ONE,
                2 => LINES_OF_TWO,
                many => many + LINES_BESIDE_ROWS,
            };
            // Each additional metric has a table, with its head and a blank line before it, and a verdict.
            let limit = limit + (metrics.len() - 1) * (subjects.len() + 3);
            // Lines of a long command beyond its first one don't take space from the figures.
            let foot = next_steps::lines(page, record, subjects);
            let foot = foot.iter().filter(|line| !line.starts_with(' ')).count();
            limit.saturating_sub(page.lines() - begin + foot)
        }
    };
    let wanted: usize = notes
        .iter()
        .map(|note| wrap(&page.own(&note.text), page.width() - NOTE_INDENT).len())
        .sum();
    // A warning affects the interpretation; a chart only shows what the figures say.
    if !options.screen.verbose && wanted + strips::LINES[subjects.len().min(3)] <= room {
        strips::write(page, subjects, clock, options.time_unit);
    }
    write_notes(page, &notes, room);
    if !options.screen.verbose {
        next_steps::write(page, record, subjects);
    }
}

/// Returns the metrics of the figures and the verdicts: the requested ones, otherwise the clock of the
/// comparisons, so that both agree.
pub(crate) fn metrics(record: &BenchRecord) -> Vec<Metric> {
    let asked = &record.conditions.metrics;
    match asked.is_empty() {
        true => vec![clock(record)],
        false => asked.iter().map(|one| one.metric).collect(),
    }
}

/// Returns the first metric of the figures and the verdicts.
pub(crate) fn clock(record: &BenchRecord) -> Metric {
    let compared = record.outcome.iter().flat_map(|o| &o.comparisons);
    let compared = compared.map(|comparison| comparison.metric);
    let asked = record.conditions.metrics.iter().map(|one| one.metric);
    asked.chain(compared).next().unwrap_or(Metric::Wall)
}

/// Writes as many notes as fit into `room` lines, and the number of notes that don't fit. Notes about what
/// the figures mean come first and are always shown.
fn write_notes(page: &mut Page, notes: &[notes::Note], room: usize) {
    let mut left = room;
    for (index, note) in notes.iter().enumerate() {
        let lines = wrap(&page.own(&note.text), page.width() - NOTE_INDENT);
        let is_last = index + 1 == notes.len();
        if note.tone != Tone::Bad && lines.len() + usize::from(!is_last) > left {
            let more = format!("{} more to know: -v", notes.len() - index);
            if left > 0 {
                page.note(Tone::Notice, &[more]);
            }
            return;
        }
        left = left.saturating_sub(lines.len());
        page.note(note.tone, &lines);
    }
}
