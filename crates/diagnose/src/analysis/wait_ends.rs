//! Determines who ended the waits of a thread: a thread of its own process, or something else.

use std::collections::HashMap;

use fathom_trace::{Cause, Interval};

use super::Analysis;

/// Waits that ended in the same way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Waits {
    pub count: u64,
    pub ns: u64,
}

/// The waits of a thread, by who ended them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct WaitEnds {
    /// Waits ended by another thread of the same process, unless the caller defines it differently.
    pub own: Waits,
    /// Waits ended by a thread of another process.
    pub others: Waits,
    /// Waits ended by a timer, a device, or something that the tier doesn't see.
    pub unknown: Waits,
}

impl WaitEnds {
    /// Returns the total of all waits.
    pub(crate) fn all(self) -> Waits {
        let each = [self.own, self.others, self.unknown];
        Waits {
            count: each.iter().map(|waits| waits.count).sum(),
            ns: each.iter().map(|waits| waits.ns).sum(),
        }
    }
}

impl Analysis<'_> {
    /// Returns, for each thread that has waits in these calls, who ended them; empty without a timeline.
    pub(crate) fn ends_of_waits(&self, is_meant: impl Fn(&str) -> bool) -> HashMap<u32, WaitEnds> {
        let pid_of = |tid| self.thread(tid).map(|times| times.pid);
        self.ends_of_waits_by(is_meant, |wait, by| pid_of(by) == Some(wait.pid))
    }

    /// Like [`Self::ends_of_waits`], but `is_own` decides whether a thread that ended a wait counts as own.
    pub(crate) fn ends_of_waits_by(
        &self,
        is_meant: impl Fn(&str) -> bool,
        is_own: impl Fn(&Interval, u32) -> bool,
    ) -> HashMap<u32, WaitEnds> {
        let mut ends: HashMap<u32, WaitEnds> = HashMap::new();
        for wait in self.trace.timeline.iter().flatten() {
            let meant = wait.call.as_deref().is_some_and(&is_meant);
            let pauses = self.is_pause(wait.call.as_deref(), wait.object);
            if wait.cause != Cause::Asleep || !meant || pauses {
                continue;
            }
            let of_thread = ends.entry(wait.tid).or_default();
            let waits = match wait.woken_by.filter(|by| *by != wait.tid) {
                None => &mut of_thread.unknown,
                Some(by) if is_own(wait, by) => &mut of_thread.own,
                Some(_) => &mut of_thread.others,
            };
            waits.count += 1;
            waits.ns += wait.to_ns.saturating_sub(wait.from_ns);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls;
    use crate::fake::{Fake, ROOT};

    #[test]
    fn waits_are_distinguished_by_whose_doing_they_ended() {
        let mut fake = Fake::new(1000);
        let (worker, other) = (ROOT + 1, ROOT + 2);
        fake.thread(ROOT, worker, 0, 1000, 10);
        fake.child(other, 0, 1000, 10);
        fake.wait_for(ROOT, "futex", None, (0, 10, 10), Some(worker));
        fake.wait_for(ROOT, "futex", None, (20, 25, 26), Some(other));
        fake.wait_for(ROOT, "futex", None, (30, 32, 32), None);
        fake.wait_for(ROOT, "poll", None, (40, 90, 90), Some(worker));
        let timed = [];
        let observation = fake.observation(&timed);
        let ends = Analysis::new(&observation).ends_of_waits(calls::is_lock);
        let ms = |ms: u64| Waits {
            count: 1,
            ns: ms * 1_000_000,
        };
        let reported = WaitEnds {
            own: ms(10),
            others: ms(6),
            unknown: ms(2),
        };
        assert_eq!(ends, HashMap::from([(ROOT, reported)]));
    }
}
