//! Sums up the hits.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::MutexRow;

const LOST: u32 = 2;
const THROTTLED: u32 = 5;
const SAMPLE: u32 = 9;

/// A goroutine that reached a probed place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Time of the hit, in ns of the monotonic clock.
    pub at: u64,
    pub pid: u32,
    pub goroutine: u64,
    /// Whether the goroutine's wait begins here; if false, it ends.
    pub begins: bool,
}

/// A decoded record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    Hit(Hit),
    /// Number of missing hits; 1 if an unknown number is missing over a period.
    Lost(u64),
    Nothing,
}

/// Decodes a record. A sample consists of the event's id, the process and thread, the time, the set of
/// registers, and the register. `begins` has the ids of events at which a wait begins.
pub(super) fn parse(record: &[u8], begins: &[u64]) -> Parsed {
    let kind = record
        .first_chunk::<4>()
        .map(|kind| u32::from_ne_bytes(*kind));
    let numbers = record.get(8..).unwrap_or_default().as_chunks::<8>().0;
    let number = |at: usize| numbers.get(at).map(|it| u64::from_ne_bytes(*it));
    match kind {
        Some(SAMPLE) => {
            let (Some(event), Some(who), Some(at), Some(goroutine)) =
                (number(0), number(1), number(2), number(4))
            else {
                return Parsed::Nothing;
            };
            let [a, b, c, d, ..] = who.to_ne_bytes();
            Parsed::Hit(Hit {
                at,
                pid: u32::from_ne_bytes([a, b, c, d]),
                goroutine,
                begins: begins.contains(&event),
            })
        }
        Some(LOST) => Parsed::Lost(number(1).unwrap_or(1)),
        Some(THROTTLED) => Parsed::Lost(1),
        _ => Parsed::Nothing,
    }
}

/// Waits by process.
#[derive(Debug, Default)]
pub(super) struct Waits {
    of: BTreeMap<u32, OfProcess>,
}

#[derive(Debug, Default)]
struct OfProcess {
    row: MutexRow,
    waiting: HashMap<u64, u64>,
    waited: HashSet<u64>,
    /// The time of the last hit.
    seen: u64,
    /// Number of ends without a beginning.
    strays: u64,
}

impl Waits {
    pub(super) fn of(mut hits: Vec<Hit>) -> Self {
        hits.sort_by_key(|hit| hit.at);
        let mut new = Self::default();
        for hit in hits {
            new.of.entry(hit.pid).or_default().take(&hit);
        }
        new
    }

    /// Returns the rows of processes whose beginnings and ends match. In programs of an old Go version they
    /// don't, because the register holds something else.
    pub(super) fn rows(self) -> Vec<MutexRow> {
        let fit = |one: &OfProcess| one.row.waits > 0 && one.strays < one.row.waits;
        let rows = self.of.into_iter().filter(|(_, one)| fit(one));
        rows.map(|(pid, one)| MutexRow {
            pid,
            goroutines: one.waited.len() as u64,
            // Waits that never ended aren't counted.
            contended_ns: one.row.contended_ns.min(one.row.total_ns),
            ..one.row
        })
        .collect()
    }
}

impl OfProcess {
    fn take(&mut self, hit: &Hit) {
        // Others may begin to wait before the last of those that waited continues, up to the end.
        if !self.waiting.is_empty() {
            self.row.contended_ns += hit.at - self.seen;
        }
        self.seen = hit.at;
        if hit.begins {
            // The place is hit again if the goroutine's stack had to grow first.
            self.waiting.entry(hit.goroutine).or_insert(hit.at);
            return;
        }
        let Some(from) = self.waiting.remove(&hit.goroutine) else {
            self.strays += 1;
            return;
        };
        let ns = hit.at - from;
        self.row.waits += 1;
        self.row.total_ns += ns;
        self.row.longest_ns = self.row.longest_ns.max(ns);
        self.waited.insert(hit.goroutine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(at: u64, goroutine: u64, begins: bool) -> Hit {
        Hit {
            at,
            pid: 7,
            goroutine,
            begins,
        }
    }

    #[test]
    fn waits_are_added_up_and_where_they_overlap_once() {
        let hits = vec![
            hit(10, 1, true),
            hit(50, 1, false),
            hit(20, 2, true),
            hit(22, 2, true),
            hit(70, 2, false),
            hit(100, 1, true),
            hit(105, 1, false),
            hit(200, 3, true),
            // The third still waits.
            hit(210, 4, true),
            hit(240, 4, false),
        ];
        let row = MutexRow {
            pid: 7,
            waits: 4,
            goroutines: 3,
            total_ns: 40 + 50 + 5 + 30,
            longest_ns: 50,
            contended_ns: 60 + 5 + 40,
        };
        assert_eq!(Waits::of(hits).rows(), [row]);
    }

    #[test]
    fn where_ends_do_not_fit_nothing_is_reported() {
        let hits = vec![hit(1, 1, true), hit(2, 1, false), hit(3, 9, false)];
        assert_eq!(Waits::of(hits).rows(), []);
    }

    #[test]
    fn a_record_says_who_and_when() {
        let sample = |event: u64| {
            let mut record = SAMPLE.to_ne_bytes().to_vec();
            record.extend([0; 4]);
            record.extend(event.to_ne_bytes());
            record.extend(7u32.to_ne_bytes());
            record.extend(8u32.to_ne_bytes());
            for number in [1234u64, 2, 0xc000] {
                record.extend(number.to_ne_bytes());
            }
            record
        };
        let begin = Parsed::Hit(hit(1234, 0xc000, true));
        let end = Parsed::Hit(hit(1234, 0xc000, false));
        assert_eq!(parse(&sample(3), &[3]), begin);
        assert_eq!(parse(&sample(4), &[3]), end);
        assert_eq!(parse(&sample(4)[..30], &[3]), Parsed::Nothing);
        assert_eq!(parse(&[], &[3]), Parsed::Nothing);
    }
}
