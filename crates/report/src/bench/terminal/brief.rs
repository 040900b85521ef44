//! One line for each command: name, median, interval, verdict.

use fathom_model::{BenchRecord, Comparison, Metric};

use super::causes;
use super::options::{SortOrder, TerminalOptions};
use super::verdict::{clock_name, short, tone};
use crate::TimeUnit;
use crate::line::{Line, Page, Tone};
use crate::quantity::{counted, fixed, format_level, supported_decimals};
use crate::session::{Subject, rounds};
use crate::text::{JOIN, columns};

/// A name gets at least so many columns, at the cost of the verdict's end.
const SHORTEST_NAME: usize = 12;

/// The columns of a line after the name.
struct Row {
    subject: usize,
    median: String,
    interval: String,
    tone: Tone,
    verdict: String,
}

/// Writes the lines, and beneath them by what the verdicts were given.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    subjects: &[Subject],
    options: &TerminalOptions,
) {
    let compared = record.outcome.as_ref().map(|o| &o.comparisons[..]);
    let compared = compared.unwrap_or_default();
    // Figures and verdict are of the same clock, so that they agree.
    let clock = compared.first().map_or(Metric::Wall, |c| c.metric);
    let mut rows: Vec<(f64, Row)> = subjects
        .iter()
        .map(|subject| {
            let median = subject.median(clock).unwrap_or(f64::INFINITY);
            (median, row(subject, compared, clock, options.time_unit))
        })
        .collect();
    if options.sort == SortOrder::Median {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    aligned(page, subjects, &rows);
    for subject in subjects {
        // Its time is that of its failures.
        if let Some(text) = causes::failed(subject) {
            let text = format!("{}: {text}", subject.index + 1);
            page.prose(0, Tone::Bad, &text);
        }
    }
    page.prose(0, Tone::Quiet, &foot(record, subjects, compared, clock));
    let warnings = record.outcome.as_ref().map_or(0, |o| o.warnings.len());
    if warnings > 0 {
        let warnings = counted(warnings as u64, "warning", "warnings");
        let text = format!("{warnings}: without --brief they are shown");
        page.prose(0, Tone::Notice, &text);
    }
}

fn row(subject: &Subject, compared: &[Comparison], clock: Metric, unit: Option<TimeUnit>) -> Row {
    let comparison = compared.iter().find(|c| c.subject == subject.index);
    let is_reference = compared.iter().any(|c| c.reference == subject.index);
    let (median, interval) = match subject.summary(clock) {
        None => ("not known".to_owned(), String::new()),
        Some(summary) => {
            let median = &summary.median;
            let unit = unit.unwrap_or_else(|| TimeUnit::fitting(median.value));
            let decimals = supported_decimals(median, unit.seconds());
            let number = |value: f64| fixed(value / unit.seconds(), decimals);
            let interval = match median.level > 0.0 {
                true => format!("{} to {}", number(median.low), number(median.high)),
                false => String::new(),
            };
            let text = format!("{}{JOIN}{}", number(median.value), unit.symbol());
            (text, interval)
        }
    };
    Row {
        subject: subject.index,
        median,
        interval,
        tone: comparison.map_or(Tone::Quiet, tone),
        verdict: match comparison {
            Some(comparison) => short(comparison),
            None if is_reference => "reference".to_owned(),
            None => String::new(),
        },
    }
}

fn aligned(page: &mut Page, subjects: &[Subject], rows: &[Row]) {
    let widest = |of: &dyn Fn(&Row) -> &str| rows.iter().map(|row| columns(of(row))).max();
    let median = widest(&|row| &row.median).unwrap_or(0);
    let interval = widest(&|row| &row.interval).unwrap_or(0);
    let verdict = widest(&|row| &row.verdict).unwrap_or(0);
    let numbers = match subjects.len() {
        0 | 1 => 0,
        many => many.to_string().len() + 2,
    };
    let taken = numbers + 2 + median + 2 + interval + 2 + verdict;
    let names = rows.iter().map(|row| name_of(subjects, row.subject));
    let names = names.map(|name| columns(&page.clean(name))).max();
    let room = page.width().saturating_sub(taken).max(SHORTEST_NAME);
    let name_width = names.unwrap_or(0).min(room);
    for row in rows {
        let number = match numbers {
            0 => String::new(),
            width => format!("{:>1$}: ", row.subject + 1, width - 2),
        };
        let name = page.fit(name_of(subjects, row.subject), name_width);
        let at = numbers + name_width + 2;
        let pad = median - columns(&row.median);
        let line = Line::new()
            .add(Tone::Quiet, number)
            .add(Tone::Strong, name)
            .pad_to(at + pad)
            .add(Tone::Plain, &row.median)
            .pad_to(at + median + 2)
            .add(Tone::Quiet, &row.interval)
            .pad_to(at + median + 2 + interval + 2)
            .add(row.tone, &row.verdict);
        page.push(line);
    }
}

fn name_of<'a>(subjects: &'a [Subject], index: usize) -> &'a str {
    let subject = subjects.get(index);
    subject.map_or("?", |subject| subject.benchmark.name.as_str())
}

/// What the lines rest on.
fn foot(
    record: &BenchRecord,
    subjects: &[Subject],
    compared: &[Comparison],
    clock: Metric,
) -> String {
    let level = subjects
        .iter()
        .filter_map(|subject| subject.summary(clock))
        .map(|summary| summary.median.level)
        .find(|level| *level > 0.0);
    let interval = level.map_or(String::new(), |level| {
        format!(", {} interval", format_level(level))
    });
    let rounds = counted(rounds(record), "round", "rounds");
    let verdicts = compared.first().map_or(String::new(), |comparison| {
        let reference = comparison.reference + 1;
        format!("; verdicts against {reference}")
    });
    let clock = clock_name(clock);
    format!("median {clock}{interval}, {rounds}{verdicts}")
}
