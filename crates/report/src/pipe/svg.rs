//! The Gantt chart: a lane for each stage, time from left to right.

use fathom_model::{PipeRecord, PipeRound, PipeState, StageRun};

use super::view::name;
use crate::axis::Axis;
use crate::page::{LEFT, RIGHT, Svg, legend};
use crate::why::time;

const ROW: f64 = 58.0;
/// Vertical positions within a row: the name, then the bar.
const BAR_TOP: f64 = 24.0;
const BAR: f64 = 22.0;

/// Class and name of each state. A bar is tall for time on a CPU and low otherwise, so that it can be read
/// without color.
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

/// Explanation of the marks on the bars.
pub(super) const MARKS: &str = "Tall: on a CPU; low: waiting. Marks above a bar: first byte out; below it: first and last byte in.";

/// Draws the round, with its legend.
pub(super) fn chart(record: &PipeRecord, round: &PipeRound) -> String {
    let axis = Axis::of_time(round.wall_ns as f64 / 1e9, LEFT, RIGHT);
    let mut svg = Svg::new();
    let bottom = ROW * round.stages.len() as f64;
    svg.across(&axis, &axis.times(), (4.0, bottom));
    for (index, run) in round.stages.iter().enumerate() {
        let top = ROW * index as f64;
        let label = format!("{} {}", index + 1, name(record, index));
        svg.name(top + 14.0, &label);
        svg.area((LEFT, RIGHT), (top + BAR_TOP, BAR), "lane", "");
        bar(&mut svg, &axis, run, top + BAR_TOP);
        marks(&mut svg, &axis, run, top + BAR_TOP);
    }
    let used = |state: PipeState| {
        let mut all = round.stages.iter().flat_map(|run| &run.stretches);
        all.any(|stretch| stretch.state == state)
    };
    let known = STATES.into_iter().filter(|(state, _, _)| used(*state));
    let known = known.map(|(_, class, words)| (class, words));
    let blind = round.stages.iter().any(|run| run.stretches.is_empty());
    let blind = blind.then_some(("unseen", "from start to end; the waits are not known"));
    let drawing = svg.finish(bottom + Svg::ticks_height(), "Each stage over time");
    drawing + &legend(known.chain(blind))
}

fn bar(svg: &mut Svg, axis: &Axis, run: &StageRun, top: f64) {
    let mut piece = |from: u64, to: u64, class: &str, words: &str| {
        let (from, to) = (from as f64 / 1e9, to as f64 / 1e9);
        let title = format!("{words}: {} to {}", time(from), time(to));
        let (x, end) = (axis.place(from), axis.place(to));
        let height = match class {
            "running" | "unseen" => BAR,
            _ => BAR / 2.0,
        };
        let middle = top + (BAR - height) / 2.0;
        // Keep short stretches visible.
        svg.area((x, end.max(x + 0.05)), (middle, height), class, &title);
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

/// Draws the marks for first and last byte in, and first byte out.
fn marks(svg: &mut Svg, axis: &Axis, run: &StageRun, top: f64) {
    let below = (top + BAR, top + BAR + 7.0);
    let points = [
        (run.first_in_ns, "first byte in", below),
        (run.last_in_ns, "last byte in", below),
        (run.first_out_ns, "first byte out", (top - 5.0, top)),
    ];
    for (ns, words, (from, to)) in points {
        if let Some(ns) = ns {
            let x = axis.place(ns as f64 / 1e9);
            let title = format!("{words}: {}", time(ns as f64 / 1e9));
            svg.line((x, from), (x, to), "byte", &title);
        }
    }
}
