//! Threads take a short lock from each other so often that its calls cost more than the waiting: `lock-contention`
//! without sleeps.

use std::collections::BTreeMap;

use fathom_model::Finding;
use fathom_trace::{Cause, SyscallRow};

use super::call_cost::CallCost;
use crate::Language;
use crate::classify;
use crate::draft::{count, matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let by_process = callers(view);
    let (pid, threads) = by_process.into_iter().max_by_key(|(_, threads)| *threads)?;
    // Idle threads of Go's runtime rest in the same call.
    if threads < 2 || view.language(Some(pid)) == Some(Language::Go) {
        return None;
    }
    let on_locks = |row: &SyscallRow| row.pid == pid && classify::is_lock(&row.name);
    let calls = view.tally(on_locks);
    let asleep = view
        .trace
        .off_cpu
        .iter()
        .filter(|row| row.pid == pid && row.cause == Cause::Asleep);
    let asleep = asleep.filter(|row| row.call.as_deref().is_some_and(classify::is_lock));
    let sleeps: u64 = asleep.map(|row| row.count).sum();
    if sleeps * t::CALLS_FOR_A_SLEEP > calls.calls {
        return None;
    }
    let cost = CallCost::with(&calls, view, on_locks);
    if !matters(view, cost.in_kernel_ns) {
        return None;
    }
    let statement = format!(
        "{threads} threads called the kernel {} times for a short lock that they take from each other, and hardly ever slept for it; the calls {}",
        count(calls.calls),
        cost.told(view),
    );
    Some(
        cost.draft("lock-contention", view, statement)
            .evidence("threads that take it", threads as f64, "threads")
            .evidence("calls", calls.calls as f64, "calls")
            .evidence("sleeps", sleeps as f64, "calls")
            .advice("Take the lock less often: keep a sum per thread and add it up at the end, collect several changes for one locking, or use an atomic. What the threads lose while they wait on their CPUs, and by the memory that moves between these, comes on top.")
            .pid(Some(pid))
            .likely()
            .finish(),
    )
}

/// Of each process: threads with so many calls for locks.
fn callers(view: &View<'_>) -> BTreeMap<u32, usize> {
    let mut calls: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let rows = view.trace.syscalls.iter();
    for row in rows.filter(|row| classify::is_lock(&row.name)) {
        *calls.entry((row.pid, row.tid)).or_default() += row.calls;
    }
    let mut threads: BTreeMap<u32, usize> = BTreeMap::new();
    for ((pid, _), _) in calls.into_iter().filter(|(_, n)| *n >= t::CALLS_FOR_A_LOCK) {
        *threads.entry(pid).or_default() += 1;
    }
    threads
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT};

    fn told(sleeps: u64) -> Vec<String> {
        let mut fake = Fake::new(1000);
        for tid in [ROOT, ROOT + 1] {
            if tid != ROOT {
                fake.thread(ROOT, tid, 0, 1000, 1000);
            }
            fake.calls("futex", None, 400_000, 0, 400);
            if let Some(row) = fake.trace.syscalls.last_mut() {
                row.tid = tid;
            }
            if sleeps > 0 {
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, sleeps, 1);
            }
        }
        fake.ids()
    }

    #[test]
    fn calls_for_a_lock_that_hardly_ever_sleep_are_told() {
        assert_eq!(told(0), ["lock-contention"]);
        assert_eq!(told(1_000), ["lock-contention"]);
    }

    #[test]
    fn hand_overs_that_sleep_are_not() {
        assert!(!told(150_000).contains(&"lock-contention".to_owned()));
    }
}
