//! Separates pauses from waits for locks.
//!
//! A thread that pauses in Java, or that waits with a time limit, makes the same call as one that waits for a
//! lock. The kernel's tables hold the sum of both. An individual wait is a pause if a time limit ended it and
//! the process's other threads did little meanwhile: with a lock that is taken, one of them works.

use std::collections::{HashMap, HashSet};

use crate::descriptor::DescriptorKind;
use crate::result::{Cause, Interval, Limited, OffCpuRow, Trace};

/// The shortest pause in ns; see [`OffCpuRow::limited`].
const SHORTEST_NS: u64 = 1_000_000;
/// The time, in ns, within which a thread that is killed during a wait ends after it.
const DYING_NS: u64 = 200_000;
/// The maximum number of threads of a process up to which it is examined.
const MOST_THREADS: usize = 256;

/// The times of a thread during which it didn't want a CPU, in order, each with the sum of those before it.
struct Asleep {
    started_ns: u64,
    ended_ns: u64,
    spans: Vec<(u64, u64, u64)>,
}

impl Asleep {
    /// Returns for how long the thread was on a CPU or wanted one between two moments.
    fn able_ns(&self, from: u64, to: u64) -> u64 {
        let (from, to) = (from.max(self.started_ns), to.min(self.ended_ns));
        let asleep_until = |at: u64| {
            let next = self.spans.partition_point(|(begin, ..)| *begin < at);
            let last = next.checked_sub(1).map(|last| self.spans[last]);
            last.map_or(0, |(begin, end, before)| before + at.min(end) - begin)
        };
        let asleep = || asleep_until(to) - asleep_until(from);
        to.checked_sub(from)
            .map_or(0, |ns| ns.saturating_sub(asleep()))
    }
}

/// Returns when a wait was over and only a CPU was missing.
fn woken_ns(wait: &Interval) -> u64 {
    let woken = wait.woken_ns.unwrap_or(wait.to_ns);
    woken.clamp(wait.from_ns, wait.to_ns)
}

fn is_lock(wait: &Interval) -> bool {
    wait.cause == Cause::Asleep
        && wait
            .call
            .as_deref()
            .is_some_and(|it| it.starts_with("futex"))
}

/// Gives the waits that are pauses their own rows, and a timer as their object. Does nothing without
/// individual waits. `in_process` means that it is only known whether a thread of the same process ended a
/// wait.
pub(crate) fn separate(trace: &mut Trace, in_process: bool) {
    let Some(mut timeline) = trace.timeline.take() else {
        return;
    };
    let pauses = pauses(trace, &timeline, in_process);
    if !pauses.is_empty() {
        let timer = trace.objects.len() as u32;
        trace.objects.push(DescriptorKind::Timer);
        let mut by_thread: HashMap<u32, Vec<&mut Interval>> = HashMap::new();
        for (at, wait) in timeline.iter_mut().enumerate() {
            if pauses.contains(&at) {
                wait.object = Some(timer);
                by_thread.entry(wait.tid).or_default().push(wait);
            }
        }
        let mut added = Vec::new();
        for row in &mut trace.off_cpu {
            let is_lock = row
                .call
                .as_deref()
                .is_some_and(|it| it.starts_with("futex"));
            if let Some(own) = by_thread.get(&row.tid)
                && row.cause == Cause::Asleep
                && is_lock
            {
                let own = own.iter().filter(|wait| wait.call == row.call);
                let lengths: Vec<u64> = own.map(|wait| woken_ns(wait) - wait.from_ns).collect();
                added.extend(taken_out(row, timer, &lengths));
            }
        }
        trace
            .off_cpu
            .retain(|row| row.count > 0 || row.total_ns > 0);
        trace.off_cpu.extend(added);
        trace
            .off_cpu
            .sort_by_key(|row| (std::cmp::Reverse(row.total_ns), row.tid, row.fd));
    }
    trace.timeline = Some(timeline);
}

/// Returns the indices of the waits that are pauses.
fn pauses(trace: &Trace, timeline: &[Interval], in_process: bool) -> HashSet<usize> {
    let ends: HashMap<u32, u64> = trace
        .threads
        .iter()
        .map(|thread| (thread.tid, thread.ended_ns.unwrap_or(u64::MAX)))
        .collect();
    let may_be = |(_, wait): &(usize, &Interval)| {
        let by_thread = wait
            .woken_by
            .is_some_and(|by| by != wait.tid && ends.contains_key(&by));
        let dies = wait.to_ns + DYING_NS >= ends.get(&wait.tid).copied().unwrap_or(u64::MAX);
        is_lock(wait) && woken_ns(wait) - wait.from_ns >= SHORTEST_NS && !by_thread && !dies
    };
    let mut by_process: HashMap<u32, Vec<(usize, &Interval)>> = HashMap::new();
    for (at, wait) in timeline.iter().enumerate().filter(may_be) {
        by_process.entry(wait.pid).or_default().push((at, wait));
    }
    let locking = timeline.iter().filter(|wait| is_lock(wait));
    let locking: HashSet<u32> = locking.map(|wait| wait.pid).collect();
    if in_process && locking.len() > 1 {
        return HashSet::new();
    }
    let mut found = HashSet::new();
    for (pid, waits) in by_process {
        let asleep = asleep(trace, timeline, pid);
        if asleep.len() > MOST_THREADS {
            continue;
        }
        // How long the others were able to run meanwhile, and how long these waits took, by thread.
        let mut sums: HashMap<u32, (u64, u64)> = HashMap::new();
        for (_, wait) in &waits {
            let (from, to) = (wait.from_ns, woken_ns(wait));
            let others = asleep.iter().filter(|(tid, _)| **tid != wait.tid);
            let able: u64 = others.map(|(_, other)| other.able_ns(from, to)).sum();
            let sums = sums.entry(wait.tid).or_default();
            *sums = (sums.0 + able, sums.1 + to - from);
        }
        let is_idle = |(able, all): (u64, u64)| 2 * able < all;
        let of_all = sums.values();
        let of_all = of_all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let pauses = |wait: &Interval| is_idle(of_all) || is_idle(sums[&wait.tid]);
        let pauses = waits.iter().filter(|(_, wait)| pauses(wait));
        found.extend(pauses.map(|(at, _)| *at));
    }
    found
}

/// Returns the threads of a process.
fn asleep(trace: &Trace, timeline: &[Interval], pid: u32) -> HashMap<u32, Asleep> {
    let threads = trace.threads.iter().filter(|thread| thread.pid == pid);
    let own = |thread: &crate::result::Thread| Asleep {
        started_ns: thread.started_ns,
        ended_ns: thread.ended_ns.unwrap_or(u64::MAX),
        spans: Vec::new(),
    };
    let mut found: HashMap<u32, Asleep> = threads.map(|thread| (thread.tid, own(thread))).collect();
    let waits = timeline.iter().filter(|wait| {
        wait.pid == pid && !matches!(wait.cause, Cause::Preempted | Cause::Ready | Cause::Running)
    });
    for wait in waits {
        if let Some(thread) = found.get_mut(&wait.tid) {
            thread.spans.push((wait.from_ns, woken_ns(wait), 0));
        }
    }
    for thread in found.values_mut() {
        thread.spans.sort_unstable();
        let mut before = 0;
        for (from, to, sum) in &mut thread.spans {
            *sum = before;
            before += *to - *from;
        }
    }
    found
}

/// Takes waits of these lengths out of a row, and returns them as a row of their own.
fn taken_out(row: &mut OffCpuRow, timer: u32, lengths: &[u64]) -> Option<OffCpuRow> {
    let mut own = OffCpuRow {
        count: 0,
        total_ns: 0,
        longest_ns: None,
        by_length: vec![0; row.by_length.len()],
        object: Some(timer),
        limited: Limited::default(),
        ..row.clone()
    };
    for &ns in lengths {
        own.count += 1;
        own.total_ns += ns;
        own.longest_ns = own.longest_ns.max(Some(ns));
        let class = (u64::BITS - (ns / 1024).leading_zeros()) as usize;
        if let Some(last) = own.by_length.len().checked_sub(1) {
            own.by_length[class.min(last)] += 1;
        }
    }
    (own.limited.calls, own.limited.ns) = (own.count, own.total_ns);
    row.count = row.count.saturating_sub(own.count);
    row.total_ns = row.total_ns.saturating_sub(own.total_ns);
    for (left, taken) in row.by_length.iter_mut().zip(&own.by_length) {
        *left = left.saturating_sub(*taken);
    }
    (own.count > 0).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Thread;

    const MS: u64 = 1_000_000;

    /// Returns a process with two threads that wait for a lock 10 times; each wait of 7 is followed by a pause
    /// of 5 ms, during which 8 computes for `able_ms`.
    fn trace(able_ms: u64) -> Trace {
        let thread = |tid| Thread {
            pid: 7,
            tid,
            ended_ns: Some(200 * MS),
            ..Thread::default()
        };
        let wait = |tid, from, to, woken_by| Interval {
            pid: 7,
            tid,
            from_ns: from,
            woken_ns: Some(to),
            to_ns: to,
            cause: Cause::Asleep,
            call: Some("futex".to_owned()),
            fd: None,
            woken_by,
            object: None,
        };
        let mut timeline = Vec::new();
        for turn in 0..10 {
            let at = turn * 10 * MS;
            timeline.push(wait(8, at + able_ms * MS, at + 10 * MS, Some(7)));
            timeline.push(wait(7, at, at + 4 * MS, Some(8)));
            timeline.push(wait(7, at + 4 * MS, at + 9 * MS, None));
        }
        let ns = 90 * MS;
        let row = OffCpuRow {
            pid: 7,
            tid: 7,
            call: Some("futex".to_owned()),
            fd: None,
            cause: Cause::Asleep,
            count: 20,
            total_ns: ns,
            longest_ns: Some(5 * MS),
            by_length: vec![0; 24],
            object: None,
            limited: Limited::default(),
        };
        Trace {
            duration_ns: 200 * MS,
            threads: vec![thread(7), thread(8)],
            off_cpu: vec![row],
            timeline: Some(timeline),
            ..Trace::default()
        }
    }

    fn rows(trace: &Trace) -> Vec<(u64, u64, bool)> {
        let rows = trace.off_cpu.iter();
        rows.map(|row| (row.count, row.total_ns / MS, row.object.is_some()))
            .collect()
    }

    #[test]
    fn a_pause_in_the_call_of_locks_has_its_own_row() {
        let mut trace = trace(0);
        separate(&mut trace, false);
        assert_eq!(rows(&trace), [(10, 50, true), (10, 40, false)]);
        assert_eq!(trace.objects, [DescriptorKind::Timer]);
        let timed = trace.timeline.iter().flatten();
        assert_eq!(timed.filter(|wait| wait.object.is_some()).count(), 10);
    }

    #[test]
    fn a_time_limit_while_others_work_is_that_of_a_lock() {
        let mut trace = trace(9);
        separate(&mut trace, false);
        assert_eq!(rows(&trace), [(20, 90, false)]);
    }
}
