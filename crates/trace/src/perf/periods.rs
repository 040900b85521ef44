//! The time from one sample to the next.
//!
//! A program may repeat the same work in each iteration of a loop. If an iteration takes about one sample
//! interval or a multiple of it, a fixed interval would always find the program at the same places. Therefore
//! each event has a different period, and gets a new one after some samples. The kernel starts a new period
//! when the period is set. Threads and processes created by a sampled one inherit the period that its event
//! has at that time.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use super::event;
use super::record::{self, Record, What};
use super::ring::Ring;
use crate::stacks::Random;
use crate::watch::now;

/// Minimum number of samples for which an event keeps its period; the actual number is less than
/// [`MORE_SAMPLES`] higher.
const LEAST_SAMPLES: u64 = 4;
const MORE_SAMPLES: u64 = 9;
/// Periods differ from their mean by up to one part in this number.
const SPREAD: u64 = 4;

/// The source of an event's samples: the index of its buffer, and its thread, or `None` for any thread.
type Key = (usize, Option<u32>);

/// The periods of some events.
#[derive(Debug)]
pub(crate) struct Periods {
    mean_ns: u64,
    random: Random,
    events: HashMap<Key, Event>,
}

/// An event that samples.
#[derive(Debug)]
struct Event {
    /// Valid as long as the owner's descriptor.
    fd: RawFd,
    /// Number of samples until the event gets another period.
    left: u64,
    /// Time of the event's last sample.
    last: u64,
}

impl Periods {
    /// Creates periods with this mean; 0 for events that don't sample.
    pub(crate) fn around(mean: Duration) -> Self {
        Self {
            mean_ns: mean.as_nanos() as u64,
            random: Random::from_seed(now()),
            events: HashMap::new(),
        }
    }

    /// Returns the initial period of an event.
    pub(crate) fn first(&mut self) -> u64 {
        self.any()
    }

    /// Registers an event that samples into the buffer with this index, for this thread or all threads on a
    /// CPU.
    pub(crate) fn opened(&mut self, buffer: usize, tid: Option<u32>, event: &OwnedFd) {
        let opened = Event {
            fd: event.as_raw_fd(),
            left: self.samples(),
            last: 0,
        };
        self.events.insert((buffer, tid), opened);
    }

    /// Moves the records out of their buffers, and gives new periods to events that have had theirs for long
    /// enough.
    pub(crate) fn drain(&mut self, buffers: &mut [Ring], records: &mut Vec<Record>) {
        for (buffer, ring) in buffers.iter_mut().enumerate() {
            ring.drain(|bytes| {
                let record = record::parse(bytes);
                record.iter().for_each(|record| self.saw(buffer, record));
                records.extend(record);
            });
        }
        self.renew();
    }

    /// Notes a record from this buffer.
    fn saw(&mut self, buffer: usize, record: &Record) {
        let What::Sampled { tid, .. } = record.what else {
            return;
        };
        let key = [(buffer, Some(tid)), (buffer, None)];
        let Some(key) = key.iter().find(|key| self.events.contains_key(key)) else {
            return;
        };
        let Some(event) = self.events.get_mut(key) else {
            return;
        };
        event.left = event.left.saturating_sub(1);
        event.last = event.last.max(record.at);
    }

    /// Gives a new period to events that have had theirs for long enough.
    fn renew(&mut self) {
        let due = self.events.iter().filter(|(_, event)| event.left == 0);
        let due: Vec<Key> = due.map(|(key, _)| *key).collect();
        for key in due {
            let samples = self.samples();
            let any = self.any();
            let Some(event) = self.events.get_mut(&key) else {
                continue;
            };
            event.left = samples;
            let begun = now().saturating_sub(event.last).min(self.mean_ns);
            // A thread that has ended has no more samples, so a failure doesn't matter.
            let _ = event::set_period(event.fd, period(any, begun, samples));
        }
    }

    fn samples(&mut self) -> u64 {
        LEAST_SAMPLES + self.random.below(MORE_SAMPLES)
    }

    fn any(&mut self) -> u64 {
        let spread = self.mean_ns / SPREAD;
        self.mean_ns - spread + self.random.below(2 * spread + 1)
    }
}

/// Returns the period to set in the kernel so that the next samples, and the one before them, are `any` apart
/// on average. It is shorter than `any`, because setting it discards the `begun` part of the current period.
fn period(any: u64, begun: u64, samples: u64) -> u64 {
    any - begun / samples.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::event::{Attributes, Watched};
    use std::collections::HashSet;

    const MEAN: Duration = Duration::from_micros(997);

    #[test]
    fn periods_differ_and_are_as_long_as_asked_on_the_average() {
        let mut periods = Periods::around(MEAN);
        let many: Vec<u64> = (0..1_000).map(|_| periods.first()).collect();
        let all = |least, most| many.iter().all(|it| (least..=most).contains(it));
        assert!(all(747_750, 1_246_250));
        assert!(many.iter().collect::<HashSet<_>>().len() > 900);
        let mean = many.iter().sum::<u64>() / 1_000;
        assert!((960_000..1_035_000).contains(&mean), "{mean}");
    }

    #[test]
    fn what_is_begun_anew_is_made_up_for() {
        // Seven samples, and the part lost before the first, take as long as seven periods.
        let asked = period(1_000_000, 350_000, 7);
        assert_eq!(7 * asked + 350_000, 7_000_000);
        // With the largest loss, the shortest period and the fewest samples, half of the mean period remains.
        assert_eq!(period(750_000, 1_000_000, LEAST_SAMPLES), 500_000);
    }

    #[test]
    fn an_event_gets_another_period_after_some_of_its_own_samples() {
        let attributes = Attributes::recording(Some(MEAN), 0);
        let own = Watched::Thread(std::process::id());
        let event = match event::open(&attributes, own, 0) {
            Ok(Some(event)) => event,
            refused => return fathom_test_log::skipped(&format!("no perf events: {refused:?}")),
        };
        let mut periods = Periods::around(MEAN);
        periods.opened(1, Some(10), &event);
        let left = |periods: &Periods| periods.events[&(1, Some(10))].left;
        let all = left(&periods);
        assert!((LEAST_SAMPLES..LEAST_SAMPLES + MORE_SAMPLES).contains(&all));
        let sampled = |tid| Record {
            at: 5,
            what: What::Sampled {
                pid: 10,
                tid,
                address: 0,
                stack: None,
            },
        };
        periods.saw(1, &sampled(11));
        periods.saw(0, &sampled(10));
        assert_eq!(left(&periods), all);
        (0..all).for_each(|_| periods.saw(1, &sampled(10)));
        assert_eq!(left(&periods), 0);
        periods.renew();
        assert!(left(&periods) >= LEAST_SAMPLES);
        event::set_period(event.as_raw_fd(), 1_234_567).expect("the kernel takes it");
    }
}
