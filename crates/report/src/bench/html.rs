//! The page: one file that needs no network.

use fathom_model::{BenchRecord, Metric};

use super::terminal::{TerminalOptions, answer, footer, next_steps, notes, verdict};
use super::{document, figures, pictures, tables};
use crate::document::{Document, Form, html};
use crate::line::Tone;
use crate::page::{Head, Origin, page};
use crate::quantity::{counted, format_level};
use crate::session::Subject;
use crate::text::{bounded, name};

/// Longest condition that is shown, in columns.
const LONGEST: usize = 600;

/// The record as one page: the verdict, then the figures, how the runs are spread and in which order
/// they were made, the comparisons, every metric, and how it was measured.
///
/// Texts from outside are escaped for terminals and for HTML.
pub fn bench_html(record: &BenchRecord) -> String {
    let subjects = Subject::all(record);
    let clock = answer::clock(record);
    let mut out = Document::default();
    for note in notes::of(record, &subjects, clock) {
        out.note("note", note.tone, note.text);
    }
    if let Some(why) = next_steps::why(record, &subjects) {
        out.picture(format!(
            "<p class=\"next\">Where the time goes: <code>{}</code></p>\n",
            name(&bounded(&why, LONGEST))
        ));
    }
    let ordered: Vec<&Subject> = subjects.iter().collect();
    out.section(heading(clock), |part| {
        part.table(figures::table(record, &ordered, clock, None));
    });
    out.section("How the runs are spread", |part| {
        part.picture(pictures::spread(&subjects, clock));
    });
    out.section("Order of the runs", |part| {
        part.picture(pictures::order(record, &subjects, clock));
    });
    document::add(
        &mut out,
        record,
        &subjects,
        Form::Page,
        &TerminalOptions::default(),
    );
    let runs = counted(record.runs.len() as u64, "run", "runs");
    out.picture(format!(
        "<p class=\"soft\">All {runs}, with every metric: <code>--json</code>.</p>\n"
    ));
    page(&head(record, &subjects, clock), &html(&out))
}

/// `Wall time`, as a heading.
fn heading(clock: Metric) -> String {
    let name = verdict::clock_name(clock);
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn head<'a>(record: &'a BenchRecord, subjects: &[Subject<'a>], clock: Metric) -> Head<'a> {
    let (mut tone, mut answer, interval) = match verdict::answer(record, subjects) {
        Some(answer) => {
            let interval = [answer.interval, answer.missing].into_iter().flatten();
            let interval: Vec<String> = interval.collect();
            (answer.tone, answer.text, interval.join("; "))
        }
        None => (Tone::Strong, alone(subjects, clock), String::new()),
    };
    if let Some(partly) = footer::partly(record) {
        tone = Tone::Bad;
        answer = format!("{partly}: {answer}");
    }
    Head {
        verb: "bench",
        of: record.benchmarks.first().map_or("", |b| b.name.as_str()),
        answer,
        tone,
        basis: interval,
        commands: record.benchmarks.iter().map(|b| b.name.as_str()).collect(),
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    }
}

/// What is said where nothing was compared.
fn alone(subjects: &[Subject], clock: Metric) -> String {
    let [subject] = subjects else {
        return "nothing was compared".to_owned();
    };
    let name = bounded(&subject.benchmark.name, 60);
    let Some(summary) = subject.summary(clock) else {
        return match subject.runs.is_empty() {
            true => format!("{name}: no run was made"),
            false => format!("{name}: the runs were not summarised"),
        };
    };
    let median = &summary.median;
    let unit = figures::unit(&[median.value]);
    let write = |value| tables::time(value, median, unit);
    let mut text = format!("{name} takes {} {}", write(median.value), unit.symbol());
    if median.level > 0.0 {
        let (low, high) = (write(median.low), write(median.high));
        let level = format_level(median.level);
        text.push_str(&format!(" ({level} interval {low} to {high})"));
    }
    text
}
