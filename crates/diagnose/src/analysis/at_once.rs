//! Determines how long threads were on a CPU at the same time.

use super::Analysis;
use crate::intervals::by_thread;
use crate::thread_times::{ThreadTimes, Threads};
use crate::thresholds as t;

/// Returns how long at least two of these spans were open at the same time.
fn at_once_ns(spans: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut edges: Vec<(u64, i32)> = spans
        .filter(|(from, to)| from < to)
        .flat_map(|(from, to)| [(from, 1), (to, -1)])
        .collect();
    edges.sort_unstable();
    let (mut open, mut sum, mut last) = (0, 0, 0);
    for (at, change) in edges {
        if open >= 2 {
            sum += at - last;
        }
        open += change;
        last = at;
    }
    sum
}

impl Analysis<'_> {
    /// Reports whether these threads were hardly ever on a CPU at the same time, although threads that don't
    /// depend on each other would have been, with the CPU time that these got. This also holds on a busy
    /// machine. Returns false if the trace doesn't have the waits in order.
    pub(crate) fn take_turns(&self, threads: &[&ThreadTimes]) -> bool {
        let (lost, span) = (&self.trace.lost, threads.span());
        let cpus = self.observation.cpus.min(threads.len());
        let (Some((from, to)), true) = (span, self.trace.timeline.is_some() && cpus > 1) else {
            return false;
        };
        if lost.intervals > 0 || lost.records > 0 {
            return false;
        }
        // With this chance, each CPU is used by one of the threads at any time.
        let cpus = cpus as f64;
        let used = (threads.cpu_ns() / (to - from).max(1) as f64 / cpus).min(1.0);
        let free = 1.0 - used;
        let two = 1.0 - free.powf(cpus) - cpus * used * free.powf(cpus - 1.0);
        let waits = by_thread(self.trace);
        let running = threads.iter().flat_map(|times| {
            let off = waits.get(&times.tid).into_iter().flatten();
            let ends = off.clone().map(|wait| wait.to_ns);
            let begins = off.map(|wait| wait.from_ns).chain([times.to_ns]);
            std::iter::once(times.from_ns).chain(ends).zip(begins)
        });
        let at_once = at_once_ns(running) as f64 / (to - from).max(1) as f64;
        two >= t::LEAST_AT_ONCE && at_once <= t::AT_ONCE_IN_TURNS * two
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, ROOT};

    #[test]
    fn spans_are_compared() {
        let spans = [(0, 10), (5, 8), (6, 7), (9, 20), (30, 30)];
        assert_eq!(at_once_ns(spans.into_iter()), 4);
        assert_eq!(at_once_ns([].into_iter()), 0);
    }

    #[test]
    fn threads_that_never_run_at_once_take_turns_however_little_they_get() {
        let take_turns = |shift: u64| {
            let mut fake = Fake::new(1000);
            for (tid, from) in [(101, 0), (102, shift)] {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                for turn in 0..24 {
                    let at = turn * 40 + from;
                    fake.wait_for(tid, "futex", None, (at + 10, at + 10, at + 40), Some(101));
                }
                fake.wait_for(tid, "futex", None, (0, 0, from), None);
            }
            let observation = fake.observation(&[]);
            let analysis = Analysis::new(&observation);
            let threads = analysis.threads_that(|times| times.tid != ROOT);
            analysis.take_turns(&threads)
        };
        assert!(take_turns(20));
        assert!(!take_turns(3));
    }
}
