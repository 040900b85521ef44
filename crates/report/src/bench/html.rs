//! The page: one file that needs no network.

use fathom_model::{BenchRecord, Metric};

use super::terminal::{answer, causes, conditions, footer, next_steps, notes, slow_runs, verdict};
use super::{figures, pictures, tables};
use crate::Screen;
use crate::distribution::sorted;
use crate::line::{Page, Tone};
use crate::page::{Head, Origin, page, section};
use crate::quantity::{Words, change_and_interval, counted, format_level};
use crate::session::Subject;
use crate::text::{JOIN, bounded, html, name, words};

/// Longest condition that is shown, in columns.
const LONGEST: usize = 600;

/// The record as one page: the verdict, then the figures, how the runs are spread and in which order
/// they were made, the comparisons, every metric, and how it was measured.
///
/// Texts from outside are escaped for terminals and for HTML.
pub fn bench_html(record: &BenchRecord) -> String {
    let subjects = Subject::all(record);
    let clock = answer::clock(record);
    let mut out = warnings(record, &subjects, clock);
    out.push_str(&section(
        &heading(clock),
        &figures::table(record, &subjects.iter().collect::<Vec<_>>(), clock, None).html(),
    ));
    out.push_str(&section(
        "How the runs are spread",
        &pictures::spread(&subjects, clock),
    ));
    out.push_str(&section(
        "Order of the runs",
        &pictures::order(record, &subjects, clock),
    ));
    out.push_str(&section("Comparison", &comparison(record, &subjects)));
    out.push_str(&section("All metrics", &tables::metrics(&subjects)));
    out.push_str(&section("How it was measured", &how(record, &subjects)));
    page(&head(record, &subjects, clock), &out)
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

/// What changes how the figures are to be read, and where to go on.
fn warnings(record: &BenchRecord, subjects: &[Subject], clock: Metric) -> String {
    let clean = Page::new(&Screen::default());
    let mut out = String::new();
    for note in notes::of(&clean, record, subjects, clock) {
        let class = match note.tone {
            Tone::Bad => "strip bad",
            Tone::Notice => "strip warn",
            _ => "strip",
        };
        out.push_str(&format!(
            "<p class=\"{class}\">{}</p>\n",
            words(&bounded(&note.text.replace(JOIN, " "), LONGEST))
        ));
    }
    if let Some(why) = next_steps::why(record, subjects) {
        out.push_str(&format!(
            "<p class=\"next\">Where the time goes: <code>{}</code></p>\n",
            name(&bounded(&why, LONGEST))
        ));
    }
    out
}

fn comparison(record: &BenchRecord, subjects: &[Subject]) -> String {
    let Some(outcome) = &record.outcome else {
        return String::new();
    };
    let Some(first) = outcome.comparisons.first() else {
        return String::new();
    };
    let mut out = format!(
        "<p>Compared by {}, paired by round.</p>\n",
        verdict::clock_name(first.metric)
    );
    if outcome.comparisons.len() > 1 {
        out.push_str(
            "<p class=\"soft\">The false discovery rate is controlled (Benjamini-Hochberg).</p>\n",
        );
    }
    out.push_str(&pictures::ratios(&outcome.comparisons, subjects));
    out.push_str(&tables::comparisons(&outcome.comparisons, subjects));
    let different = outcome.cross_checks.iter().filter(|cross| {
        let pair = |c: &fathom_model::Comparison| (c.subject, c.reference);
        let same = outcome.comparisons.iter().find(|c| pair(c) == pair(cross));
        same.is_some_and(|same| same.verdict != cross.verdict)
    });
    for cross in different {
        let (change, interval) = change_and_interval(&cross.ratio, Words::of(cross.metric));
        out.push_str(&format!(
            "<p class=\"warn\">{}: {} alone says {}: {} ({})</p>\n",
            cross.subject.saturating_add(1),
            verdict::clock_name(cross.metric),
            cross.verdict.word(),
            words(&change),
            words(&interval)
        ));
    }
    out
}

fn how(record: &BenchRecord, subjects: &[Subject]) -> String {
    let mut out = String::from("<ul>\n");
    for sentence in footer::how(record)
        .iter()
        .map(String::as_str)
        .chain([footer::CLOCKS])
    {
        out.push_str(&format!("<li>{}</li>\n", words(sentence)));
    }
    for notice in footer::machine_notices(record) {
        out.push_str(&format!(
            "<li class=\"warn\">{}</li>\n",
            html(&bounded(&notice, LONGEST))
        ));
    }
    for note in record.outcome.iter().flat_map(|outcome| &outcome.notes) {
        let about = match note.benchmark {
            Some(index) if subjects.len() > 1 => format!("{}: ", index.saturating_add(1)),
            _ => String::new(),
        };
        out.push_str(&format!(
            "<li>{about}{}</li>\n",
            html(&bounded(&note.message, LONGEST))
        ));
    }
    out.push_str("</ul>\n");
    for subject in subjects {
        out.push_str(&of_one(subject, subjects.len() > 1));
    }
    out.push_str(&format!(
        "<p class=\"soft\">All {}, with every metric: <code>--json</code>.</p>\n",
        counted(record.runs.len() as u64, "run", "runs")
    ));
    out
}

/// Where the time of one command went, what disturbed it, and what sets it apart.
fn of_one(subject: &Subject, several: bool) -> String {
    let times = sorted(subject.values(Metric::Wall));
    let mut facts = causes::where_time_went(subject);
    facts.extend(slow_runs::fact(subject, &times, None));
    facts.extend(causes::left_behind(subject));
    let number = match several {
        true => format!("{}: ", subject.index + 1),
        false => String::new(),
    };
    let mut out = format!(
        "<h3>{number}{}</h3>\n<dl class=\"facts\">\n",
        name(&bounded(&subject.benchmark.name, 120))
    );
    for (label, tone, text) in facts {
        let class = if tone == Tone::Notice { "warn" } else { "" };
        let text = words(&text);
        out.push_str(&format!(
            "<dt>{label}</dt><dd class=\"{class}\">{text}</dd>\n"
        ));
    }
    for (label, text) in conditions::of(subject.benchmark) {
        let text = name(&bounded(&text, LONGEST));
        out.push_str(&format!("<dt>{label}</dt><dd><code>{text}</code></dd>\n"));
    }
    out.push_str("</dl>\n");
    out
}
