//! Decodes the bytes that the kernel programs wrote.
//!
//! Ring records and table entries are decoded to values. Times are in ns of the kernel's monotonic clock.

use crate::kernel::layout::{call, off, record, task};
use crate::result::Cause;

/// The thread and the process concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Who {
    pub tid: u32,
    pub pid: u32,
}

/// A record of the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    Follow {
        time: u64,
        who: Who,
    },
    Call {
        time: u64,
        who: Who,
        nr: u32,
        result: i64,
        args: [u64; 3],
        payload: &'a [u8],
    },
    /// The object of a call.
    Object {
        time: u64,
        who: Who,
        nr: u32,
        fd: i32,
        /// The call's first argument.
        directory: u64,
        /// The path; empty if the call has no path argument.
        path: &'a [u8],
        /// The time of calls with a path that this call represents, ns; the next field is its own duration.
        ns: u64,
        took: u64,
        /// Whether a stack record has the same thread and time.
        has_stack: bool,
    },
    Fork {
        time: u64,
        parent: Who,
        child: Who,
    },
    Exec(Executed<'a>),
    /// A program has reached its own first instruction.
    Entered {
        time: u64,
        who: Who,
        /// Whether a loader ran first.
        loaded: bool,
    },
    /// A program gave the process privileges, so it is no longer followed.
    Rights {
        time: u64,
        who: Who,
    },
    Exit(Exited<'a>),
    Off {
        who: Who,
        from: u64,
        woken: u64,
        to: u64,
        cause: Cause,
        /// The call's number and descriptor; `None` outside calls.
        call: Option<(u32, i32)>,
        waker: u32,
    },
    /// A call turned a connection from reading to writing or back.
    Turn {
        who: Who,
        on: (u32, i32),
    },
    /// A waiting call returned because its timeout expired first.
    TimeUp {
        who: Who,
        on: (u32, i32),
        /// Time since the call was entered.
        ns: u64,
    },
}

impl Record<'_> {
    /// Returns the thread concerned; for a fork, the thread that creates the new one.
    pub(crate) fn who(&self) -> Who {
        match self {
            Self::Follow { who, .. }
            | Self::Call { who, .. }
            | Self::Object { who, .. }
            | Self::Entered { who, .. }
            | Self::Rights { who, .. }
            | Self::Off { who, .. }
            | Self::Turn { who, .. }
            | Self::TimeUp { who, .. } => *who,
            Self::Fork { parent, .. } => *parent,
            Self::Exec(exec) => exec.who,
            Self::Exit(exit) => exit.who,
        }
    }
}

/// A program was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executed<'a> {
    pub time: u64,
    pub who: Who,
    /// When `execve` was called; 0 if unknown.
    pub called: u64,
    pub old_tid: u32,
    pub path: &'a [u8],
    /// The requested file, if `path` is the file that runs; otherwise empty.
    pub asked: &'a [u8],
    /// The arguments, each terminated by a zero byte.
    pub arguments: &'a [u8],
    /// Whether there were more arguments.
    pub arguments_cut: bool,
}

/// A thread has ended.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Exited<'a> {
    pub time: u64,
    pub who: Who,
    pub code: i32,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary: u64,
    pub involuntary: u64,
    pub on_cpu: u64,
    /// Time in the run queue, by the kernel's count.
    pub queued: Option<u64>,
    /// When the thread was created; 0 if unknown here.
    pub started: u64,
    /// Number of timed faults of the thread's own code.
    pub faults: u64,
    pub fault_total: u64,
    pub name: &'a [u8],
}

/// Decodes a ring record; `None` if it is of an unknown kind or too short.
pub(crate) fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let who = Who {
        tid: u32_at(bytes, record::TID)?,
        pid: u32_at(bytes, record::TGID)?,
    };
    let time = u64_at(bytes, record::TIME)?;
    let nr = u32_at(bytes, record::NR)?;
    let result = u64_at(bytes, record::RESULT)? as i64;
    let [a0, a1, a2] = [record::ARG0, record::ARG1, record::ARG2].map(|at| u64_at(bytes, at));
    let (a0, a1, a2) = (a0?, a1?, a2?);
    let payload = bytes.get(record::HEAD..)?;
    Some(match u32_at(bytes, record::KIND)? as i32 {
        record::CALL => Record::Call {
            time,
            who,
            nr,
            result,
            args: [a0, a1, a2],
            payload,
        },
        record::FOLLOW => Record::Follow { time, who },
        record::OBJECT => Record::Object {
            time,
            who,
            nr,
            fd: u32_at(bytes, record::FD)? as i32,
            directory: a0,
            path: until_zero(payload),
            ns: result as u64,
            took: a1,
            has_stack: a2 != 0,
        },
        record::FORK => Record::Fork {
            time,
            parent: who,
            child: Who {
                tid: a0 as u32,
                pid: a1 as u32,
            },
        },
        record::EXEC => {
            let (path, arguments) = payload.split_at_checked(record::PATH_MAX as usize)?;
            // If the arguments could not be read at once, only the first one is present.
            let (read_all, len) = (a1 == 0, a2 as usize);
            let arguments = match read_all {
                true => &arguments[..len.min(arguments.len())],
                false => until_zero(arguments),
            };
            Record::Exec(Executed {
                time,
                who,
                called: result as u64,
                old_tid: a0 as u32,
                path: until_zero(path),
                asked: b"",
                arguments,
                arguments_cut: arguments.len() < len,
            })
        }
        record::ENTERED => Record::Entered {
            time,
            who,
            loaded: a0 != 0,
        },
        record::RIGHTS => Record::Rights { time, who },
        record::TURN => Record::Turn {
            who,
            on: (nr, u32_at(bytes, record::FD)? as i32),
        },
        record::TIME_UP => Record::TimeUp {
            who,
            on: (nr, u32_at(bytes, record::FD)? as i32),
            ns: result as u64,
        },
        record::EXIT => Record::Exit(Exited {
            time,
            who,
            code: result as i32,
            minor_faults: a0,
            major_faults: a1,
            voluntary: u64_at(bytes, record::EXIT_VOLUNTARY)?,
            involuntary: u64_at(bytes, record::EXIT_INVOLUNTARY)?,
            on_cpu: u64_at(bytes, record::EXIT_ON_TOTAL)?,
            queued: (a2 != i64::from(record::UNKNOWN) as u64).then_some(a2),
            started: u64_at(bytes, record::EXIT_STARTED)?,
            faults: u64_at(bytes, record::EXIT_FAULTS)?,
            fault_total: u64_at(bytes, record::EXIT_FAULT_TOTAL)?,
            name: until_zero(bytes.get(record::EXIT_NAME as usize..)?),
        }),
        record::OFF => Record::Off {
            who,
            from: a0,
            woken: a1,
            to: time,
            cause: cause(result as i32)?,
            call: in_call(nr, u32_at(bytes, record::FD)?),
            waker: a2 as u32,
        },
        _ => return None,
    })
}

/// The key of a row of the call table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    pub who: Who,
    pub nr: u32,
    pub fd: i32,
}

impl CallKey {
    /// Decodes the first 16 bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            who: Who {
                tid: u32_at(bytes, task::TID)?,
                pid: u32_at(bytes, task::TGID)?,
            },
            nr: u32_at(bytes, task::NR)?,
            fd: u32_at(bytes, task::FD)? as i32,
        })
    }
}

/// Index in a poll's `sizes` of the number of times that its timeout ended it.
pub(crate) const POLL_LIMITS: usize = 0;
/// Index in a poll's `sizes` of the duration of those polls, ns.
pub(crate) const POLL_LIMIT_NS: usize = 1;

/// A row of the call table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallTotals {
    pub calls: u64,
    pub total: u64,
    pub blocked: u64,
    pub ready: u64,
    pub bytes: u64,
    pub errors: u64,
    pub would_block: u64,
    pub unfinished: u64,
    pub first: u64,
    /// Numbers of calls by bytes moved. For polls, which move no bytes, it has [`POLL_LIMITS`] and
    /// [`POLL_LIMIT_NS`] instead.
    pub sizes: [u64; 8],
    /// When bytes were first moved; 0 for never.
    pub first_moved: u64,
    pub last_moved: u64,
    /// Number of writes whose last byte was examined.
    pub examined: u64,
    pub lines: u64,
    /// Number of attempts to read a last byte, including those for which the memory was not present yet.
    pub examinations: u64,
    /// The position in the file where the last call at an offset ended.
    pub next_place: u64,
    pub went_on: u64,
}

impl CallTotals {
    /// Adds the counts of a later row with the same key.
    pub(crate) fn add(&mut self, later: &Self) {
        let earlier = |own: u64, other: u64| match (own, other) {
            (0, other) => other,
            (own, 0) => own,
            (own, other) => own.min(other),
        };
        self.first = earlier(self.first, later.first);
        self.first_moved = earlier(self.first_moved, later.first_moved);
        self.last_moved = self.last_moved.max(later.last_moved);
        self.calls += later.calls;
        self.total += later.total;
        self.blocked += later.blocked;
        self.ready += later.ready;
        self.bytes += later.bytes;
        self.errors += later.errors;
        self.would_block += later.would_block;
        self.unfinished += later.unfinished;
        self.examined += later.examined;
        self.lines += later.lines;
        self.examinations += later.examinations;
        self.next_place = later.next_place;
        self.went_on += later.went_on;
        for (sum, size) in self.sizes.iter_mut().zip(later.sizes) {
            *sum += size;
        }
    }

    /// Decodes a row.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut sizes = [0; 8];
        for (i, size) in (0..).zip(&mut sizes) {
            *size = u64_at(bytes, call::SIZES + 8 * i)?;
        }
        Some(Self {
            calls: u64_at(bytes, call::CALLS)?,
            total: u64_at(bytes, call::TOTAL)?,
            blocked: u64_at(bytes, call::BLOCKED)?,
            ready: u64_at(bytes, call::READY)?,
            bytes: u64_at(bytes, call::BYTES)?,
            errors: u64_at(bytes, call::ERRORS)?,
            would_block: u64_at(bytes, call::WOULD_BLOCK)?,
            unfinished: u64_at(bytes, call::UNFINISHED)?,
            first: u64_at(bytes, call::FIRST)?,
            first_moved: u64_at(bytes, call::FIRST_MOVED)?,
            last_moved: u64_at(bytes, call::LAST_MOVED)?,
            examined: u64_at(bytes, call::EXAMINED)?,
            lines: u64_at(bytes, call::LINES)?,
            examinations: u64_at(bytes, call::EXAMINATIONS)?,
            next_place: u64_at(bytes, call::NEXT_PLACE)?,
            went_on: u64_at(bytes, call::WENT_ON)?,
            sizes,
        })
    }
}

/// A row of the off-CPU table with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OffTotals {
    pub who: Who,
    pub call: Option<(u32, i32)>,
    pub cause: Cause,
    pub count: u64,
    pub total: u64,
    pub longest: u64,
    pub by_length: Vec<u32>,
}

impl OffTotals {
    /// Decodes an entry.
    pub(crate) fn decode(key: &[u8], row: &[u8]) -> Option<Self> {
        let k = CallKey::decode(key)?;
        let buckets = (0..off::BUCKET_COUNT as i16).map(|i| u32_at(row, off::BUCKETS + 4 * i));
        Some(Self {
            who: k.who,
            call: in_call(k.nr, k.fd as u32),
            cause: cause(u32_at(key, task::OFF_CAUSE - task::OFF_KEY)? as i32)?,
            count: u64_at(row, off::COUNT)?,
            total: u64_at(row, off::TOTAL)?,
            longest: u64_at(row, off::MAX)?,
            by_length: buckets.collect::<Option<_>>()?,
        })
    }
}

/// State of a thread that is still alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alive {
    pub call: CallKey,
    pub enter: u64,
    pub call_blocked: u64,
    pub call_ready: u64,
    pub off_since: u64,
    pub woken: u64,
    pub off_call: Option<(u32, i32)>,
    pub cause: Cause,
    pub on_since: u64,
    pub on_total: u64,
    pub started: u64,
    pub faults: u64,
    pub fault_total: u64,
}

impl Alive {
    /// Decodes a state.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            call: CallKey::decode(bytes)?,
            enter: u64_at(bytes, task::ENTER)?,
            call_blocked: u64_at(bytes, task::CALL_BLOCKED)?,
            call_ready: u64_at(bytes, task::CALL_READY)?,
            off_since: u64_at(bytes, task::OFF_SINCE)?,
            woken: u64_at(bytes, task::WOKEN)?,
            off_call: in_call(
                u32_at(bytes, task::OFF_NR)?,
                u32_at(bytes, task::OFF_NR + 4)?,
            ),
            cause: cause(u32_at(bytes, task::OFF_CAUSE)? as i32)?,
            on_since: u64_at(bytes, task::ON_SINCE)?,
            on_total: u64_at(bytes, task::ON_TOTAL)?,
            started: u64_at(bytes, task::STARTED)?,
            faults: u64_at(bytes, task::FAULTS)?,
            fault_total: u64_at(bytes, task::FAULT_TOTAL)?,
        })
    }
}

pub(crate) fn in_call(nr: u32, fd: u32) -> Option<(u32, i32)> {
    (nr != u32::MAX).then_some((nr, fd as i32))
}

fn cause(number: i32) -> Option<Cause> {
    use crate::kernel::layout::cause as c;
    Some(match number {
        c::SLEEP => Cause::Asleep,
        c::UNINTERRUPTIBLE => Cause::Uninterruptible,
        c::DISK => Cause::Disk,
        c::STOPPED => Cause::Stopped,
        c::PREEMPTED => Cause::Preempted,
        c::READY => Cause::Ready,
        _ => return None,
    })
}

pub(crate) fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|b| *b == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

pub(crate) fn u64_at(bytes: &[u8], at: i16) -> Option<u64> {
    let at = at as usize;
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: i16) -> Option<u32> {
    let at = at as usize;
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &mut [u8], at: i16, value: u64) {
        let at = at as usize;
        bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
    }

    #[test]
    fn an_interval_outside_calls_has_no_call() {
        let mut b = vec![0u8; record::HEAD];
        put(&mut b, record::KIND, record::OFF as u64);
        put(&mut b, record::TIME, 900);
        put(&mut b, record::TID, 7 | 5 << 32);
        put(&mut b, record::NR, u64::MAX);
        put(&mut b, record::RESULT, 2);
        put(&mut b, record::ARG0, 100);
        let got = record(&b).expect("decodes");
        let who = Who { tid: 7, pid: 5 };
        let wanted = Record::Off {
            who,
            from: 100,
            woken: 0,
            to: 900,
            cause: Cause::Disk,
            call: None,
            waker: 0,
        };
        assert_eq!(got, wanted);
    }

    #[test]
    fn short_or_unknown_records_are_refused() {
        let mut b = vec![0u8; record::HEAD];
        put(&mut b, record::KIND, 99);
        assert_eq!(record(&b), None);
        put(&mut b, record::KIND, record::EXIT as u64);
        assert_eq!(record(&b), None);
        assert_eq!(record(&b[..8]), None);
    }

    #[test]
    fn no_bytes_make_the_decoders_panic() {
        let records: Vec<Vec<u8>> = (0..16u64)
            .map(|kind| {
                let mut bytes = vec![0x11u8; 700];
                put(&mut bytes, record::KIND, kind);
                bytes
            })
            .collect();
        fathom_test_memory::survives(&records, 1 << 12, |bytes| {
            _ = record(bytes);
            _ = CallKey::decode(bytes);
            _ = CallTotals::decode(bytes);
            _ = Alive::decode(bytes);
            let (key, row) = bytes.split_at(bytes.len() / 3);
            _ = OffTotals::decode(key, row);
        });
    }
}
