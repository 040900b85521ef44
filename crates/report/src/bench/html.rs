//! The page: one file that needs no network.

use fathom_model::{BenchRecord, Metric};

use super::terminal::{answer, causes, conditions, footer, next_steps, notes, slow_runs, verdict};
use super::{figures, pictures, tables};
use crate::distribution::sorted;
use crate::document::{Document, html};
use crate::line::Tone;
use crate::page::{Head, Origin, page};
use crate::quantity::{Words, change_and_interval, counted, format_level};
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
    out.section("Comparison", |part| comparison(part, record, &subjects));
    out.section("All metrics", |part| part.table(tables::metrics(&subjects)));
    out.section("How it was measured", |part| how(part, record, &subjects));
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

fn comparison(out: &mut Document, record: &BenchRecord, subjects: &[Subject]) {
    let Some(outcome) = &record.outcome else {
        return;
    };
    let Some(first) = outcome.comparisons.first() else {
        return;
    };
    let clock = verdict::clock_name(first.metric);
    out.prose(
        0,
        Tone::Plain,
        format!("Compared by {clock}, paired by round."),
    );
    if outcome.comparisons.len() > 1 {
        let text = "The false discovery rate is controlled (Benjamini-Hochberg).";
        out.prose(0, Tone::Quiet, text);
    }
    out.picture(pictures::ratios(&outcome.comparisons, subjects));
    out.table(tables::comparisons(&outcome.comparisons, subjects));
    for cross in &outcome.cross_checks {
        let pair = |c: &fathom_model::Comparison| (c.subject, c.reference);
        let same = outcome.comparisons.iter().find(|c| pair(c) == pair(cross));
        if same.is_some_and(|same| same.verdict != cross.verdict) {
            let (change, interval) = change_and_interval(&cross.ratio, Words::of(cross.metric));
            let text = format!(
                "{}: {} alone says {}: {change} ({interval})",
                cross.subject.saturating_add(1),
                verdict::clock_name(cross.metric),
                cross.verdict.word()
            );
            out.prose(0, Tone::Notice, text);
        }
    }
}

fn how(out: &mut Document, record: &BenchRecord, subjects: &[Subject]) {
    out.prose(0, Tone::Plain, footer::how(record).join("; "));
    out.prose(0, Tone::Plain, footer::CLOCKS);
    for notice in footer::machine_notices(record) {
        out.prose(0, Tone::Notice, notice);
    }
    for note in record.outcome.iter().flat_map(|outcome| &outcome.notes) {
        let about = match note.benchmark {
            Some(index) if subjects.len() > 1 => format!("{}: ", index.saturating_add(1)),
            _ => String::new(),
        };
        out.prose(0, Tone::Plain, about + &note.message);
    }
    for subject in subjects {
        let number = match subjects.len() {
            1 => String::new(),
            _ => format!("{}: ", subject.index + 1),
        };
        let title = number + &bounded(&subject.benchmark.name, 120);
        out.section(title, |part| of_one(part, subject));
    }
    let runs = counted(record.runs.len() as u64, "run", "runs");
    out.picture(format!(
        "<p class=\"soft\">All {runs}, with every metric: <code>--json</code>.</p>\n"
    ));
}

/// Where the time of one command went, what disturbed it, and what sets it apart.
fn of_one(out: &mut Document, subject: &Subject) {
    let times = sorted(subject.values(Metric::Wall));
    let mut facts = causes::where_time_went(subject);
    facts.extend(slow_runs::fact(subject, &times, None));
    facts.extend(causes::left_behind(subject));
    for (label, tone, text) in facts {
        out.fact(label, tone, text);
    }
    for (label, text) in conditions::of(subject.benchmark) {
        out.fact(label, Tone::Plain, bounded(&text, LONGEST));
    }
}
