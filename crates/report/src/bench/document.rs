//! Everything known about a session, for a terminal and for a page.

use fathom_model::{BenchRecord, Comparison, Metric};

use super::terminal::{
    SortOrder, TerminalOptions, causes, comparison, conditions, footer, metrics, picture, slow_runs,
};
use super::{pictures, tables};
use crate::TimeUnit;
use crate::distribution::sorted;
use crate::document::{Document, Form};
use crate::line::Tone;
use crate::quantity::{counted, is_counted};
use crate::session::Subject;
use crate::text::bounded;

/// Adds everything known about the session below the answer.
pub(super) fn add(
    out: &mut Document,
    record: &BenchRecord,
    subjects: &[Subject],
    form: Form,
    options: &TerminalOptions,
) {
    comparisons(out, record, subjects, form, options.sort);
    if form.has_pictures() {
        out.section("All metrics", |part| part.table(tables::metrics(subjects)));
    }
    let heading = match subjects.len() {
        1 => "Figures",
        _ => "Figures of each command",
    };
    out.section(heading, |part| {
        let shared = conditions::shared(record);
        if !shared.is_empty() {
            part.prose(0, Tone::Plain, "All commands with");
        }
        for (label, text) in &shared {
            part.fact(*label, Tone::Quiet, text);
        }
        for subject in subjects {
            of_one(part, record, subject, form, options.time_unit, &shared);
        }
    });
    out.section("Also known", |part| {
        for (tone, note) in footer::also_known(record, form) {
            let about = match note.benchmark {
                Some(index) if subjects.len() > 1 => format!("{}: ", index.saturating_add(1)),
                _ => String::new(),
            };
            part.prose(0, tone, about + &note.message);
        }
    });
    out.section("How it was measured", |part| {
        part.prose(0, Tone::Quiet, footer::how(record).join("; "));
        part.prose(0, Tone::Quiet, footer::CLOCKS);
        if !form.has_pictures() {
            part.prose(0, Tone::Quiet, footer::machine(record));
        }
        for notice in footer::machine_notices(record) {
            part.prose(0, Tone::Notice, notice);
        }
    });
}

/// Adds every comparison, grouped by reference and clock.
fn comparisons(
    out: &mut Document,
    record: &BenchRecord,
    subjects: &[Subject],
    form: Form,
    sort: SortOrder,
) {
    let Some(outcome) = &record.outcome else {
        return;
    };
    let mut all = outcome.comparisons.clone();
    if sort == SortOrder::Median {
        all.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    }
    let pair = |one: &Comparison| (one.subject, one.reference);
    for group in all.chunk_by(|a, b| (a.reference, a.metric) == (b.reference, b.metric)) {
        out.section("Comparison", |part| {
            let (reference, clock) = (group[0].reference, group[0].metric);
            let against = format!("against {}", numbered(subjects, reference));
            part.prose(0, Tone::Strong, against);
            let how = format!("compared by {}, paired by round", clock.label());
            part.prose(2, Tone::Plain, how);
            if form.has_pictures() {
                part.picture(pictures::ratios(group, subjects));
                part.table(tables::comparisons(group, subjects));
            }
            for one in group {
                let number = one.subject.saturating_add(1);
                if !form.has_pictures() {
                    part.prose(2, Tone::Strong, numbered(subjects, one.subject));
                    let verdict = comparison::verdict(one);
                    part.prose(comparison::INDENT, Tone::of(one.verdict), verdict);
                }
                let mut cross = outcome.cross_checks.iter();
                let cross = cross.find(|cross| pair(cross) == pair(one));
                if let Some(cross) = cross.filter(|cross| cross.verdict != one.verdict) {
                    let about = match form.has_pictures() {
                        true => format!("{number}: "),
                        false => String::new(),
                    };
                    let (clock, verdict) = (cross.metric.label(), comparison::verdict(cross));
                    let text = format!("{about}by {clock} alone: {verdict}");
                    part.prose(comparison::INDENT, Tone::Notice, text);
                }
                let shift = comparison::shift(one, subjects);
                if let Some(text) = shift.filter(|_| !form.has_pictures()) {
                    part.prose(comparison::INDENT, Tone::Plain, text);
                }
            }
        });
    }
    // A count that is the same in all runs can't lead to a false claim.
    let sampled = all.iter().filter(|one| !is_counted(&one.ratio)).count();
    if sampled > 1 {
        let count = counted(sampled as u64, "comparison", "comparisons");
        let text = format!("{count}: the false discovery rate is controlled (Benjamini-Hochberg)");
        out.prose(2, Tone::Quiet, text);
    }
}

/// Formats `2: gzip -9 f`; not trustworthy.
fn numbered(subjects: &[Subject], index: usize) -> String {
    tables::numbered(subjects, index).replacen(' ', ": ", 1)
}

/// Adds the conditions of one command, its figures, where its time went, and what disturbed it.
fn of_one(
    out: &mut Document,
    record: &BenchRecord,
    subject: &Subject,
    form: Form,
    unit: Option<TimeUnit>,
    shared: &[conditions::Condition],
) {
    let number = match record.benchmarks.len() {
        1 => String::new(),
        _ => format!("{}: ", subject.index + 1),
    };
    let name = match form.has_pictures() {
        true => bounded(&subject.benchmark.name, 120),
        false => subject.benchmark.name.clone(),
    };
    let runs = counted(subject.runs.len() as u64, "run", "runs");
    out.section(format!("{number}{name}, {runs}"), |part| {
        for condition in conditions::of(subject.benchmark) {
            if !shared.contains(&condition) {
                part.fact(condition.0, Tone::Quiet, condition.1);
            }
        }
        if subject.runs.is_empty() {
            return part.prose(2, Tone::Notice, "no run was completed");
        }
        let times = sorted(subject.values(Metric::Wall));
        if !form.has_pictures() {
            metrics::add(part, subject, unit);
            part.drawn({
                let times = times.clone();
                move |page| picture::write(page, &times, Metric::Wall, unit)
            });
        }
        let mut facts = causes::where_time_went(subject);
        facts.extend(footer::floor(record, subject, unit));
        facts.extend(metrics::counts(subject));
        facts.extend(slow_runs::fact(subject, &times, unit));
        facts.extend(causes::failed(subject).map(|text| ("failures", Tone::Bad, text)));
        facts.extend(causes::left_behind(subject));
        for (label, tone, text) in facts {
            part.fact(label, tone, text);
        }
    });
}
