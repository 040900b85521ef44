//! Converts rows of the kernel's tables to rows of the trace.

use super::waited::Part;
use crate::calls;
use crate::records::{Alive, CallKey, CallTotals, OffTotals, POLL_LIMIT_NS, POLL_LIMITS};
use crate::result::{Cause, Lines, OffCpuRow, PollEnds, SyscallRow};

/// Adds time to the row of this thread, call and cause.
pub(super) fn add_off(off: &mut Vec<OffTotals>, a: &Alive, cause: Cause, total: u64) {
    let who = a.call.who;
    let same = |o: &&mut OffTotals| o.who == who && o.call == a.off_call && o.cause == cause;
    match off.iter_mut().find(same) {
        Some(row) => {
            row.count += 1;
            row.total += total;
            row.longest = row.longest.max(total);
        }
        None => off.push(OffTotals {
            who,
            call: a.off_call,
            cause,
            count: 1,
            total,
            longest: total,
            by_length: Vec::new(),
        }),
    }
}

/// Converts a row of the call table.
pub(super) fn row(key: CallKey, t: CallTotals, start: u64) -> SyscallRow {
    let is = |flag| calls::flags(key.nr) & flag != 0;
    let polls = is(calls::POLL);
    SyscallRow {
        pid: key.who.pid,
        tid: key.who.tid,
        number: key.nr,
        name: calls::name(key.nr),
        fd: (key.fd >= 0).then_some(key.fd),
        calls: t.calls,
        late_calls: 0,
        unfinished: t.unfinished,
        errors: t.errors,
        would_block: t.would_block,
        bytes: t.bytes,
        total_ns: t.total,
        blocked_ns: Some(t.blocked),
        ready_ns: Some(t.ready),
        sizes: if polls { [0; 8] } else { t.sizes },
        polls: polls.then(|| PollEnds {
            by_limit: t.sizes[POLL_LIMITS],
            by_limit_ns: t.sizes[POLL_LIMIT_NS],
            total_ns: t.total,
        }),
        lines: (t.examined > 0).then_some(Lines {
            examined: t.examined,
            ended: t.lines,
        }),
        went_on: is(calls::PLACED).then_some(t.went_on),
        first_ns: t.first.saturating_sub(start),
        first_moved_ns: (t.first_moved != 0).then(|| t.first_moved.saturating_sub(start)),
        last_moved_ns: (t.last_moved != 0).then(|| t.last_moved.saturating_sub(start)),
    }
}

/// Converts a row of the off-CPU table.
pub(super) fn off_row(part: Part) -> OffCpuRow {
    let o = part.totals;
    OffCpuRow {
        pid: o.who.pid,
        tid: o.who.tid,
        call: o.call.map(|(nr, _)| calls::name(nr)),
        fd: o.call.and_then(|(_, fd)| (fd >= 0).then_some(fd)),
        cause: o.cause,
        count: o.count,
        total_ns: o.total,
        longest_ns: Some(o.longest),
        by_length: o.by_length,
        object: part.object,
        limited: part.limited,
    }
}

/// Converts bytes from a program or the kernel to text, replacing invalid UTF-8.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Splits arguments as they are laid out in memory, each terminated by a zero byte.
pub(super) fn split(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|b| *b == 0).map(text).collect()
}
