//! Counts waits for locks, and computes the time covered by several waits.

use fathom_trace::{OffCpuRow, Trace};

use crate::calls;

pub(super) fn lock_rows(trace: &Trace, tid: u32) -> impl Iterator<Item = &OffCpuRow> {
    let in_lock = |row: &&OffCpuRow| row.call.as_deref().is_some_and(calls::is_lock);
    trace
        .off_cpu
        .iter()
        .filter(move |row| row.tid == tid)
        .filter(in_lock)
}

/// Returns how often and how long a thread waited for locks or other threads.
pub(super) fn lock_waits(trace: &Trace, tid: u32) -> (u64, u64) {
    lock_rows(trace, tid).fold((0, 0), |(count, ns), row| {
        (count + row.count, ns + row.total_ns)
    })
}

/// Returns the time in which at least one of these threads was alive, or waited. Each item is an id, a start
/// and an end.
pub(crate) fn covered_ns(threads: &[(u32, u64, u64)]) -> u64 {
    let mut spans: Vec<(u64, u64)> = threads.iter().map(|l| (l.1, l.2)).collect();
    spans.sort_unstable();
    let (mut sum, mut reached) = (0, 0);
    for (from, to) in spans {
        let from = from.max(reached);
        sum += to.saturating_sub(from);
        reached = reached.max(to);
    }
    sum
}

/// Returns how long a thread existed; 0 if it was created after the end of the trace.
pub(crate) fn span_ns(one: &(u32, u64, u64)) -> f64 {
    one.2.saturating_sub(one.1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_two_share_is_covered_once() {
        assert_eq!(covered_ns(&[(1, 0, 10), (2, 5, 20), (3, 30, 31)]), 21);
        assert_eq!(covered_ns(&[]), 0);
    }
}
