//! When each thread waited, as far as samples show this.

use std::collections::HashMap;

use crate::calls;
use crate::command::TimelineOptions;
use crate::perf::Key;
use crate::result::{Cause, Interval};

/// Merges consecutive samples with the same observation into one interval.
#[derive(Debug)]
pub(super) struct Timeline {
    start: u64,
    options: TimelineOptions,
    /// The current state of each thread: the key, and the beginning and end of the interval so far.
    open: HashMap<u32, (Key, u64, u64)>,
    intervals: Vec<Interval>,
    lost: u64,
}

impl Timeline {
    pub(super) fn new(start: u64, options: TimelineOptions) -> Self {
        Self {
            start,
            options,
            open: HashMap::new(),
            intervals: Vec::new(),
            lost: 0,
        }
    }

    /// Adds a sample of a thread, which represents the time since the previous sample.
    pub(super) fn saw(&mut self, key: Key, from: u64, to: u64) {
        match self.open.get_mut(&key.0) {
            Some((same, _, end)) if *same == key => *end = to,
            _ => {
                let before = self.open.insert(key.0, (key, from, to));
                self.close(before);
            }
        }
    }

    fn close(&mut self, open: Option<(Key, u64, u64)>) {
        let Some(((tid, pid, call, fd, cause), from, to)) = open else {
            return;
        };
        let short = to.saturating_sub(from) < self.options.shortest.as_nanos() as u64;
        if cause == Cause::Running || short {
            return;
        }
        if self.intervals.len() >= self.options.most {
            self.lost += 1;
            return;
        }
        self.intervals.push(Interval {
            pid,
            tid,
            from_ns: from.saturating_sub(self.start),
            woken_ns: None,
            to_ns: to.saturating_sub(self.start),
            cause,
            call: call.map(calls::name),
            fd,
            woken_by: None,
            object: None,
        });
    }

    /// Returns all intervals, and the number of those that were not kept.
    pub(super) fn finish(mut self) -> (Option<Vec<Interval>>, u64) {
        let open: Vec<_> = self.open.drain().map(|(_, open)| open).collect();
        open.into_iter().for_each(|one| self.close(Some(one)));
        self.intervals.sort_by_key(|i| (i.to_ns, i.tid));
        (Some(self.intervals), self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_saw_the_same_are_one_wait_and_running_is_none() {
        let mut timeline = Timeline::new(1000, TimelineOptions::default());
        let reads = (7, 7, Some(0), Some(0), Cause::Asleep);
        let runs = (7, 7, None, None, Cause::Running);
        let ms = 1_000_000;
        timeline.saw(runs, 1000, 1000 + ms);
        timeline.saw(reads, 1000 + ms, 1000 + 2 * ms);
        timeline.saw(reads, 1000 + 2 * ms, 1000 + 3 * ms);
        timeline.saw(runs, 1000 + 3 * ms, 1000 + 4 * ms);
        let (intervals, lost) = timeline.finish();
        let reported: Vec<_> = intervals
            .expect("a timeline")
            .iter()
            .map(|i| (i.from_ns, i.to_ns, i.fd))
            .collect();
        assert_eq!((reported, lost), (vec![(ms, 3 * ms, Some(0))], 0));
    }
}
