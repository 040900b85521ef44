//! Derives a stage's state at each moment from the states of its threads.

use fathom_model::PipeState;

/// The states by rank. If a stage has several threads, the state of theirs that comes first here applies.
pub(super) const BY_RANK: [PipeState; STATES] = [
    PipeState::Running,
    PipeState::WaitingForInput,
    PipeState::WaitingForReader,
    PipeState::OtherWait,
    PipeState::NoCpu,
];
pub(super) const STATES: usize = 5;

/// A stretch of the timeline of a thread or of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub from: u64,
    pub to: u64,
    pub state: PipeState,
}

/// When a thread started and ended, and when it was off the CPU; during the rest of the time it ran.
#[derive(Debug, Clone, Default)]
pub(super) struct ThreadTimeline {
    pub from: u64,
    pub to: u64,
    pub off: Vec<Span>,
}

impl ThreadTimeline {
    /// Returns the thread's spans from its start to its end without gaps.
    fn spans(&self) -> Vec<Span> {
        let mut off = self.off.clone();
        off.sort_by_key(|span| span.from);
        let mut spans = Vec::with_capacity(off.len() * 2 + 1);
        let mut at = self.from;
        for span in off {
            let (from, to) = (span.from.max(at), span.to.min(self.to));
            if to <= from {
                continue;
            }
            if from > at {
                spans.push(Span {
                    from: at,
                    to: from,
                    state: PipeState::Running,
                });
            }
            spans.push(Span { from, to, ..span });
            at = to;
        }
        if self.to > at {
            spans.push(Span {
                from: at,
                to: self.to,
                state: PipeState::Running,
            });
        }
        spans
    }
}

/// Returns the stage's spans from `from` to `to` without gaps. While it had no live thread, it counts as
/// waiting for something else.
pub(super) fn of_stage(threads: &[ThreadTimeline], from: u64, to: u64) -> Vec<Span> {
    let mut changes: Vec<(u64, usize, i64)> = Vec::new();
    for span in threads.iter().flat_map(ThreadTimeline::spans) {
        changes.push((span.from, span.state as usize, 1));
        changes.push((span.to, span.state as usize, -1));
    }
    changes.sort_unstable();
    let mut count = [0i64; STATES];
    let mut spans: Vec<Span> = Vec::new();
    let mut at = from;
    let mut next = 0;
    while at < to {
        while next < changes.len() && changes[next].0 <= at {
            count[changes[next].1] += changes[next].2;
            next += 1;
        }
        let until = changes.get(next).map_or(to, |change| change.0.min(to));
        push(&mut spans, at, until, state(&count));
        at = until;
    }
    spans
}

fn state(count: &[i64; STATES]) -> PipeState {
    let mut ranked = BY_RANK.into_iter();
    let first = ranked.find(|state| count[*state as usize] > 0);
    first.unwrap_or(PipeState::OtherWait)
}

fn push(spans: &mut Vec<Span>, from: u64, to: u64, state: PipeState) {
    match spans.last_mut() {
        Some(last) if last.state == state && last.to == from => last.to = to,
        _ if to > from => spans.push(Span { from, to, state }),
        _ => {}
    }
}

/// Returns the time in a state between two moments.
pub(super) fn time_in(spans: &[Span], state: PipeState, from: u64, to: u64) -> u64 {
    let within = |span: &Span| span.to.min(to).saturating_sub(span.from.max(from));
    let in_state = spans.iter().filter(|span| span.state == state);
    in_state.map(within).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use PipeState::{NoCpu, OtherWait, Running, WaitingForInput, WaitingForReader};

    fn span(from: u64, to: u64, state: PipeState) -> Span {
        Span { from, to, state }
    }

    #[test]
    fn a_thread_runs_where_it_does_not_wait() {
        let thread = ThreadTimeline {
            from: 0,
            to: 100,
            off: vec![span(60, 80, NoCpu), span(10, 50, WaitingForInput)],
        };
        let spans = of_stage(&[thread], 0, 100);
        let wanted = [
            span(0, 10, Running),
            span(10, 50, WaitingForInput),
            span(50, 60, Running),
            span(60, 80, NoCpu),
            span(80, 100, Running),
        ];
        assert_eq!(spans, wanted);
        assert_eq!(time_in(&spans, WaitingForInput, 0, 30), 20);
        assert_eq!(time_in(&spans, Running, 0, 100), 40);
    }

    #[test]
    fn a_stage_runs_while_one_of_its_threads_does() {
        let reader = ThreadTimeline {
            from: 0,
            to: 100,
            off: vec![span(0, 100, WaitingForInput)],
        };
        let worker = ThreadTimeline {
            from: 20,
            to: 90,
            off: vec![span(40, 90, WaitingForReader)],
        };
        let spans = of_stage(&[reader, worker], 0, 120);
        let wanted = [
            span(0, 20, WaitingForInput),
            span(20, 40, Running),
            span(40, 100, WaitingForInput),
            span(100, 120, OtherWait),
        ];
        assert_eq!(spans, wanted);
    }

    #[test]
    fn overlapping_and_outlying_waits_do_no_harm() {
        let thread = ThreadTimeline {
            from: 10,
            to: 50,
            off: vec![
                span(0, 20, WaitingForInput),
                span(15, 30, NoCpu),
                span(45, 90, NoCpu),
            ],
        };
        let spans = of_stage(&[thread], 10, 50);
        let whole: u64 = spans.iter().map(|span| span.to - span.from).sum();
        assert_eq!(whole, 40);
        assert!(spans.windows(2).all(|pair| pair[0].to == pair[1].from));
    }
}
