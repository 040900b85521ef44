//! The block of one benchmark.

use fathom_model::{BenchRecord, Metric};

use super::{causes, conditions, metrics, picture, slow_runs};
use crate::TimeUnit;
use crate::distribution::sorted;
use crate::line::{Line, Page, Tone};
use crate::quantity::{counted, format_time, supported_decimals};
use crate::session::Subject;
use crate::text::columns;

/// A run shorter than this many floors shows the floor: below it, more than 5 % of the time is the
/// cost of running nothing.
const FLOOR_MATTERS_BELOW: f64 = 20.0;

/// Writes everything about one benchmark.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    subject: &Subject,
    unit: Option<TimeUnit>,
) {
    title(page, record, subject);
    conditions::own(page, record, subject.benchmark);
    if subject.runs.is_empty() {
        page.field("", Tone::Notice, "no run was made");
        return;
    }
    if !metrics::write(page, subject, unit) {
        page.field(
            "",
            Tone::Notice,
            "the runs are recorded, but the session ended before they were summarised",
        );
    }
    let times = sorted(subject.values(Metric::Wall));
    picture::write(page, &times, unit);
    for (label, tone, text) in causes::where_time_went(subject) {
        page.field(label, tone, &text);
    }
    floor(page, record, subject, unit);
    metrics::counts(page, subject);
    if let Some((label, tone, text)) = slow_runs::fact(subject, &times, unit) {
        page.field(label, tone, &text);
    }
    causes::failures(page, subject);
    if let Some((label, tone, text)) = causes::left_behind(subject) {
        page.field(label, tone, &text);
    }
}

/// Number, name, and the number of runs at the right edge.
fn title(page: &mut Page, record: &BenchRecord, subject: &Subject) {
    let runs = counted(subject.runs.len() as u64, "run", "runs");
    let number = if record.benchmarks.len() > 1 {
        format!("{}: ", subject.index + 1)
    } else {
        String::new()
    };
    let room = page.width().saturating_sub(number.len() + runs.len() + 2);
    let name = page.fit(&subject.benchmark.name, room);
    let line = Line::new().add(Tone::Quiet, number).add(Tone::Strong, name);
    let end = page.width() - columns(&runs);
    page.push(line.pad_to(end).add(Tone::Quiet, runs));
}

/// The cost of running nothing, beside a time that it is a large part of.
fn floor(page: &mut Page, record: &BenchRecord, subject: &Subject, unit: Option<TimeUnit>) {
    let Some(floor) = record
        .outcome
        .as_ref()
        .and_then(|outcome| outcome.floor.as_ref())
    else {
        return;
    };
    let Some(median) = subject.median(Metric::Wall) else {
        return;
    };
    if median >= FLOOR_MATTERS_BELOW * floor.wall.value {
        return;
    }
    // In the unit of the time that it is a part of, so that the two can be compared at a glance.
    let unit = unit.unwrap_or_else(|| TimeUnit::fitting(median));
    let decimals = supported_decimals(&floor.wall, unit.seconds()).min(3);
    let time = format_time(floor.wall.value, Some(unit), decimals).replace(' ', "\u{a0}");
    page.field(
        "floor",
        Tone::Plain,
        &format!(
            "{time} of this is process start-up: an empty program run the same way (not subtracted)"
        ),
    );
}
