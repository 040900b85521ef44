//! The Gantt chart on the terminal: a line for each stage, time from left to right.

use fathom_model::{PipeRecord, PipeRound, PipeState, StageRun};

use super::view::name;
use crate::line::{Line, Page, Tone};
use crate::why::time;

/// Width of number and name.
const NAMES: usize = 15;
/// The maximum width of the chart: more columns don't add information.
const WIDEST: usize = 100;

/// The content of one column of the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Absent,
    State(PipeState),
    /// The stage was running, but its state is unknown.
    Unseen,
}

/// The states in the order of the legend.
const STATES: [(PipeState, &str); 5] = [
    (PipeState::Running, "on a CPU"),
    (PipeState::WaitingForInput, "waiting for input"),
    (PipeState::WaitingForReader, "waiting for the reader"),
    (PipeState::OtherWait, "other waits"),
    (PipeState::NoCpu, "waiting for a CPU"),
];

/// Draws the round, below its title if it has one.
pub(super) fn write(page: &mut Page, record: &PipeRecord, round: &PipeRound, title: &str) {
    page.gap();
    if !title.is_empty() {
        page.push(Line::new().add(Tone::Strong, title));
    }
    let width = page.width().min(WIDEST).saturating_sub(NAMES + 3).max(10);
    let mut seen: Vec<Cell> = Vec::new();
    for (index, run) in round.stages.iter().enumerate() {
        let label = format!("{} {}", index + 1, name(record, index));
        let mut line = Line::new()
            .add(Tone::Plain, "  ")
            .add(Tone::Plain, page.fit(&label, NAMES))
            .pad_to(NAMES + 3);
        for cell in cells(run, round.wall_ns, width) {
            if !seen.contains(&cell) {
                seen.push(cell);
            }
            let (glyph, tone) = look(cell, page.unicode());
            line = line.add(tone, glyph.to_string());
        }
        page.push(line);
    }
    let end = time(round.wall_ns as f64 / 1e9);
    let axis = Line::new().pad_to(NAMES + 3).add(Tone::Quiet, "0");
    page.push(
        axis.pad_to((NAMES + 3 + width).saturating_sub(crate::columns(&end)))
            .add(Tone::Quiet, end),
    );
    legend(page, &seen);
}

fn legend(page: &mut Page, seen: &[Cell]) {
    let known = STATES.map(|(state, words)| (Cell::State(state), words));
    let unseen = (Cell::Unseen, "from start to end; the waits are not known");
    let shown = known
        .into_iter()
        .chain([unseen])
        .filter(|(cell, _)| seen.contains(cell));
    let mut line = Line::new();
    let mut used = 0;
    for (cell, words) in shown {
        let wide = 5 + words.len();
        if used > 0 && used + wide > page.width() {
            page.push(std::mem::take(&mut line));
            used = 0;
        }
        let (glyph, tone) = look(cell, page.unicode());
        line = line
            .add(tone, format!("  {glyph}{glyph}"))
            .add(Tone::Quiet, format!(" {words}"));
        used += wide;
    }
    page.push(line);
}

fn look(cell: Cell, unicode: bool) -> (char, Tone) {
    let (fine, plain, tone) = match cell {
        Cell::Absent => (' ', ' ', Tone::Plain),
        Cell::State(PipeState::Running) => ('█', '#', Tone::OwnTime),
        Cell::State(PipeState::WaitingForInput) => ('░', '<', Tone::WaitTime),
        Cell::State(PipeState::WaitingForReader) => ('▒', '>', Tone::StarvedTime),
        Cell::State(PipeState::OtherWait) => ('·', '.', Tone::Quiet),
        Cell::State(PipeState::NoCpu) => ('╳', 'x', Tone::Bad),
        Cell::Unseen => ('▬', '=', Tone::Plain),
    };
    (if unicode { fine } else { plain }, tone)
}

/// Divides `wall` into `width` equal parts and returns the stage's most frequent state in each. A stage that
/// ran at all has at least one cell.
fn cells(run: &StageRun, wall: u64, width: usize) -> Vec<Cell> {
    let wall = wall.max(1) as f64;
    let at = |ns: u64| ns as f64 / wall * width as f64;
    let (start, end) = (at(run.start_ns), at(run.end_ns));
    let mut cells = vec![Cell::Absent; width];
    let first = (start as usize).min(width - 1);
    let last = (end.ceil() as usize).clamp(first + 1, width);
    for (index, cell) in cells.iter_mut().enumerate().take(last).skip(first) {
        let (from, to) = (index as f64, index as f64 + 1.0);
        let mut times = [0.0f64; STATES.len()];
        for stretch in &run.stretches {
            let overlap = at(stretch.to_ns).min(to) - at(stretch.from_ns).max(from);
            let place = STATES.iter().position(|(state, _)| *state == stretch.state);
            if let (true, Some(place)) = (overlap > 0.0, place) {
                times[place] += overlap;
            }
        }
        let most = (0..times.len()).max_by(|a, b| times[*a].total_cmp(&times[*b]));
        let most = most.filter(|most| times[*most] > 0.0);
        *cell = most.map_or(Cell::Unseen, |most| Cell::State(STATES[most].0));
        // If only a sliver of the cell belongs to the stage, leave the cell empty, since readers attribute it
        // to the neighbour.
        let share = end.min(to) - start.max(from);
        if share < 0.15 && last - first > 1 && (index == first || index + 1 == last) {
            *cell = Cell::Absent;
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::{Exit, PipeStretch};

    fn run(start_ns: u64, end_ns: u64, stretches: &[(u64, u64, PipeState)]) -> StageRun {
        let stretches = stretches.iter().map(|(from_ns, to_ns, state)| PipeStretch {
            from_ns: *from_ns,
            to_ns: *to_ns,
            state: *state,
        });
        StageRun {
            stretches: stretches.collect(),
            ..StageRun::unobserved(start_ns, end_ns, Exit::Code(0))
        }
    }

    fn picture(run: &StageRun, wall: u64) -> String {
        cells(run, wall, 10)
            .into_iter()
            .map(|cell| look(cell, false).0)
            .collect()
    }

    #[test]
    fn each_part_shows_what_was_done_most() {
        let stretches = [
            (0, 60, PipeState::WaitingForInput),
            (60, 100, PipeState::Running),
        ];
        assert_eq!(picture(&run(0, 100, &stretches), 100), "<<<<<<####");
        assert_eq!(picture(&run(0, 100, &stretches), 200), "<<<##     ");
        let late = [(40, 100, PipeState::OtherWait)];
        assert_eq!(picture(&run(40, 100, &late), 100), "    ......");
    }

    #[test]
    fn a_short_stage_is_still_there_and_an_unseen_one_is_marked() {
        assert_eq!(
            picture(&run(0, 1, &[(0, 1, PipeState::Running)]), 1000),
            "#         "
        );
        assert_eq!(picture(&run(500, 1000, &[]), 1000), "     =====");
        assert_eq!(picture(&run(1000, 1000, &[]), 1000), "         =");
        assert_eq!(picture(&run(0, 0, &[]), 0), "=         ");
    }
}
