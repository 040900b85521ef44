//! The phases of all programs as stacked bars on one axis.

use fathom_model::{StartupPhase, StartupRecord, StartupTrace};

use super::phases;
use super::words::{self, name as program_name, numbered};
use crate::page::{Bar, bars, figure, legend};
use crate::text::{html, words as own};

/// Draws the phases, and lists what can't be drawn, with the reason.
pub(super) fn phases(record: &StartupRecord) -> String {
    let drawn: Vec<&StartupTrace> = record
        .traces
        .iter()
        .filter(|trace| !trace.phases.is_empty() && phases::no_shares(trace).is_none())
        .collect();
    let mut out = String::new();
    if record.traces.is_empty() {
        out.push_str("<p>No way to observe was allowed that shows phases.</p>\n");
    }
    for trace in record.traces.iter().filter(|t| !t.phases.is_empty()) {
        if let Some(why) = phases::no_shares(trace) {
            out.push_str(&format!(
                "<p>No phases are drawn of {}: {}.</p>\n",
                html(program_name(record, trace.program)),
                own(why)
            ));
        }
    }
    if drawn.iter().all(|trace| total(trace) == 0) {
        return out;
    }
    let names: Vec<String> = drawn.iter().map(|t| numbered(record, t.program)).collect();
    let rows: Vec<Bar> = drawn
        .iter()
        .zip(&names)
        .map(|(t, name)| bar(t, name))
        .collect();
    let used = |phase: &StartupPhase| {
        let mut all = drawn.iter().flat_map(|trace| &trace.phases);
        all.any(|part| part.phase == *phase)
    };
    let entries = ORDER.into_iter().filter(used);
    let entries = entries.map(|phase| (class(phase), words::phase(phase)));
    let drawing = bars(&rows, "Phases of each start") + &legend(entries);
    let caption =
        "Medians of additional, observed runs; the distributions above are from unobserved runs.";
    out + &figure(&drawing, caption)
}

/// The phases in the order of a start.
const ORDER: [StartupPhase; 9] = [
    StartupPhase::Wrappers,
    StartupPhase::Exec,
    StartupPhase::Loader,
    StartupPhase::Entry,
    StartupPhase::RuntimeAndMain,
    StartupPhase::LoaderToMain,
    StartupPhase::FirstWrite,
    StartupPhase::Exit,
    StartupPhase::WaitingForCpu,
];

fn total(trace: &StartupTrace) -> u64 {
    trace.phases.iter().map(|phase| phase.ns).sum()
}

fn bar<'a>(trace: &StartupTrace, name: &'a str) -> Bar<'a> {
    let parts = trace.phases.iter().map(|part| {
        let title = format!("{}: {}", words::phase(part.phase), words::time_ns(part.ns));
        (class(part.phase), part.ns as f64 / 1e9, title)
    });
    Bar {
        name,
        parts: parts.collect(),
        total: words::time_ns(total(trace)),
    }
}

/// Returns the class that gives a phase its color.
fn class(phase: StartupPhase) -> &'static str {
    match phase {
        StartupPhase::Wrappers => "wrappers",
        StartupPhase::Exec => "exec",
        StartupPhase::Loader | StartupPhase::Entry => "loader",
        StartupPhase::RuntimeAndMain | StartupPhase::LoaderToMain => "main",
        StartupPhase::FirstWrite => "write",
        StartupPhase::Exit => "exit",
        StartupPhase::WaitingForCpu => "starved",
    }
}
