//! Determines the call that each wait was in.
//!
//! The kernel's records show exactly when a thread waited; occasional samples from outside show in which
//! call. A sample inside a wait names the wait. Short waits without a sample are distributed: a sample hits a
//! wait of length `l` with the probability `l` / distance, so each short wait that was hit represents those
//! of its kind that were not.

use std::collections::HashMap;

use crate::calls;
use crate::result::{Cause, Limited, OffCpuRow};

/// The key of a kind of wait: thread, process, call, descriptor, cause.
pub(crate) type Key = (u32, u32, Option<u32>, Option<i32>, Cause);

/// The observation of a thread by one sample from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitSample {
    /// When the sample began.
    pub from: u64,
    pub to: u64,
    pub key: Key,
}

/// Waits of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    count: u64,
    total: u64,
    longest: u64,
    by_length: Vec<u32>,
}

/// Number of length classes: see [`OffCpuRow::by_length`].
const CLASSES: usize = 32;

impl Row {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.total += ns;
        self.longest = self.longest.max(ns);
        if self.by_length.is_empty() {
            self.by_length = vec![0; CLASSES];
        }
        self.by_length[class(ns)] += 1;
    }

    /// Adds a part of the unseen waits; the longest wait remains that of the seen ones.
    fn add_part(&mut self, unseen: &Row, part: Weight) {
        let of = |n: u64, part: f64| (n as f64 * part).round() as u64;
        self.count += of(unseen.count, part.count);
        self.total += of(unseen.total, part.time);
        for (sum, add) in self.by_length.iter_mut().zip(&unseen.by_length) {
            *sum += of(u64::from(*add), part.count) as u32;
        }
    }
}

fn class(ns: u64) -> usize {
    let units = ns / 1024;
    (u64::BITS - units.leading_zeros()).min(CLASSES as u32 - 1) as usize
}

/// The part of the unseen waits that one kind represents.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    time: f64,
    count: f64,
}

/// The waits of one thread.
#[derive(Debug, Default)]
pub(super) struct Waits {
    samples: Vec<WaitSample>,
    rows: HashMap<Key, Row>,
    unseen: Row,
    /// The part of the unseen waits that each kind represents.
    weights: HashMap<Key, Weight>,
}

impl Waits {
    /// Notes a sample that saw the thread wait.
    pub(super) fn saw(&mut self, sample: WaitSample) {
        self.samples.push(sample);
    }

    /// Notes that the thread came onto a CPU and left it: earlier samples belong to finished waits.
    pub(super) fn left(&mut self, at: u64) {
        self.samples.retain(|sample| sample.from >= at);
    }

    /// Ends a wait. Samples are `distance` ns apart. Returns its key, if known.
    pub(super) fn over(&mut self, from: u64, to: u64, distance: u64) -> Option<Key> {
        let ns = to.saturating_sub(from);
        let inside = |sample: &&WaitSample| sample.from >= from && sample.to <= to;
        let key = self.samples.iter().find(inside).map(|sample| sample.key);
        self.samples.retain(|sample| sample.to > to);
        match key {
            Some(key) => {
                self.rows.entry(key).or_default().add(ns);
                // For each such wait that is hit, there are distance / ns of them.
                let missed = distance.saturating_sub(ns) as f64;
                let weight = self.weights.entry(key).or_default();
                weight.time += missed;
                weight.count += missed / ns.max(1) as f64;
            }
            None => self.unseen.add(ns),
        }
        key
    }

    /// Returns all waits by kind. Waits without any sample have no call.
    pub(super) fn rows(mut self, pid: u32, tid: u32) -> Vec<OffCpuRow> {
        if self.unseen.count > 0 {
            self.share_out(pid, tid);
        }
        let rows = self.rows.into_iter().filter(|(_, row)| row.count > 0);
        rows.map(|((tid, pid, call, fd, cause), row)| OffCpuRow {
            pid,
            tid,
            call: call.map(calls::name),
            fd,
            cause,
            count: row.count,
            total_ns: row.total,
            longest_ns: Some(row.longest),
            by_length: row.by_length,
            object: None,
            limited: Limited::default(),
        })
        .collect()
    }

    fn share_out(&mut self, pid: u32, tid: u32) {
        let mut parts: Vec<(Key, Weight)> = self.weights.drain().collect();
        if parts.iter().all(|(_, weight)| weight.time <= 0.0) {
            // Only long waits were seen: the short ones are assumed to be of the same kinds.
            let seen = self.rows.iter().map(|(key, row)| {
                let (time, count) = (row.total as f64, row.count as f64);
                (*key, Weight { time, count })
            });
            parts = seen.collect();
        }
        let all = parts
            .iter()
            .fold(Weight::default(), |sum, (_, one)| Weight {
                time: sum.time + one.time,
                count: sum.count + one.count,
            });
        if all.time <= 0.0 {
            let unknown = (tid, pid, None, None, Cause::Asleep);
            self.rows.insert(unknown, std::mem::take(&mut self.unseen));
            return;
        }
        for (key, weight) in parts {
            let part = Weight {
                time: weight.time / all.time,
                count: weight.count / all.count,
            };
            if let Some(row) = self.rows.get_mut(&key) {
                row.add_part(&self.unseen, part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const READ: u32 = libc::SYS_read as u32;
    const SLEEP: u32 = libc::SYS_nanosleep as u32;

    fn key(call: u32) -> Key {
        (7, 7, Some(call), Some(0), Cause::Asleep)
    }

    fn sample(at: u64, call: u32) -> WaitSample {
        WaitSample {
            from: at,
            to: at + 10,
            key: key(call),
        }
    }

    fn reported(waits: Waits) -> Vec<(Option<String>, u64, u64)> {
        let mut rows: Vec<_> = waits
            .rows(7, 7)
            .into_iter()
            .map(|row| (row.call, row.count, row.total_ns))
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn a_sample_inside_a_wait_names_it() {
        let mut waits = Waits::default();
        waits.saw(sample(5 * MS, READ));
        waits.left(4 * MS);
        assert_eq!(waits.over(4 * MS, 9 * MS, MS), Some(key(READ)));
        assert_eq!(reported(waits), [(Some("read".into()), 1, 5 * MS)]);
    }

    #[test]
    fn a_sample_of_the_wait_before_names_nothing() {
        let mut waits = Waits::default();
        waits.saw(sample(5 * MS, READ));
        waits.left(6 * MS);
        assert_eq!(waits.over(6 * MS, 9 * MS, MS), None);
        assert_eq!(reported(waits), [(None, 1, 3 * MS)]);
    }

    /// Sleeps of 0.1 ms and reads of 0.4 ms in equal numbers, sampled every ms. Samples hit the reads four
    /// times as often, but the sums are still right.
    #[test]
    fn short_waits_that_no_sample_hit_are_shared_out_without_leaning_to_long_ones() {
        let mut waits = Waits::default();
        let (mut at, mut next) = (0, 137_000);
        for round in 0..20_000u64 {
            let (call, ns) = if round % 2 == 0 {
                (SLEEP, MS / 10)
            } else {
                (READ, 2 * MS / 5)
            };
            waits.left(at);
            if next < at + ns {
                waits.saw(sample(next, call));
            }
            waits.over(at, at + ns, MS);
            at += ns + 13_331;
            while next < at {
                next += MS;
            }
        }
        let reported = reported(waits);
        let [(sleep, sleeps, slept), (read, reads, waited)] = &reported[..] else {
            panic!("{reported:?}");
        };
        let names = [sleep.as_deref(), read.as_deref()];
        assert_eq!(names, [Some("nanosleep"), Some("read")]);
        let near = |value: u64, wanted: f64| (value as f64 / wanted - 1.0).abs() < 0.1;
        assert!(near(*slept, 1e9) && near(*waited, 4e9), "{reported:?}");
        assert!(near(*sleeps, 1e4) && near(*reads, 1e4), "{reported:?}");
    }

    #[test]
    fn lengths_have_their_classes() {
        assert_eq!(
            [0, 1023, 1024, 2047, 2048, u64::MAX].map(class),
            [0, 0, 1, 1, 2, 31]
        );
    }
}
