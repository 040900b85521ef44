//! Detects threads that queue for a lock whose holder is asleep: `lock-contention` without computing.

use super::{Locks, holders, side_by_side};
use crate::mechanisms::prelude::*;

/// Threads of a process that run one at a time and are asleep for most of that time.
pub(crate) struct Turns {
    pid: u32,
    threads: usize,
    waits: u64,
    waited_ns: f64,
    /// The total time that these threads slept, or waited for something other than the lock.
    asleep_ns: f64,
    pub saving_ns: f64,
}

/// Returns how long a thread waited for something other than locks and a CPU.
pub(super) fn asleep_ns(times: &ThreadTimes) -> f64 {
    let waits = [
        TimeCategory::Sleeping,
        TimeCategory::Network,
        TimeCategory::Disk,
        TimeCategory::WaitingForPipe,
        TimeCategory::WaitingForEvents,
        TimeCategory::WaitingForChild,
        TimeCategory::OtherWait,
    ];
    times.sums.of_any(&waits)
}

/// Returns the part of the lock waits of `waiting` that a thread in `all` ended. This matters because a
/// thread that gives work to a pool doesn't belong to the pool.
fn handed_on(analysis: &Analysis<'_>, waiting: &HashSet<u32>, all: &HashSet<u32>) -> f64 {
    let ends = analysis.ends_of_waits_by(calls::is_lock, |_, by| all.contains(&by));
    let (mut sum, mut within) = (0.0, 0.0);
    for (_, ends) in ends.iter().filter(|(tid, _)| waiting.contains(tid)) {
        sum += ends.all().ns as f64;
        within += ends.own.ns as f64;
    }
    if sum > 0.0 { within / sum } else { 0.0 }
}

fn in_process(analysis: &Analysis<'_>, pid: u32, threads: &[&ThreadTimes]) -> Option<Turns> {
    // Idle threads may wait in the same call as those that wait for locks.
    if analysis.runtime(Some(pid)).idle_wait("futex") {
        return None;
    }
    // A thread that never waited for the lock may have held it first. A runtime's own threads also pause.
    let locks = |times: &ThreadTimes| Locks::of(analysis, times);
    let sleeps = |times: &&ThreadTimes| {
        !times.of_runtime && asleep_ns(times) >= t::PART_OF_A_TURN * locks(times).of_ns
    };
    let turns: Vec<&ThreadTimes> = threads.iter().copied().filter(sleeps).collect();
    let queues = |times: &&&ThreadTimes| locks(times).ns >= t::LOCK_SHARE * locks(times).of_ns;
    let queueing: HashSet<u32> = turns.iter().filter(queues).map(|it| it.tid).collect();
    let waits: u64 = queueing.iter().map(|tid| analysis.lock_waits(*tid)).sum();
    if queueing.len() < 2 {
        return None;
    }
    // A thread that takes the lock again as soon as it has released it makes others wait rarely, but long.
    let tids: Vec<u32> = queueing.iter().copied().collect();
    let for_locks = analysis.lock_waits.for_locks(&tids) >= t::SHOWN_BY_STACKS
        && holders::meanwhile(analysis, |tid| queueing.contains(&tid)).is_asleep();
    if waits < 2 * t::MANY_LOCK_WAITS && !for_locks {
        return None;
    }
    let (from, to) = turns.span()?;
    let span = (to - from) as f64;
    let asleep: f64 = turns.iter().map(|times| asleep_ns(times)).sum();
    let busy: f64 = turns.iter().map(|times| times.ns() - locks(times).ns).sum();
    let delayed: f64 = turns.iter().map(|times| locks(times).delayed_ns).sum();
    let starved = turns.spent_ns(TimeCategory::Ready) - delayed;
    // The threads run one at a time, so their activity adds up to the elapsed time, and they slept for most
    // of it. How long each of them was ready without a CPU says nothing about that.
    let in_turn = busy >= t::LEAST_OF_TURNS * span && busy - starved <= t::MOST_OF_TURNS * span;
    let handed_on = || {
        let all = turns.iter().map(|times| times.tid).collect();
        handed_on(analysis, &queueing, &all)
    };
    let by_times = || in_turn && handed_on() >= t::PART_HANDED_ON;
    if asleep < 0.5 * (busy - starved) || !for_locks && !by_times() {
        return None;
    }
    let longest = turns.iter().map(|times| asleep_ns(times) + times.on_cpu_ns);
    let saving = span * analysis.quiet - longest.fold(0.0, f64::max);
    Some(Turns {
        pid,
        threads: turns.len(),
        waits,
        waited_ns: turns.spent_ns(TimeCategory::Locks),
        asleep_ns: asleep,
        saving_ns: saving.clamp(0.0, analysis.timed_ns),
    })
}

/// Returns the threads of the process with the most to save.
pub(crate) fn turns(analysis: &Analysis<'_>) -> Option<Turns> {
    let threads = analysis.threads_by_process().into_iter();
    let found = threads.filter_map(|(pid, threads)| in_process(analysis, pid, &threads));
    largest(found, |turns| turns.saving_ns)
}

pub(super) const ADVICE: &str = "Release the lock before sleeping or waiting for something: hold it only to read or store shared data.";

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let turns = turns(analysis)?;
    let statement = format!(
        "{} threads queued {} times for a lock, {} in all, while its holder was asleep (the holders slept for {} in \
         all, one at a time)",
        turns.threads,
        count(turns.waits),
        time(turns.waited_ns),
        time(turns.asleep_ns),
    );
    let of_process = |tid: u32| {
        let times = analysis.thread(tid);
        times.is_some_and(|times| times.pid == turns.pid)
    };
    let meanwhile = holders::in_words(analysis, of_process);
    Some(
        side_by_side(analysis, turns.saving_ns, &statement, "")
            .with_if(meanwhile)
            .with_lock_of(holders::taken_in(analysis, of_process))
            .evidence("threads that queue", turns.threads, "threads")
            .evidence("waits", turns.waits, "calls")
            .evidence("time queued, all threads", turns.waited_ns, "ns")
            .evidence("time asleep, all holders", turns.asleep_ns, "ns")
            .advice(ADVICE)
            .pid(turns.pid)
            .observed(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns four threads that each sleep 20 times for 5 ms. `by` gives the thread that ends a thread's
    /// waits for the lock.
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
    fn threads_that_sleep_while_they_hold_a_lock_are_found() {
        let found = sleepers(19, |tid| 101 + (tid - 100) % 4).findings();
        let ids: Vec<&str> = found.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(ids, ["lock-contention"], "and no sleeping beside it");
        let statement = &found[0].statement;
        assert!(statement.contains("its holder was asleep"), "{statement}");
        hold_words("asleep", &found[0]);
        assert!(statement.contains("4 threads"), "{statement}");
    }

    #[test]
    fn threads_that_pause_in_the_call_of_locks_are_found_beside_a_runtimes_timer() {
        let mut fake = Fake::new(400);
        fake.language = Some(crate::Language::Java);
        fake.waits(Some("futex"), None, Cause::Asleep, 4, 99_000);
        fake.trace.objects = vec![fathom_trace::DescriptorKind::Timer];
        let pauses = |fake: &mut Fake, tid, count| {
            fake.waits_of(tid, Some("futex"), None, Cause::Asleep, count, 5_000);
            fake.trace.off_cpu.last_mut().expect("just made").object = Some(0);
        };
        for tid in 101..105 {
            fake.thread(ROOT, tid, 0, 400, 400);
            pauses(&mut fake, tid, 20);
            fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 19, 14_900);
            let by = Some(101 + (tid - 100) % 4);
            fake.wait_for(tid, "futex", None, (10, 25, 25), by);
            let waits = fake.trace.timeline.as_mut().expect("just made");
            let (last, at) = (waits.last().expect("just made").clone(), 30_000_000);
            waits.push(fathom_trace::Interval {
                from_ns: at,
                woken_ns: Some(at + 5_000_000),
                to_ns: at + 5_000_000,
                woken_by: None,
                object: Some(0),
                ..last
            });
        }
        fake.thread(ROOT, 110, 0, 400, 400);
        fake.trace.threads.last_mut().expect("just made").name = "VM Periodic Tas".to_owned();
        pauses(&mut fake, 110, 79);
        let found = fake.findings();
        let ids: Vec<&str> = found.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(ids, ["lock-contention"], "{found:?}");
        assert!(found[0].statement.contains("its holder was asleep"));
    }

    #[test]
    fn a_pool_that_is_given_work_by_another_thread_is_not() {
        let ids = sleepers(19, |_| ROOT).ids();
        assert!(!ids.contains(&"lock-contention"), "{ids:?}");
    }

    #[test]
    fn gos_parked_threads_are_not() {
        let mut fake = sleepers(19, |tid| 101 + (tid - 100) % 4);
        fake.language = Some(crate::Language::Go);
        let ids = fake.ids();
        assert!(!ids.contains(&"lock-contention"), "{ids:?}");
    }
}
