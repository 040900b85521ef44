//! Finds the path by sums: the part of each thread's time that is on the path.
//!
//! The search begins at the main thread. Where that thread waits for children or joins threads, the wait is
//! replaced by what the child or thread did meanwhile. For concurrent children, the one that ended last is
//! used. For the time before it began, the one that had ended last by then is used, and so on. A weight is
//! the part of a thread's time that is on the path.

use std::collections::{BTreeMap, HashMap, HashSet};

use fathom_model::TimeCategory;
use fathom_trace::{Tier, Trace};

use super::path::{self, CriticalPath};
use super::waits::{covered_ns, lock_rows, lock_waits, span_ns};
use crate::calls;
use crate::intervals::woken_ns;
use crate::sums::Sums;
use crate::thread_times::ThreadTimes;
use crate::thresholds as t;

struct Walk<'a> {
    trace: &'a Trace,
    threads: &'a [ThreadTimes],
    weights: HashMap<u32, f64>,
    /// Processes whose runtime moves work between threads that never end, as Go's does, or leaves work to its
    /// own threads while it waits in its event loop, as Node's does.
    pools: &'a HashSet<u32>,
}

/// Finds the path of one process through its threads and children.
pub(super) fn of_process(
    trace: &Trace,
    threads: &[ThreadTimes],
    pid: u32,
    pools: &HashSet<u32>,
) -> CriticalPath {
    let mut walk = Walk {
        trace,
        threads,
        weights: HashMap::new(),
        pools,
    };
    let sums = walk.process(pid, 1.0, 0);
    CriticalPath {
        sums,
        weights: walk.weights,
        waits: None,
    }
}

/// The maximum share of its time for which the busiest thread of an idle server computes: all of its threads
/// then wait, and the one that matters is the one that would get a request.
const CPU_OF_AN_IDLE_SERVER: f64 = 0.001;

/// Returns the path of a multithreaded process that was observed for a while. Without an end of the process,
/// it is unknown which thread mattered, so the path consists of what any of its threads did, plus the waits
/// of the busiest one of the program's own.
pub(super) fn of_window(trace: &Trace, threads: &[ThreadTimes], pid: u32) -> CriticalPath {
    let own: Vec<&ThreadTimes> = threads.iter().filter(|times| times.pid == pid).collect();
    let of_program = |times: &&&ThreadTimes| !times.of_runtime;
    let by_cpu = |a: &&&ThreadTimes, b: &&&ThreadTimes| a.on_cpu_ns.total_cmp(&b.on_cpu_ns);
    let busiest = own.iter().filter(of_program).max_by(by_cpu);
    let Some(busiest) = busiest.or_else(|| own.iter().max_by(by_cpu)) else {
        return CriticalPath::default();
    };
    let whole = own.iter().map(|times| times.ns()).fold(0.0, f64::max);
    let listens = trace.attached.as_ref();
    let listens = listens.is_some_and(|attached| attached.listening.contains(&pid));
    let waits =
        |times: &&&ThreadTimes| times.sums.get(TimeCategory::WaitingForEvents) > 0.5 * whole;
    let is_idle = listens && busiest.on_cpu_ns < CPU_OF_AN_IDLE_SERVER * whole;
    let waiting = own.iter().filter(of_program).find(waits);
    let busiest = waiting.filter(|_| is_idle).unwrap_or(busiest);
    let walk = Walk {
        trace,
        threads,
        weights: HashMap::new(),
        pools: &HashSet::new(),
    };
    let is_work = |spent: TimeCategory| rank_in_pool(spent) == 0;
    let work: f64 = own.iter().map(|times| times.sums.of(is_work)).sum();
    // Threads that compute concurrently only take as much time as one of them.
    let room = whole.min(walk.busy_ns(&own).unwrap_or(f64::INFINITY));
    let part = (room / work.max(1.0)).min(1.0);
    let mut sums = Sums::default();
    for times in &own {
        let did = times.sums.iter().filter(|(spent, _)| is_work(*spent));
        did.for_each(|(spent, ns)| sums.add(spent, ns * part));
    }
    let waited = busiest.sums.total() - busiest.sums.of(is_work);
    let of_waits = ((whole - sums.total()) / waited.max(1.0)).clamp(0.0, 1.0);
    let mut waits = BTreeMap::new();
    for (spent, ns) in busiest.sums.iter().filter(|(spent, _)| !is_work(*spent)) {
        sums.add(spent, ns * of_waits);
        waits.insert((busiest.tid, spent), of_waits);
    }
    CriticalPath {
        sums,
        weights: own.iter().map(|times| (times.tid, part)).collect(),
        waits: Some(waits),
    }
}

impl Walk<'_> {
    /// Returns what the time of a process's main thread was spent on. The depth is limited: a chain of
    /// thousands of processes must not exhaust the stack.
    fn process(&mut self, pid: u32, weight: f64, depth: u32) -> Sums {
        let threads = self.threads;
        let Some(main) = path::representative_thread(threads, pid) else {
            return Sums::default();
        };
        let mut sums = self.thread(main, weight);
        if depth < 200 {
            self.through_threads(main, &mut sums, weight);
            self.through_children(pid, &mut sums, weight, depth);
        }
        sums
    }

    fn thread(&mut self, times: &ThreadTimes, weight: f64) -> Sums {
        let sum = self.weights.entry(times.tid).or_default();
        *sum = (*sum + weight).min(1.0);
        times.sums.clone()
    }

    fn through_children(&mut self, pid: u32, sums: &mut Sums, weight: f64, depth: u32) {
        let wait = sums.get(TimeCategory::WaitingForChild) + sums.get(TimeCategory::WaitingForPipe);
        let end = self.trace.duration_ns;
        let mut children: Vec<(u32, u64, u64)> = self
            .trace
            .processes
            .iter()
            .filter(|p| p.parent == Some(pid))
            .map(|p| (p.pid, p.started_ns, p.ended_ns.unwrap_or(end)))
            .collect();
        let total: f64 = children.iter().map(span_ns).sum();
        if wait <= 0.0 || total <= 0.0 {
            return;
        }
        let covered = covered_ns(&children) as f64;
        if total > covered * t::OVERLAP_OF_SERIAL_CHILDREN {
            children = one_after_another(children);
        }
        let total: f64 = children.iter().map(span_ns).sum();
        let factor = (wait / total.max(1.0)).min(1.0);
        for (child, ..) in &children {
            let inner = self.process(*child, weight * factor, depth + 1);
            // The time from the fork to the thread's first record also belongs to the child.
            let known = inner.total().max(1.0);
            let first = sums.take(TimeCategory::WaitingForChild, known * factor);
            let rest = sums.take(TimeCategory::WaitingForPipe, known * factor - first);
            sums.add_scaled(&inner, (first + rest) / known);
        }
    }

    fn through_threads(&mut self, main: &ThreadTimes, sums: &mut Sums, weight: f64) {
        let threads = self.threads;
        let all: Vec<&ThreadTimes> = threads
            .iter()
            .filter(|times| times.pid == main.pid)
            .collect();
        let others: Vec<&ThreadTimes> = all
            .iter()
            .filter(|times| times.tid != main.tid)
            .copied()
            .collect();
        let waits = sums.get(TimeCategory::Locks) >= t::JOIN_SHARE * main.ns();
        let idles =
            (2..5).map(|rank| rank_ns(sums, rank)).sum::<f64>() >= t::JOIN_SHARE * main.ns();
        if others.is_empty() {
            return;
        }
        if self.pools.contains(&main.pid) && idles {
            self.through_pool(&all, sums, weight);
        } else if waits && self.joins(main, others.len()) {
            self.through_joined(others, sums, weight);
        }
    }

    fn joins(&self, main: &ThreadTimes, threads: usize) -> bool {
        let (waits, total_ns) = lock_waits(self.trace, main.tid);
        let rows = lock_rows(self.trace, main.tid);
        let longest = rows.filter_map(|row| row.longest_ns).max().unwrap_or(0);
        // Samples don't count waits. A thread that does nothing but wait is waiting for the others to end.
        let only_waits = self.trace.tier == Some(Tier::Sample)
            && main.on_cpu_ns <= t::CPU_OF_A_JOINER * main.ns();
        waits <= threads as u64 + 2 || longest * 2 >= total_ns || only_waits
    }

    fn through_joined(&mut self, mut others: Vec<&ThreadTimes>, sums: &mut Sums, weight: f64) {
        others.sort_by(|a, b| active_ns(b).total_cmp(&active_ns(a)));
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for times in others {
            let apart = |&(from, to): &(u64, u64)| times.to_ns <= from || to <= times.from_ns;
            let mattered = active_ns(times) > t::JOIN_SHARE * times.ns() || taken.is_empty();
            if !mattered || !taken.iter().all(apart) {
                continue;
            }
            taken.push((times.from_ns, times.to_ns));
            let whole = times.sums.total().max(1.0);
            let part = sums.take(TimeCategory::Locks, whole) / whole;
            let inner = self.thread(times, weight * part);
            sums.add_scaled(&inner, part);
        }
    }

    /// Attributes what the threads of a pool did to the command: first their CPU time, then their waits for
    /// something outside, then timers. The total is at most the main thread's time.
    fn through_pool(&mut self, threads: &[&ThreadTimes], sums: &mut Sums, weight: f64) {
        let whole = sums.total();
        let mut pool = Sums::default();
        for times in threads.iter().filter(|times| !self.is_watcher(times)) {
            let mut inner = times.sums.clone();
            inner.take(TimeCategory::Sleeping, self.naps_ns(times));
            pool.add_scaled(&inner, 1.0);
        }
        let workers: Vec<&ThreadTimes> = threads
            .iter()
            .filter(|times| !self.is_watcher(times))
            .copied()
            .collect();
        let busy = self.busy_ns(&workers).unwrap_or(f64::INFINITY);
        let mut path = Sums::default();
        for rank in 0..4 {
            let parts: Vec<_> = pool
                .iter()
                .filter(|(spent, _)| rank_in_pool(*spent) == rank)
                .collect();
            let sum: f64 = parts.iter().map(|(_, ns)| ns).sum();
            // Threads that compute concurrently only take as much time as one of them.
            let room = match rank {
                0 => whole.min(busy),
                _ => whole - path.total(),
            };
            let part = (room / sum.max(1.0)).clamp(0.0, 1.0);
            parts
                .iter()
                .for_each(|(spent, ns)| path.add(*spent, ns * part));
            if rank == 0 {
                for times in &workers {
                    self.weights.insert(times.tid, weight * part);
                }
            }
        }
        path.add(TimeCategory::Locks, whole - path.total());
        *sums = path;
    }

    /// Returns the time in which at least one of these threads was not asleep; `None` if the trace doesn't
    /// have the waits in order. Waits that are too short for the timeline count as work.
    fn busy_ns(&self, threads: &[&ThreadTimes]) -> Option<f64> {
        let timeline = self.trace.timeline.as_ref();
        let lost = self.trace.lost.intervals + self.trace.lost.records;
        let timeline = timeline.filter(|_| lost == 0)?;
        let mut asleep: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
        for interval in timeline {
            let span = (interval.from_ns, woken_ns(interval));
            asleep.entry(interval.tid).or_default().push(span);
        }
        let mut works = Vec::new();
        for times in threads {
            let mut waits = asleep.remove(&times.tid).unwrap_or_default();
            waits.sort_unstable();
            let mut at = times.from_ns;
            for (from, to) in waits {
                works.push((times.tid, at, from.max(at)));
                at = to.max(at);
            }
            works.push((times.tid, at, times.to_ns.max(at)));
        }
        Some(covered_ns(&works) as f64)
    }

    /// Reports whether the thread is a runtime's own watcher, such as Go's `sysmon`, which sleeps and polls
    /// from start to end.
    fn is_watcher(&self, times: &ThreadTimes) -> bool {
        self.naps_ns(times) > 0.4 * times.ns()
    }

    /// Returns the time of the thread's own sleeps; a runtime of this kind implements the program's sleeps
    /// with polls and locks.
    fn naps_ns(&self, times: &ThreadTimes) -> f64 {
        let naps =
            self.trace.off_cpu.iter().filter(|row| {
                row.tid == times.tid && row.call.as_deref().is_some_and(calls::is_sleep)
            });
        naps.map(|row| row.total_ns as f64).sum()
    }
}

/// Returns those of several concurrent children for which the parent had to wait: the one that ended last,
/// the one that ended last before that one began, and so on.
fn one_after_another(mut children: Vec<(u32, u64, u64)>) -> Vec<(u32, u64, u64)> {
    children.sort_by_key(|child| std::cmp::Reverse(child.2));
    let mut chain: Vec<(u32, u64, u64)> = Vec::new();
    for child in children {
        if chain.last().is_none_or(|later| child.2 <= later.1) {
            chain.push(child);
        }
    }
    chain
}

/// Returns the rank in which a pool's threads account for time of this category; 4 is idleness. A runtime's
/// own threads wait for events from start to end, but they wait for a duration only if the program does.
fn rank_in_pool(spent: TimeCategory) -> u8 {
    match spent {
        TimeCategory::Locks | TimeCategory::Unaccounted => 4,
        TimeCategory::WaitingForEvents | TimeCategory::Signals | TimeCategory::OtherWait => 3,
        TimeCategory::Sleeping => 2,
        TimeCategory::WaitingForInput
        | TimeCategory::WaitingForOutput
        | TimeCategory::WaitingForPipe
        | TimeCategory::WaitingForChild
        | TimeCategory::Disk
        | TimeCategory::Network => 1,
        _ => 0,
    }
}

fn rank_ns(sums: &Sums, rank: u8) -> f64 {
    let parts = sums
        .iter()
        .filter(|(spent, _)| rank_in_pool(*spent) == rank);
    parts.map(|(_, ns)| ns).sum()
}

/// Returns the time in which a thread did something other than queue or sleep; runtimes have threads that
/// only nap.
fn active_ns(times: &ThreadTimes) -> f64 {
    times.sums.total()
        - times.sums.get(TimeCategory::Locks)
        - times.sums.get(TimeCategory::Sleeping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_nothing_ends_any_thread_works_and_the_busiest_says_what_is_waited_for() {
        use crate::fake::{Fake, MS, ROOT};
        let mut fake = Fake::new(1000);
        fake.trace.attached = Some(fathom_trace::Attached::default());
        // The first thread waits for events; of the other two, one computes and one only naps.
        fake.wait_for(ROOT, "epoll_wait", Some(5), (0, 1000, 1000), None);
        fake.thread(ROOT, 201, 0, 1000, 1000);
        fake.wait_for(201, "clock_nanosleep", None, (300, 1000, 1000), None);
        fake.thread(ROOT, 202, 0, 1000, 1000);
        fake.wait_for(202, "futex", None, (0, 900, 900), None);
        let account = crate::diagnose(&fake.observation(&[])).account;
        let ms = |spent| account.ns(spent) / MS;
        assert_eq!(ms(TimeCategory::UserCode), 400);
        assert_eq!(ms(TimeCategory::Sleeping), 600);
        assert_eq!(ms(TimeCategory::Locks), 0);
        assert_eq!(account.wall_ns, 1000 * MS);
        let sum: u64 = account.parts.iter().map(|part| part.ns).sum();
        assert_eq!(sum, account.wall_ns);
    }

    #[test]
    fn an_idle_server_waits_for_its_clients_and_not_for_a_timer_of_its_library() {
        use crate::fake::{Fake, MS, ROOT};
        let account = |listening: Vec<u32>| {
            let mut fake = Fake::new(1000);
            fake.trace.attached = Some(fathom_trace::Attached {
                listening,
                ..fathom_trace::Attached::default()
            });
            fake.wait_for(ROOT, "futex", None, (0, 1000, 1000), None);
            fake.thread(ROOT, 201, 0, 1000, 0);
            fake.wait_for(201, "clock_nanosleep", None, (0, 1000, 1000), None);
            fake.thread(ROOT, 202, 0, 1000, 0);
            fake.wait_for(202, "epoll_wait", Some(5), (0, 1000, 1000), None);
            crate::diagnose(&fake.observation(&[])).account
        };
        let served = account(vec![ROOT]);
        assert_eq!(served.ns(TimeCategory::WaitingForEvents), 1000 * MS);
        assert_eq!(account(Vec::new()).ns(TimeCategory::WaitingForEvents), 0);
    }

    #[test]
    fn a_parent_that_only_waits_for_its_workers_has_their_time() {
        use crate::fake::{Fake, MS, ROOT};
        let mut fake = Fake::new(1000);
        fake.trace.attached = Some(fathom_trace::Attached::default());
        fake.wait_for(ROOT, "rt_sigsuspend", None, (0, 1000, 1000), None);
        for pid in [200, 300] {
            let cpu = u64::from(pid);
            fake.child(pid, 0, 1000, 1000);
            fake.wait_for(pid, "epoll_wait", Some(5), (cpu, 1000, 1000), None);
            fake.trace
                .processes
                .last_mut()
                .expect("it was made")
                .ended_ns = None;
        }
        let account = crate::diagnose(&fake.observation(&[])).account;
        assert_eq!(account.ns(TimeCategory::UserCode) / MS, 300);
        assert_eq!(account.ns(TimeCategory::Signals), 0);
    }

    #[test]
    fn of_children_side_by_side_the_last_to_end_is_waited_for() {
        let chain = one_after_another(vec![(1, 0, 10), (2, 0, 40), (3, 41, 60), (4, 41, 90)]);
        let pids: Vec<u32> = chain.iter().map(|child| child.0).collect();
        assert_eq!(pids, [4, 2]);
    }
}
