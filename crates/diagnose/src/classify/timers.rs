//! Finds threads that use locks as timers.

use std::collections::{HashMap, HashSet};

use fathom_trace::{Cause, Tier, Trace};

use crate::calls::is_lock;
use crate::lock_waits::LockWaits;
use crate::thresholds as t;

/// The time, in nanoseconds, within which a thread that is killed during a wait ends after it.
const DYING_NS: u64 = 200_000;

/// Returns, for each thread, its time in lock waits that no thread of the tree ended, and its time in all
/// lock waits. If a thread ended during its last wait, that wait doesn't count.
fn ended_by_nobody(trace: &Trace) -> HashMap<u32, (u64, u64)> {
    let ends: HashMap<u32, u64> = trace
        .threads
        .iter()
        .map(|thread| (thread.tid, thread.ended_ns.unwrap_or(u64::MAX)))
        .collect();
    let mut waits: HashMap<u32, (u64, u64)> = HashMap::new();
    for interval in trace.timeline.iter().flatten() {
        let lock = interval.call.as_deref().is_some_and(is_lock);
        let end = ends.get(&interval.tid).copied().unwrap_or(u64::MAX);
        if !lock || interval.cause != Cause::Asleep || interval.to_ns + DYING_NS >= end {
            continue;
        }
        let woken = interval.woken_ns.unwrap_or(interval.to_ns);
        let length = woken.saturating_sub(interval.from_ns);
        let by_tree = interval.woken_by.is_some_and(|tid| ends.contains_key(&tid));
        let sums = waits.entry(interval.tid).or_default();
        sums.0 += if by_tree { 0 } else { length };
        sums.1 += length;
    }
    waits
}

/// Returns threads that use locks as timers, unless the trace shows this for each wait. Most of their waits,
/// or most of the time in them, ended by timing out, and the process's other threads did little meanwhile.
/// (Python's threads repeatedly wait for the interpreter with a time limit of 5 ms, but one of them computes
/// meanwhile.)
pub(super) fn timed_waiters(trace: &Trace, stacks: &LockWaits) -> HashSet<u32> {
    let mut timed: HashMap<u32, u64> = HashMap::new();
    for row in trace.syscalls.iter().filter(|row| is_lock(&row.name)) {
        *timed.entry(row.tid).or_default() += row.errors.saturating_sub(row.would_block);
    }
    let mut waits: HashMap<u32, (u64, u64)> = HashMap::new();
    let mut shown: HashSet<u32> = HashSet::new();
    for row in &trace.off_cpu {
        if row.cause == Cause::Asleep && row.call.as_deref().is_some_and(is_lock) {
            if row.object.is_some() {
                shown.insert(row.tid);
            }
            let sums = waits.entry(row.tid).or_default();
            sums.0 += row.count;
            sums.1 += row.total_ns;
        }
    }
    // How long each process's threads were on a CPU, and how long they wanted one.
    let mut able_of: HashMap<u32, (u64, u64)> = HashMap::new();
    for thread in &trace.threads {
        let sums = able_of.entry(thread.pid).or_default();
        sums.0 += thread.on_cpu_ns.unwrap_or(0);
        sums.1 += thread.ready_ns.unwrap_or(0);
    }
    let nobody = ended_by_nobody(trace);
    let waiting: HashSet<u32> = waits.keys().copied().collect();
    let in_locks = trace.threads.iter().filter(|t| waiting.contains(&t.tid));
    let processes: HashSet<u32> = in_locks.map(|thread| thread.pid).collect();
    // Samples show who ended a wait for a lock only within the same process.
    let all_wakers_known = !trace.tier.is_some_and(Tier::only_samples) || processes.len() < 2;
    let sleeps = |thread: &&fathom_trace::Thread| {
        let end = thread.ended_ns.unwrap_or(trace.duration_ns);
        let times = end.saturating_sub(thread.started_ns);
        let timed = timed.get(&thread.tid).copied().unwrap_or(0);
        let (waits, waited) = waits.get(&thread.tid).copied().unwrap_or_default();
        let all = able_of.get(&thread.pid).copied().unwrap_or_default();
        let others = all.0 - thread.on_cpu_ns.unwrap_or(0);
        // On a busy machine, a thread that is waited for wants a CPU all the time, and may hardly ever have one.
        let able = others + all.1 - thread.ready_ns.unwrap_or(0);
        let (by_nobody, in_all) = nobody.get(&thread.tid).copied().unwrap_or_default();
        let mostly_by_nobody =
            all_wakers_known && in_all * 2 >= times && by_nobody * 10 >= in_all * 9;
        let by_limit = timed > 0 && timed * 2 > waits || mostly_by_nobody && able * 5 < waited * 4;
        let for_locks = stacks.for_locks(&[thread.tid]) >= t::SHOWN_BY_STACKS;
        by_limit && others * 2 < waited && !for_locks && !shown.contains(&thread.tid)
    };
    trace
        .threads
        .iter()
        .filter(sleeps)
        .map(|thread| thread.tid)
        .collect()
}
