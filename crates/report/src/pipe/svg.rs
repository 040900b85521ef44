//! The Gantt chart as SVG: shapes with attributes, no style and no script inside.

use fathom_model::{PipeRecord, PipeRound, PipeState, StageRun};

use super::view::name;
use crate::text::html as text;
use crate::why::time;

/// Units of the drawing.
const WIDTH: f64 = 1000.0;
const NAMES: f64 = 150.0;
const LANE: f64 = 34.0;
const BAR: f64 = 22.0;
const TOP: f64 = 24.0;
const LEGEND: f64 = 50.0;

const STATES: [(PipeState, &str, &str); 5] = [
    (PipeState::Running, "running", "on a CPU"),
    (PipeState::WaitingForInput, "input", "waiting for input"),
    (
        PipeState::WaitingForReader,
        "reader",
        "waiting for the reader",
    ),
    (PipeState::OtherWait, "other", "other waits"),
    (PipeState::NoCpu, "nocpu", "waiting for a CPU"),
];

/// The round as one drawing.
pub(super) fn chart(record: &PipeRecord, round: &PipeRound) -> String {
    let height = TOP + LANE * round.stages.len() as f64 + LEGEND + 8.0;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"What each stage did when\">\
         <defs>\
         <pattern id=\"input\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
         <rect width=\"8\" height=\"8\" class=\"input\"/><circle cx=\"4\" cy=\"4\" r=\"1.6\" class=\"dots\"/></pattern>\
         <pattern id=\"reader\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect width=\"8\" height=\"8\" class=\"reader\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\" class=\"hatch\"/></pattern>\
         </defs>"
    );
    axis(&mut out, round);
    for (index, run) in round.stages.iter().enumerate() {
        let y = TOP + LANE * index as f64;
        out.push_str(&format!(
            "<text x=\"0\" y=\"{}\">{} {}</text><rect x=\"{NAMES}\" y=\"{y}\" width=\"{}\" height=\"{BAR}\" class=\"lane\"/>",
            y + 16.0,
            index + 1,
            text(&crate::shorten(&name(record, index), 16)),
            WIDTH - NAMES,
        ));
        bar(&mut out, run, round.wall_ns, y);
        marks(&mut out, run, round.wall_ns, y);
    }
    legend(
        &mut out,
        round,
        TOP + LANE * round.stages.len() as f64 + 16.0,
    );
    out.push_str("</svg>");
    out
}

fn at(ns: u64, wall: u64) -> f64 {
    NAMES + ns as f64 / wall.max(1) as f64 * (WIDTH - NAMES)
}

fn axis(out: &mut String, round: &PipeRound) {
    for quarter in 0..=4u64 {
        let ns = round.wall_ns * quarter / 4;
        let x = at(ns, round.wall_ns);
        let anchor = match quarter {
            0 => "start",
            4 => "end",
            _ => "middle",
        };
        out.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"12\" class=\"axis\" text-anchor=\"{anchor}\">{}</text>\
             <line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"16\" y2=\"{:.1}\" class=\"grid\"/>",
            text(&time(ns as f64 / 1e9)),
            TOP + LANE * round.stages.len() as f64 - 8.0,
        ));
    }
}

fn bar(out: &mut String, run: &StageRun, wall: u64, y: f64) {
    let mut piece = |from: u64, to: u64, class: &str, words: &str| {
        let (x, end) = (at(from, wall), at(to, wall));
        let fill = match class {
            "input" | "reader" => format!("fill=\"url(#{class})\""),
            _ => format!("class=\"{class}\""),
        };
        out.push_str(&format!(
            "<rect x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{BAR}\" {fill}><title>{}: {} to {}</title></rect>",
            (end - x).max(0.5),
            words,
            text(&time(from as f64 / 1e9)),
            text(&time(to as f64 / 1e9)),
        ));
    };
    if run.stretches.is_empty() {
        piece(run.start_ns, run.end_ns, "unseen", "from start to end");
    }
    for stretch in &run.stretches {
        let known = STATES.iter().find(|(state, _, _)| *state == stretch.state);
        if let Some((_, class, words)) = known {
            piece(stretch.from_ns, stretch.to_ns, class, words);
        }
    }
}

/// First and last byte in, first byte out.
fn marks(out: &mut String, run: &StageRun, wall: u64, y: f64) {
    let points = [
        (run.first_in_ns, "first byte in", y + BAR, y + BAR + 7.0),
        (run.last_in_ns, "last byte in", y + BAR, y + BAR + 7.0),
        (run.first_out_ns, "first byte out", y - 5.0, y),
    ];
    for (ns, words, from, to) in points {
        if let Some(ns) = ns {
            let x = at(ns, wall);
            out.push_str(&format!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from}\" y2=\"{to}\" class=\"mark\"><title>{words}: {}</title></line>",
                text(&time(ns as f64 / 1e9))
            ));
        }
    }
}

fn legend(out: &mut String, round: &PipeRound, y: f64) {
    let mut x = NAMES;
    let used = |state: PipeState| {
        let runs = round.stages.iter();
        runs.flat_map(|run| &run.stretches)
            .any(|stretch| stretch.state == state)
    };
    for (_, class, words) in STATES.into_iter().filter(|(state, _, _)| used(*state)) {
        let fill = match class {
            "input" | "reader" => format!("fill=\"url(#{class})\""),
            _ => format!("class=\"{class}\""),
        };
        out.push_str(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"22\" height=\"12\" {fill}/><text x=\"{}\" y=\"{}\" class=\"axis\">{words}</text>",
            x + 28.0,
            y + 11.0
        ));
        x += 48.0 + 7.0 * words.len() as f64;
    }
    out.push_str(&format!(
        "<text x=\"{NAMES}\" y=\"{}\" class=\"axis\">marks: above first byte out, below first and last byte in</text>",
        y + 31.0
    ));
}
