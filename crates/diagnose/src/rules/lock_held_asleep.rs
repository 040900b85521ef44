//! Threads queue for a lock whose holder is asleep: `lock-contention` without computing.

use std::collections::{BTreeMap, HashSet};

use fathom_model::{Finding, Spent};

use crate::Language;
use crate::account::Life;
use crate::classify;
use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;

/// Threads of a process of which one at a time gets on, asleep most of that time.
pub(super) struct Turns {
    pid: u32,
    threads: usize,
    waits: u64,
    waited_ns: f64,
    /// What all of them slept, or waited for something other than the lock.
    asleep_ns: f64,
    win_ns: f64,
}

/// What a thread waited for outside of locks and of the CPU's queue.
fn asleep_ns(life: &Life) -> f64 {
    let waits = [
        Spent::Sleeping,
        Spent::Network,
        Spent::Disk,
        Spent::WaitingForPipe,
        Spent::WaitingForEvents,
        Spent::WaitingForChild,
        Spent::OtherWait,
    ];
    life.sums.of(|spent| waits.contains(&spent))
}

/// Part of the waits for locks of `waiting` that were ended by one of `all`: whoever gives work to a
/// pool of threads is none of the pool.
fn handed_on(view: &View<'_>, waiting: &HashSet<u32>, all: &HashSet<u32>) -> f64 {
    let ends = view.ends_of_waits_by(classify::is_lock, |_, by| all.contains(&by));
    let (mut sum, mut within) = (0.0, 0.0);
    for (_, ends) in ends.iter().filter(|(tid, _)| waiting.contains(tid)) {
        sum += ends.all().ns as f64;
        within += ends.own.ns as f64;
    }
    if sum > 0.0 { within / sum } else { 0.0 }
}

fn in_process(view: &View<'_>, pid: u32, lives: &[&Life]) -> Option<Turns> {
    // Go's idle threads wait in the same call as its locks, and hand the poller around.
    if view.language(Some(pid)) == Some(Language::Go) {
        return None;
    }
    // Who never had to wait for the lock may still have held it first.
    let sleeps = |life: &&&Life| asleep_ns(life) >= t::PART_OF_A_TURN * life.ns();
    let turns: Vec<&&Life> = lives.iter().filter(sleeps).collect();
    let queues = |life: &&&Life| life.sums.get(Spent::Locks) >= t::LOCK_SHARE * life.ns();
    let queueing: Vec<&&Life> = turns.iter().filter(|life| queues(life)).copied().collect();
    let waits: u64 = queueing.iter().map(|life| view.lock_waits(life.tid)).sum();
    if queueing.len() < 2 || waits < 2 * t::MANY_LOCK_WAITS {
        return None;
    }
    let sum = |of: &dyn Fn(&Life) -> f64| turns.iter().map(|life| of(life)).sum::<f64>();
    let from = turns.iter().map(|life| life.from_ns).min()?;
    let to = turns.iter().map(|life| life.to_ns).max()?;
    let span = (to - from) as f64;
    let asleep = sum(&asleep_ns);
    let busy = sum(&|life| life.ns() - life.sums.get(Spent::Locks));
    let starved = sum(&|life| life.sums.get(Spent::Ready));
    // One at a time: what they did adds up to the time that passed, and most of it was sleeping.
    let in_turn = (t::LEAST_OF_TURNS * span..=t::MOST_OF_TURNS * span).contains(&busy);
    let tids = |lives: &[&&Life]| lives.iter().map(|life| life.tid).collect::<HashSet<u32>>();
    let handed_on = || handed_on(view, &tids(&queueing), &tids(&turns));
    if !in_turn || asleep < 0.5 * (busy - starved) || handed_on() < t::PART_HANDED_ON {
        return None;
    }
    let longest = turns.iter().map(|life| asleep_ns(life) + life.on_cpu_ns);
    let win = span * view.quiet - longest.fold(0.0, f64::max);
    Some(Turns {
        pid,
        threads: turns.len(),
        waits,
        waited_ns: sum(&|life| life.sums.get(Spent::Locks)),
        asleep_ns: asleep,
        win_ns: win.clamp(0.0, view.timed_ns),
    })
}

/// The process with the most to win.
pub(super) fn turns(view: &View<'_>) -> Option<Turns> {
    let mut lives: BTreeMap<u32, Vec<&Life>> = BTreeMap::new();
    for life in &view.lives {
        lives.entry(life.pid).or_default().push(life);
    }
    let found = lives
        .into_iter()
        .filter_map(|(pid, lives)| in_process(view, pid, &lives));
    found
        .filter(|turns| matters(view, turns.win_ns))
        .max_by(|a, b| a.win_ns.total_cmp(&b.win_ns))
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let turns = turns(view)?;
    let statement = format!(
        "{} threads queued {} times for a lock, {} in all, while its holder was asleep ({} of sleeping and waiting, one thread at a time); side by side they would take {} less, {} of the wall time.",
        turns.threads,
        count(turns.waits),
        time(turns.waited_ns),
        time(turns.asleep_ns),
        time(turns.win_ns),
        percent(view, turns.win_ns),
    );
    Some(
        Draft::new("lock-contention", view, turns.win_ns, statement)
            .evidence("threads that queue", turns.threads as f64, "threads")
            .evidence("waits", turns.waits as f64, "calls")
            .evidence("time queued, all threads", turns.waited_ns, "ns")
            .evidence("time asleep, one at a time", turns.asleep_ns, "ns")
            .advice("Let go of the lock before sleeping or waiting for something: hold it only to read or store what is shared.")
            .pid(Some(turns.pid))
            .seen()
            .likely()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT};

    /// Four threads that each sleep 20 times 5 ms; `by`: who ends a thread's waits for the lock.
    fn sleepers(waits: u64, by: impl Fn(u32) -> u32) -> Fake {
        let mut fake = Fake::new(400);
        fake.waits(Some("futex"), None, Cause::Asleep, 4, 99_000);
        for tid in 101..105 {
            fake.thread(ROOT, tid, 0, 400, 400);
            fake.waits_of(tid, Some("clock_nanosleep"), None, Cause::Asleep, 20, 5_000);
            fake.waits_of(
                tid,
                Some("futex"),
                None,
                Cause::Asleep,
                waits,
                284_000 / waits,
            );
            fake.wait_for(tid, "futex", None, (10, 25, 25), Some(by(tid)));
        }
        fake
    }

    #[test]
    fn threads_that_sleep_while_they_hold_a_lock_are_told() {
        let found = sleepers(19, |tid| 101 + (tid - 100) % 4).findings();
        let ids: Vec<&str> = found.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(ids, ["lock-contention"], "and no sleeping beside it");
        let statement = &found[0].statement;
        assert!(statement.contains("its holder was asleep"), "{statement}");
        assert!(statement.contains("4 threads"), "{statement}");
    }

    #[test]
    fn a_pool_that_is_given_work_by_another_thread_is_not() {
        let ids = sleepers(19, |_| ROOT).ids();
        assert!(!ids.contains(&"lock-contention".to_owned()), "{ids:?}");
    }

    #[test]
    fn gos_parked_threads_are_not() {
        let mut fake = sleepers(19, |tid| 101 + (tid - 100) % 4);
        fake.language = Some(crate::Language::Go);
        let ids = fake.ids();
        assert!(!ids.contains(&"lock-contention".to_owned()), "{ids:?}");
    }
}
