//! The page: one file that needs no network access.

use fathom_model::{BenchRecord, Metric};

use super::terminal::{TerminalOptions, answer, footer, next_steps, notes, verdict};
use super::{document, figures, pictures};
use crate::document::{Document, Form, html};
use crate::line::Tone;
use crate::page::{Head, Origin, page};
use crate::quantity::{InUnit, counted, format_level, heading};
use crate::session::Subject;
use crate::text::{bounded, name};

/// The maximum length of a displayed condition, in columns.
const LONGEST: usize = 600;

/// A function that draws a chart of a metric.
type Draw = fn(&BenchRecord, &[Subject], Metric) -> String;
const PICTURES: &[(&str, Draw)] = &[
    ("Distribution of the runs", |_, subjects, metric| {
        pictures::spread(subjects, metric)
    }),
    ("Order of the runs", pictures::order),
];

/// Formats the record as one page: the verdict, then the figures, the distribution of the runs and their
/// order, the comparisons, every metric, and how it was measured.
///
/// Untrusted texts are escaped for terminals and for HTML.
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
    let metrics = answer::metrics(record);
    for metric in &metrics {
        out.section(heading(*metric), |part| {
            part.table(figures::table(record, &ordered, *metric, None));
        });
    }
    for (title, draw) in PICTURES {
        out.section(*title, |part| {
            for metric in &metrics {
                if metrics.len() > 1 {
                    part.prose(0, Tone::Strong, heading(*metric));
                }
                part.picture(draw(record, &subjects, *metric));
            }
        });
    }
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

fn head<'a>(record: &'a BenchRecord, subjects: &[Subject<'a>], clock: Metric) -> Head<'a> {
    let answers = verdict::answers(record, subjects);
    let (mut tone, mut answer, interval) = match answers.first() {
        Some(first) => {
            let texts: Vec<&str> = answers.iter().map(|one| one.text.as_str()).collect();
            let bases = answers.iter().flat_map(|one| [&one.interval, &one.missing]);
            let bases: Vec<&str> = bases.flatten().map(String::as_str).collect();
            (first.tone, texts.join("; "), bases.join("; "))
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

/// Returns the text if nothing was compared.
fn alone(subjects: &[Subject], clock: Metric) -> String {
    let [subject] = subjects else {
        return "nothing was compared".to_owned();
    };
    let name = bounded(&subject.benchmark.name, 60);
    let Some(summary) = subject.summary(clock) else {
        return match subject.runs.is_empty() {
            true => format!("{name}: no run was completed"),
            false => format!("{name}: the runs were not summarised"),
        };
    };
    let median = &summary.median;
    let unit = InUnit::fitting(clock, median.value);
    let write = |value| unit.number(value, unit.decimals(median));
    let value = unit.with_symbol(&write(median.value));
    let mut text = match clock {
        Metric::Wall | Metric::Undisturbed => format!("{name} takes {value}"),
        _ => format!("{} of {name}: {value}", clock.label()),
    };
    if median.level > 0.0 {
        let (low, high) = (write(median.low), write(median.high));
        let level = format_level(median.level);
        text.push_str(&format!(" ({level} interval {low} to {high})"));
    }
    text
}
