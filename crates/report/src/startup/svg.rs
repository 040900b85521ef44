//! The phases of all programs as stacked bars on one scale.

use fathom_model::{StartupPhase, StartupRecord, StartupTrace};

use super::{phases, words};
use crate::text::html as text;

const WIDTH: f64 = 940.0;
const LABEL: f64 = 240.0;
const BAR: f64 = 26.0;
const ROW: f64 = 40.0;
const TOP: f64 = 30.0;
/// Names longer than this are cut, in characters.
const LONGEST_NAME: usize = 34;

/// The picture; empty where no phases were observed whose shares are those of a usual start.
pub(super) fn stacked_bars(record: &StartupRecord) -> String {
    let traces: Vec<&StartupTrace> = record
        .traces
        .iter()
        .filter(|trace| !trace.phases.is_empty() && phases::no_shares(trace).is_none())
        .collect();
    let total = |trace: &StartupTrace| trace.phases.iter().map(|phase| phase.ns).sum::<u64>();
    let longest = traces.iter().map(|trace| total(trace)).max().unwrap_or(0);
    if longest == 0 {
        return String::new();
    }
    let height = TOP + ROW * traces.len() as f64 + 10.0;
    let scale = (WIDTH - LABEL - 90.0) / longest as f64;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Phases of each start\">\n"
    );
    for tick in 0..=4u32 {
        let ns = longest / 4 * u64::from(tick);
        let x = LABEL + ns as f64 * scale;
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{height}\"/><text class=\"axis middle\" x=\"{x:.1}\" y=\"18\">{}</text>\n",
            text(&words::time_ns(ns))
        ));
    }
    for (row, trace) in traces.iter().enumerate() {
        bar(&mut out, record, trace, TOP + ROW * row as f64, scale);
    }
    out.push_str("</svg>\n");
    out
}

fn bar(out: &mut String, record: &StartupRecord, trace: &StartupTrace, y: f64, scale: f64) {
    let name = record
        .programs
        .get(trace.program)
        .map_or("?", |program| program.name.as_str());
    let mut short: String = name.chars().take(LONGEST_NAME).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    let middle = y + BAR / 2.0 + 5.0;
    out.push_str(&format!(
        "<text class=\"end\" x=\"{:.1}\" y=\"{middle:.1}\">{}<title>{}</title></text>\n",
        LABEL - 8.0,
        text(&short),
        text(name)
    ));
    let mut x = LABEL;
    for phase in &trace.phases {
        let width = phase.ns as f64 * scale;
        out.push_str(&format!(
            "<rect class=\"{}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{BAR}\"><title>{}: {}</title></rect>\n",
            class(phase.phase),
            text(words::phase(phase.phase)),
            text(&words::time_ns(phase.ns))
        ));
        x += width;
    }
    let total: u64 = trace.phases.iter().map(|phase| phase.ns).sum();
    out.push_str(&format!(
        "<text class=\"total\" x=\"{:.1}\" y=\"{middle:.1}\">{}</text>\n",
        x + 8.0,
        text(&words::time_ns(total))
    ));
}

/// The class that gives a phase its colour.
pub(super) fn class(phase: StartupPhase) -> &'static str {
    match phase {
        StartupPhase::Wrappers => "wrappers",
        StartupPhase::Exec => "exec",
        StartupPhase::Loader | StartupPhase::Entry => "loader",
        StartupPhase::RuntimeAndMain => "main",
        StartupPhase::LoaderToMain => "main",
        StartupPhase::FirstWrite => "write",
        StartupPhase::Exit => "exit",
        StartupPhase::WaitingForCpu => "starved",
    }
}
