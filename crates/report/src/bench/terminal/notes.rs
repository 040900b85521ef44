//! Notes that affect the interpretation of the figures. Everything else is shown with `-v`.

use fathom_model::{BenchRecord, Comparison, CpuWaits, Metric};

use super::{causes, comparison};
use crate::TimeUnit;
use crate::line::Tone;
use crate::quantity::{Words, change, format_share, format_time, supported_decimals};
use crate::session::Subject;

/// One note.
pub(crate) struct Note {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

/// From this share on, process startup is a large part of what was measured.
const START_UP_FROM: f64 = 0.2;
/// Below this share, waits for a CPU add nothing that the interval doesn't already show.
const WAITS_FROM: f64 = 0.05;

/// Returns the notes on this session, most serious first.
pub(crate) fn of(record: &BenchRecord, subjects: &[Subject], clock: Metric) -> Vec<Note> {
    let several = subjects.len() > 1;
    let about = |index: Option<usize>, text: &str| match index {
        Some(index) if several => format!("{}: {text}", index.saturating_add(1)),
        _ => text.to_owned(),
    };
    let mut notes = Vec::new();
    for subject in subjects {
        if let Some(text) = causes::failed(subject) {
            notes.push(Note {
                tone: Tone::Bad,
                text: about(Some(subject.index), &text),
            });
        }
    }
    let mut notice = |text: String| {
        notes.push(Note {
            tone: Tone::Notice,
            text,
        });
    };
    let Some(outcome) = &record.outcome else {
        notice("the session ended before its runs were summarised".to_owned());
        return notes;
    };
    for warning in &outcome.warnings {
        notice(about(warning.benchmark, &warning.message));
    }
    let of_time = matches!(clock, Metric::Wall | Metric::Undisturbed);
    if let Some(text) = busy(subjects, clock).filter(|_| of_time) {
        notice(text);
    }
    for compared in &outcome.comparisons {
        if let Some(text) = comparison::moved_tail(compared, subjects) {
            notice(about(Some(compared.subject), &text));
        }
    }
    let mut quiet = |text: String| {
        notes.push(Note {
            tone: Tone::Quiet,
            text,
        });
    };
    for pair in outcome.also_differ.chunk_by(|a, b| a.subject == b.subject) {
        quiet(about(Some(pair[0].subject), &besides_time(pair)));
    }
    if let Some(text) = start_up(record, subjects).filter(|_| of_time) {
        quiet(text);
    }
    notes
}

/// Formats `besides time: peak memory 2.10x more`.
fn besides_time(pair: &[Comparison]) -> String {
    let one = |one: &Comparison| {
        let change = change(one.ratio.value, Words::of(one.metric));
        format!("{} {change}", one.metric.label())
    };
    let all: Vec<String> = pair.iter().map(one).collect();
    format!("besides time: {}", all.join(", "))
}

/// Describes how busy the machine was with other work, and whether that affects the figures.
fn busy(subjects: &[Subject], clock: Metric) -> Option<String> {
    let mut waits = CpuWaits::default();
    for run in subjects.iter().flat_map(|subject| &subject.runs) {
        waits.add_run(run);
    }
    if !waits.disturbed() || !(waits.busy() || waits.share() >= WAITS_FROM) {
        return None;
    }
    let share = format_share(waits.share());
    Some(match clock {
        Metric::Undisturbed => {
            format!("machine busy: waits for a CPU ({share} of the wall time) are excluded")
        }
        _ => format!(
            "machine busy: {share} of the {} was spent waiting for a CPU",
            clock.label()
        ),
    })
}

/// Describes how much of a short time is process startup.
fn start_up(record: &BenchRecord, subjects: &[Subject]) -> Option<String> {
    let floor = record.outcome.as_ref()?.floor.as_ref()?;
    let medians = subjects.iter().filter_map(|s| s.median(Metric::Wall));
    let shortest = medians.fold(f64::INFINITY, f64::min);
    if !shortest.is_finite() || floor.wall.value < START_UP_FROM * shortest {
        return None;
    }
    let unit = TimeUnit::fitting(floor.wall.value);
    let decimals = supported_decimals(&floor.wall, unit.seconds()).min(1);
    let time = format_time(floor.wall.value, Some(unit), decimals);
    let of = if subjects.len() > 1 { "each" } else { "this" };
    Some(format!("{time} of {of} is process start-up"))
}
