//! What was a stage doing at each moment, out of what each of its threads did? Pure.

/// What a stage does at a moment. Of several threads the one with the first of these counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doing {
    Running,
    WaitsForInput,
    WaitsForReader,
    /// Sleeps, or waits for a disk, a lock, a child.
    WaitsForOther,
    /// Could run and has no CPU.
    Ready,
}

const KINDS: usize = 5;

/// A stretch of one thread's or of the stage's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub from: u64,
    pub to: u64,
    pub doing: Doing,
}

/// A thread: its life, and when it was off the CPU. In between it ran.
#[derive(Debug, Clone, Default)]
pub(super) struct Life {
    pub from: u64,
    pub to: u64,
    pub off: Vec<Span>,
}

impl Life {
    /// Its whole life without gaps.
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
                    doing: Doing::Running,
                });
            }
            spans.push(Span { from, to, ..span });
            at = to;
        }
        if self.to > at {
            spans.push(Span {
                from: at,
                to: self.to,
                doing: Doing::Running,
            });
        }
        spans
    }
}

/// The stage from `from` to `to` without gaps; where it had no thread it waited for something else.
pub(super) fn stage(lives: &[Life], from: u64, to: u64) -> Vec<Span> {
    let mut changes: Vec<(u64, usize, i64)> = Vec::new();
    for span in lives.iter().flat_map(Life::spans) {
        changes.push((span.from, span.doing as usize, 1));
        changes.push((span.to, span.doing as usize, -1));
    }
    changes.sort_unstable();
    let mut count = [0i64; KINDS];
    let mut spans: Vec<Span> = Vec::new();
    let mut at = from;
    let mut next = 0;
    while at < to {
        while next < changes.len() && changes[next].0 <= at {
            count[changes[next].1] += changes[next].2;
            next += 1;
        }
        let until = changes.get(next).map_or(to, |change| change.0.min(to));
        push(&mut spans, at, until, doing(&count));
        at = until;
    }
    spans
}

fn doing(count: &[i64; KINDS]) -> Doing {
    let order = [
        Doing::Running,
        Doing::WaitsForInput,
        Doing::WaitsForReader,
        Doing::WaitsForOther,
        Doing::Ready,
    ];
    let first = order.into_iter().find(|doing| count[*doing as usize] > 0);
    first.unwrap_or(Doing::WaitsForOther)
}

fn push(spans: &mut Vec<Span>, from: u64, to: u64, doing: Doing) {
    match spans.last_mut() {
        Some(last) if last.doing == doing && last.to == from => last.to = to,
        _ if to > from => spans.push(Span { from, to, doing }),
        _ => {}
    }
}

/// Time of each kind between two moments.
pub(super) fn time_of(spans: &[Span], doing: Doing, from: u64, to: u64) -> u64 {
    let within = |span: &Span| span.to.min(to).saturating_sub(span.from.max(from));
    let of_kind = spans.iter().filter(|span| span.doing == doing);
    of_kind.map(within).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Doing::{Ready, Running, WaitsForInput, WaitsForOther, WaitsForReader};

    fn span(from: u64, to: u64, doing: Doing) -> Span {
        Span { from, to, doing }
    }

    #[test]
    fn a_thread_runs_where_it_does_not_wait() {
        let life = Life {
            from: 0,
            to: 100,
            off: vec![span(60, 80, Ready), span(10, 50, WaitsForInput)],
        };
        let told = stage(&[life], 0, 100);
        let wanted = [
            span(0, 10, Running),
            span(10, 50, WaitsForInput),
            span(50, 60, Running),
            span(60, 80, Ready),
            span(80, 100, Running),
        ];
        assert_eq!(told, wanted);
        assert_eq!(time_of(&told, WaitsForInput, 0, 30), 20);
        assert_eq!(time_of(&told, Running, 0, 100), 40);
    }

    #[test]
    fn a_stage_runs_while_one_of_its_threads_does() {
        let reader = Life {
            from: 0,
            to: 100,
            off: vec![span(0, 100, WaitsForInput)],
        };
        let worker = Life {
            from: 20,
            to: 90,
            off: vec![span(40, 90, WaitsForReader)],
        };
        let told = stage(&[reader, worker], 0, 120);
        let wanted = [
            span(0, 20, WaitsForInput),
            span(20, 40, Running),
            span(40, 100, WaitsForInput),
            span(100, 120, WaitsForOther),
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn overlapping_and_outlying_waits_do_no_harm() {
        let life = Life {
            from: 10,
            to: 50,
            off: vec![
                span(0, 20, WaitsForInput),
                span(15, 30, Ready),
                span(45, 90, Ready),
            ],
        };
        let told = stage(&[life], 10, 50);
        let whole: u64 = told.iter().map(|span| span.to - span.from).sum();
        assert_eq!(whole, 40);
        assert!(told.windows(2).all(|pair| pair[0].to == pair[1].from));
    }
}
