//! What a stage did, as a picture can show it. Pure.

use fathom_model::{PipeState, PipeStretch};

use super::sweep::{Doing, Span};

/// Cells of time into which a picture divides the pipeline's life.
const CELLS: u64 = 480;

/// What the stage did in each cell of the picture, whatever it did most of it; neighbours that are
/// alike are one.
pub(super) fn stretches(spans: &[Span], wall: u64) -> Vec<PipeStretch> {
    let cell = (wall / CELLS).max(1);
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Vec::new();
    };
    let mut stretches: Vec<PipeStretch> = Vec::new();
    let mut from = first.from;
    let mut at = 0;
    while from < last.to {
        let to = ((from / cell + 1) * cell).min(last.to);
        while at < spans.len() && spans[at].to <= from {
            at += 1;
        }
        let mut times = [0u64; 5];
        for span in spans[at..].iter().take_while(|span| span.from < to) {
            times[span.doing as usize] += span.to.min(to).saturating_sub(span.from.max(from));
        }
        let state = most(&times);
        match stretches.last_mut() {
            Some(last) if last.state == state => last.to_ns = to,
            _ => stretches.push(PipeStretch {
                from_ns: from,
                to_ns: to,
                state,
            }),
        }
        from = to;
    }
    stretches
}

fn most(times: &[u64; 5]) -> PipeState {
    let of = |doing: Doing| times[doing as usize];
    let states = [
        (PipeState::NoCpu, of(Doing::Ready)),
        (PipeState::OtherWait, of(Doing::WaitsForOther)),
        (PipeState::WaitingForReader, of(Doing::WaitsForReader)),
        (PipeState::WaitingForInput, of(Doing::WaitsForInput)),
        (PipeState::Running, of(Doing::Running)),
    ];
    let most = states.into_iter().max_by_key(|(_, time)| *time);
    most.map_or(PipeState::OtherWait, |(state, _)| state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_most_of_a_cell_is_shown_and_neighbours_that_are_alike_are_one() {
        let span = |from, to, doing| Span { from, to, doing };
        let wall = CELLS * 10;
        let spans = [
            span(0, 14, Doing::Running),
            span(14, 19, Doing::WaitsForInput),
            span(19, 20, Doing::Running),
            span(20, 40, Doing::Ready),
        ];
        let told: Vec<_> = stretches(&spans, wall)
            .iter()
            .map(|s| (s.from_ns, s.to_ns, s.state))
            .collect();
        let wanted = [(0, 20, PipeState::Running), (20, 40, PipeState::NoCpu)];
        assert_eq!(told, wanted);
    }
}
