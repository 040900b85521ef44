//! Sums up the stops.
//!
//! The tables have the same rows as those of the kernel programs, but they are filled here. This module also
//! determines the memory to read for the calls that are reported.

use std::collections::HashMap;

use crate::calls::{self, ENTRY_32, TOTALS, TOTALS_OF_CALL};
use crate::records::{CallKey, CallTotals, POLL_LIMIT_NS, POLL_LIMITS, Who};
use crate::result::SIZE_LIMITS;

/// A call that was entered and has not returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entered {
    /// Its number.
    pub nr: u32,
    /// Its arguments.
    pub args: [u64; 6],
    /// Its descriptor; -1 if there is none.
    pub fd: i32,
    /// When it was entered, ns of the monotonic clock.
    pub at: u64,
}

/// Rows by thread, call and descriptor.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The rows.
    pub rows: HashMap<CallKey, CallTotals>,
    /// Number of calls of each row that were made in the second half of the budget.
    pub second_half: HashMap<CallKey, u64>,
}

impl Entered {
    /// Creates a call that is entered now. `memory` reads the caller's memory, by address and length.
    pub(super) fn new(
        nr: u32,
        args: [u64; 6],
        at: u64,
        memory: impl Fn(u64, usize) -> Vec<u8>,
    ) -> Self {
        let flags = calls::flags(nr);
        let polled = || Some(i32::from_ne_bytes(memory(args[0], 4).try_into().ok()?));
        let fd = match () {
            () if flags & calls::FD != 0 => args[0] as i32,
            () if flags & calls::POLLS_ONE != 0 && args[1] == 1 => polled().unwrap_or(-1),
            () if flags & calls::SELECTS_ONE != 0 => selected(&args, memory).unwrap_or(-1),
            () => -1,
        };
        Self { nr, args, fd, at }
    }
}

/// Returns the descriptor that a `select` waits for, if there is exactly one.
fn selected(args: &[u64; 6], memory: impl Fn(u64, usize) -> Vec<u8>) -> Option<i32> {
    let set = match (args[1], args[2], args[3]) {
        (set, 0, 0) | (0, set, 0) => memory(set, 8),
        _ => return None,
    };
    let bits = u64::from_ne_bytes(set.try_into().ok()?);
    let asked = match u32::try_from(args[0]) {
        Ok(count @ 0..64) => bits & ((1 << count) - 1),
        _ => bits,
    };
    (asked.count_ones() == 1).then(|| asked.trailing_zeros() as i32)
}

fn key(who: Who, call: &Entered) -> CallKey {
    CallKey {
        who,
        nr: call.nr,
        fd: call.fd,
    }
}

impl Table {
    fn row(&mut self, who: Who, call: &Entered) -> &mut CallTotals {
        let key = key(who, call);
        let fresh = CallTotals {
            first: call.at,
            ..CallTotals::default()
        };
        self.rows.entry(key).or_insert(fresh)
    }

    /// Notes that the call that returned belongs to the second half of the budget.
    pub(super) fn was_late(&mut self, who: Who, call: &Entered) {
        *self.second_half.entry(key(who, call)).or_default() += 1;
    }

    /// Handles the return of a call. `memory` reads the caller's memory, by address and length.
    pub(super) fn returned(
        &mut self,
        who: Who,
        call: &Entered,
        result: i64,
        now: u64,
        memory: impl Fn(u64, usize) -> Vec<u8>,
    ) {
        let interrupted = i64::from(calls::INTERRUPTED_LAST)..=calls::INTERRUPTED_FIRST.into();
        if interrupted.contains(&result) {
            return self.cut_off(who, call, now);
        }
        let row = self.row(who, call);
        row.calls += 1;
        row.total += now - call.at;
        if (-4095..0).contains(&result) {
            row.errors += 1;
            row.would_block += u64::from(result == -i64::from(libc::EAGAIN));
        } else if calls::flags(call.nr) & calls::BYTES != 0 {
            let bytes = result as u64;
            row.bytes += bytes;
            let class = SIZE_LIMITS.iter().position(|limit| bytes <= *limit);
            row.sizes[class.unwrap_or(SIZE_LIMITS.len())] += 1;
            if calls::flags(call.nr) & calls::PLACED != 0 {
                let place = call.args[3];
                let skipped = place.wrapping_sub(row.next_place);
                row.went_on += u64::from(place == u64::MAX || skipped < calls::SHORT_SKIP);
                if place != u64::MAX {
                    row.next_place = place + bytes;
                }
            }
            let buffered = calls::flags(call.nr) & calls::BUFFER1 != 0;
            let examines = buffered && bytes > 0 && row.examinations < calls::LINE_SAMPLES;
            row.examinations += u64::from(examines);
            if let Some(last) = examines.then(|| memory(call.args[1] + bytes - 1, 1))
                && let [last] = last[..]
            {
                row.examined += 1;
                row.lines += u64::from(last == b'\n');
            }
        } else if calls::flags(call.nr) & calls::POLL != 0 && result == 0 {
            row.sizes[POLL_LIMITS] += 1;
            row.sizes[POLL_LIMIT_NS] += now - call.at;
        }
    }

    /// Handles a call that was interrupted, that will never return, or whose return won't be seen.
    pub(super) fn cut_off(&mut self, who: Who, call: &Entered, now: u64) {
        let row = self.row(who, call);
        row.unfinished += 1;
        row.total += now - call.at;
    }

    /// Returns the sums of each of [`TOTALS`] on `fd` by this thread, in the format of a close record.
    ///
    /// `nr` is the number of the closing call.
    pub(super) fn totals(&self, who: Who, nr: u32, fd: i32) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 * TOTALS_OF_CALL * TOTALS.len());
        for name in TOTALS {
            let nr = calls::number(name).map_or(u32::MAX, |number| number | nr & ENTRY_32);
            let row = self.rows.get(&CallKey { who, nr, fd });
            // The times are omitted because they include the stops.
            let numbers = row.map_or([0; TOTALS_OF_CALL], |r| [r.calls, r.bytes, r.errors, 0, 0]);
            out.extend(numbers.into_iter().flat_map(u64::to_ne_bytes));
        }
        out
    }
}

/// Returns whether a call with this outcome is reported, by the same rules as in the kernel programs.
pub(super) fn is_reported(nr: u32, args: &[u64; 6], result: i64) -> bool {
    let flags = calls::flags(nr);
    if result < 0 {
        return flags & calls::RECORD_ERROR != 0;
    }
    let duplicates = [libc::F_DUPFD as u64, libc::F_DUPFD_CLOEXEC as u64].contains(&args[1]);
    flags & calls::RECORD_OK != 0 && (flags & calls::IF_DUP == 0 || duplicates)
}

/// Returns the address and the length of the memory to read for a call.
pub(super) fn memory_of(nr: u32, args: &[u64; 6]) -> Option<(u64, usize)> {
    let flags = calls::flags(nr);
    let is = |flag: u32| flags & flag != 0;
    match () {
        () if is(calls::PATH0) => Some((args[0], 256)),
        () if is(calls::PATH1) => Some((args[1], 256)),
        () if is(calls::PAIR0) => Some((args[0], 8)),
        () if is(calls::PAIR3) => Some((args[3], 8)),
        () if is(calls::ADDRESS) => Some((args[1], (args[2] as usize).min(110))),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of the first of these calls that this architecture has.
    fn number(names: &[&str]) -> u32 {
        let mut numbers = names.iter().filter_map(|name| calls::number(name));
        numbers.next().expect("a call of this architecture")
    }

    fn call(name: &str, args: [u64; 6]) -> Entered {
        Entered::new(number(&[name]), args, 10, |_, _| Vec::new())
    }

    #[test]
    fn a_poll_of_one_descriptor_is_on_that() {
        let fd = |args, memory: &[u8]| {
            let nr = number(&["poll", "ppoll"]);
            Entered::new(nr, args, 10, |at, len| match (at, len) {
                (4096, 4) => memory.to_vec(),
                _ => Vec::new(),
            })
            .fd
        };
        let seven = 7i32.to_ne_bytes();
        assert_eq!(fd([4096, 1, 50, 0, 0, 0], &seven), 7);
        assert_eq!(fd([4096, 2, 50, 0, 0, 0], &seven), -1);
        assert_eq!(fd([0, 0, 50, 0, 0, 0], &seven), -1);
        assert_eq!(fd([4096, 1, 50, 0, 0, 0], &[]), -1);
    }

    const ME: Who = Who { tid: 2, pid: 1 };

    #[test]
    fn results_go_to_bytes_sizes_and_errors() {
        let mut t = Table::default();
        let read = call("read", [7, 0, 0, 0, 0, 0]);
        for result in [1, 1, 4096, 0, -11, -5] {
            t.returned(ME, &read, result, 15, |_, _| Vec::new());
        }
        let (nr, fd) = (read.nr, 7);
        let row = t.rows[&CallKey { who: ME, nr, fd }];
        assert_eq!(
            (row.calls, row.bytes, row.errors, row.would_block),
            (6, 4098, 2, 1)
        );
        assert_eq!(row.sizes, [1, 2, 0, 0, 0, 1, 0, 0]);
        assert_eq!((row.total, row.first), (30, 10));
    }

    #[test]
    fn the_last_byte_of_a_write_says_whether_it_ends_a_line() {
        let mut t = Table::default();
        let write = call("write", [1, 4096, 8, 0, 0, 0]);
        for (result, last) in [(8, b"\n"), (3, b"x"), (1, b"\n"), (0, b"\n"), (-11, b"\n")] {
            t.returned(ME, &write, result, 15, |at, len| {
                assert_eq!((at, len), (4096 + result as u64 - 1, 1));
                last.to_vec()
            });
        }
        t.returned(ME, &write, 5, 15, |_, _| Vec::new());
        let (nr, fd) = (write.nr, 1);
        let row = t.rows[&CallKey { who: ME, nr, fd }];
        assert_eq!((row.calls, row.examined, row.lines), (6, 3, 2));
    }

    #[test]
    fn memory_that_is_not_there_is_not_examined_for_ever() {
        let mut t = Table::default();
        let write = call("write", [1, 4096, 8, 0, 0, 0]);
        let readings = std::cell::Cell::new(0);
        for _ in 0..1_000 {
            t.returned(ME, &write, 8, 15, |_, _| {
                readings.set(readings.get() + 1);
                Vec::new()
            });
        }
        assert_eq!(readings.get(), calls::LINE_SAMPLES);
    }

    #[test]
    fn a_select_is_on_the_one_descriptor_that_is_asked_for() {
        let on = |args: [u64; 6], bits: u64| {
            let memory = |at: u64, _| match at {
                100 => bits.to_ne_bytes().to_vec(),
                _ => Vec::new(),
            };
            let nr = number(&["select", "pselect6"]);
            Entered::new(nr, args, 0, memory).fd
        };
        assert_eq!(on([6, 100, 0, 0, 0, 0], 1 << 5), 5);
        assert_eq!(on([64, 0, 100, 0, 0, 0], 1 << 63), 63);
        // Perl passes the number of bits rounded up to whole bytes; other programs pass the maximum.
        assert_eq!(on([8, 100, 0, 0, 0, 0], 1 << 3), 3);
        assert_eq!(on([1024, 100, 0, 0, 0, 0], 1 << 63), 63);
        assert_eq!(
            on([4, 100, 0, 0, 0, 0], 1 << 5 | 1 << 3),
            3,
            "5 isn't asked for"
        );
        assert_eq!(on([6, 100, 0, 0, 0, 0], 1 << 5 | 1), -1);
        assert_eq!(on([0, 100, 0, 0, 0, 0], 1), -1);
        assert_eq!(on([6, 100, 100, 0, 0, 0], 1), -1);
        assert_eq!(on([6, 100, 0, 100, 0, 0], 1), -1);
        assert_eq!(on([6, 0, 0, 0, 0, 0], 1), -1, "a pause");
    }

    #[test]
    fn reads_that_go_on_are_distinguished_from_those_elsewhere() {
        let mut t = Table::default();
        let nr = calls::number("pread64").expect("a call of this architecture");
        let mut read = |at: u64, result| {
            let call = Entered::new(nr, [7, 0, 24, at, 0, 0], 10, |_, _| Vec::new());
            t.returned(ME, &call, result, 15, |_, _| Vec::new());
            t.rows.values().map(|row| row.went_on).sum::<u64>()
        };
        assert_eq!(read(0, 24), 1);
        assert_eq!(read(24, 24), 2);
        assert_eq!(read(24, -5), 2, "an error");
        assert_eq!(read(48 + 4095, 24), 3, "a short skip");
        assert_eq!(read(48, 24), 3, "back");
        assert_eq!(read(72 + 4096, 24), 3, "far on");
        assert_eq!(read(u64::MAX, 24), 4, "where the file is at");
        assert_eq!(read(96 + 4096, 24), 5);
    }

    #[test]
    fn polls_say_how_often_and_how_long_until_their_limit() {
        let mut t = Table::default();
        let nr = number(&["poll", "ppoll"]);
        let poll = Entered::new(nr, [0, 1, 50, 0, 0, 0], 10, |_, _| Vec::new());
        for (result, now) in [(1, 15), (0, 60), (0, 70), (-4, 80)] {
            t.returned(ME, &poll, result, now, |_, _| Vec::new());
        }
        let (nr, fd) = (poll.nr, -1);
        let row = t.rows[&CallKey { who: ME, nr, fd }];
        assert_eq!((row.calls, row.errors), (4, 1));
        assert_eq!((row.sizes[POLL_LIMITS], row.sizes[POLL_LIMIT_NS]), (2, 110));
    }

    #[test]
    fn only_duplicating_fcntls_are_reported() {
        let set_flags = call("fcntl", [3, libc::F_SETFD as u64, 0, 0, 0, 0]);
        let duplicate = call("fcntl", [3, libc::F_DUPFD as u64, 0, 0, 0, 0]);
        assert!(!is_reported(set_flags.nr, &set_flags.args, 0));
        assert!(is_reported(duplicate.nr, &duplicate.args, 9));
        assert!(!is_reported(duplicate.nr, &duplicate.args, -9));
    }
}
