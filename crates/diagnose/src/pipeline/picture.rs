//! Computes what a stage did over time, for a picture.

use fathom_model::{PipeState, PipeStretch};

use super::timeline::{BY_RANK, STATES, Span};

/// Number of cells into which a picture divides the pipeline's wall time.
const CELLS: u64 = 480;

/// Returns what the stage did during most of each cell; adjacent cells with the same state are merged.
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
        let mut times = [0u64; STATES];
        for span in spans[at..].iter().take_while(|span| span.from < to) {
            times[span.state as usize] += span.to.min(to).saturating_sub(span.from.max(from));
        }
        let state = longest(&times);
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

/// Returns the state with the most time; on ties, the one of higher rank.
fn longest(times: &[u64; STATES]) -> PipeState {
    let by_rank = BY_RANK.into_iter().rev();
    let longest = by_rank.max_by_key(|state| times[*state as usize]);
    longest.unwrap_or(PipeState::OtherWait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_most_of_a_cell_is_shown_and_neighbours_that_are_alike_are_one() {
        let span = |from, to, state| Span { from, to, state };
        let wall = CELLS * 10;
        let spans = [
            span(0, 14, PipeState::Running),
            span(14, 19, PipeState::WaitingForInput),
            span(19, 20, PipeState::Running),
            span(20, 40, PipeState::NoCpu),
        ];
        let shown: Vec<_> = stretches(&spans, wall)
            .iter()
            .map(|s| (s.from_ns, s.to_ns, s.state))
            .collect();
        let wanted = [(0, 20, PipeState::Running), (20, 40, PipeState::NoCpu)];
        assert_eq!(shown, wanted);
    }
}
