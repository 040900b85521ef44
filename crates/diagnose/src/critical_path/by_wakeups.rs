//! Finds the path by wake-ups: what each wait was for.
//!
//! The search goes back from the end of the command on its main thread. A wait for a child, for a joined
//! thread or for a pipe of the tree is replaced by what the thread that ended the wait did meanwhile; that
//! thread's own waits are treated in the same way. Any other wait is itself a part of the account. Each
//! moment of the wall time is thus covered once, and no replacement extends beyond the wait that it replaces.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use fathom_model::TimeCategory;
use fathom_trace::{Interval, Trace};

use super::by_sums;
use super::path::CriticalPath;
use super::wake_graph::{ON_PIPES, WaitAtPipe, WakeGraph};
use crate::classify::Classifier;
use crate::intervals::woken_ns;
use crate::sums::Sums;
use crate::thread_times::ThreadTimes;

/// The maximum nesting of waits that are followed; each level is in another thread.
const DEEPEST: u32 = 100;

struct Walk<'a> {
    graph: WakeGraph<'a>,
    /// Processes whose threads pass work to each other, so wake-ups between them mean little.
    pools: &'a HashSet<u32>,
    /// Cached results for the processes in `pools`.
    inside: HashMap<u32, Rc<Pool<'a>>>,
    /// The on-path time outside of intervals, by thread. On-path time in intervals is kept by what was waited
    /// for.
    outside: HashMap<u32, f64>,
    waits: BTreeMap<(u32, TimeCategory), f64>,
    /// Threads whose short waits for pipes count as time of other threads.
    handed_over: HashSet<u32>,
    /// The CPU time of the tree after the last records of its threads.
    charged_after_ends: f64,
    /// Threads that are waited for at a later moment, either for their end or for their work, and when the
    /// earliest such wait began.
    awaited: HashMap<u32, u64>,
    /// The threads whose waits are being replaced, from the outermost to the current one.
    on_the_way: Vec<u32>,
    /// Sums that don't belong to any thread on the way.
    beside: Sums,
    weights: HashMap<u32, f64>,
}

/// A process whose threads pass work to each other.
struct Pool<'a> {
    /// What the process spent its time on.
    path: CriticalPath,
    waits: Vec<WaitAtPipe<'a>>,
}

/// Returns the path of a process, or `None` if the trace doesn't have every wait in order.
pub(super) fn find(
    root: u32,
    trace: &Trace,
    threads: &[ThreadTimes],
    classifier: &Classifier<'_>,
    pools: &HashSet<u32>,
) -> Option<CriticalPath> {
    if trace.lost.intervals > 0 || trace.lost.records > 0 {
        return None;
    }
    let mut walk = Walk {
        graph: WakeGraph::new(trace, threads, classifier)?,
        pools,
        inside: HashMap::new(),
        outside: HashMap::new(),
        waits: BTreeMap::new(),
        handed_over: HashSet::new(),
        awaited: HashMap::new(),
        on_the_way: Vec::new(),
        charged_after_ends: charged_after_ends(trace),
        beside: Sums::default(),
        weights: HashMap::new(),
    };
    let last = walk.graph.last_thread(root)?;
    walk.cover(last, 0, trace.duration_ns, 0);
    Some(walk.path())
}

/// Returns the CPU time that the kernel charged beyond the on-CPU time in the records.
fn charged_after_ends(trace: &Trace) -> f64 {
    let charged = trace.accounts.user_ns + trace.accounts.system_ns;
    let reported: u64 = trace
        .threads
        .iter()
        .filter_map(|thread| thread.on_cpu_ns)
        .sum();
    charged.saturating_sub(reported) as f64
}

impl<'a> Walk<'a> {
    /// Accounts for the time from `from` to `to` by what this thread did and what it waited for.
    fn cover(&mut self, times: &'a ThreadTimes, from: u64, to: u64, depth: u32) {
        self.on_the_way.push(times.tid);
        self.cover_by(times, from, to, depth);
        self.on_the_way.pop();
    }

    fn cover_by(&mut self, times: &'a ThreadTimes, from: u64, to: u64, depth: u32) {
        let mut at = to;
        if times.to_ns < at {
            let end = times.to_ns.max(from);
            self.ended((at - end) as f64);
            at = end;
        }
        if self.pools.contains(&times.pid) {
            let begin = self.through_pool(times.pid, (from, at), depth);
            return self.before(times, from, begin, depth);
        }
        while at > from {
            let last = self.graph.last_interval(times.tid, at);
            let Some(interval) = last.filter(|interval| interval.to_ns > from) else {
                let begin = times.from_ns.clamp(from, at);
                self.ran(times.tid, at - begin);
                return self.before(times, from, begin, depth);
            };
            let back = at.min(interval.to_ns);
            self.ran(times.tid, at - back);
            let begin = interval.from_ns.max(from);
            let woken = woken_ns(interval).clamp(begin, back);
            let ready = ((back - woken) as f64 * times.truly_ready).round() as u64;
            self.waited(times.tid, TimeCategory::Ready, ready);
            self.ran(times.tid, back - woken - ready);
            match self.graph.waker(times, interval, woken) {
                Some(waker) if depth < DEEPEST => {
                    self.awaited.insert(waker.tid, begin);
                    self.cover(waker, begin, woken, depth + 1);
                }
                _ => self.alone(times, interval, (begin, woken), depth),
            }
            at = begin;
        }
    }

    /// Handles a wait that no thread of the tree ended. A sleep may happen during the work of a thread that
    /// is waited for anyway, or whose end is polled for. In that case the sleep counts as that thread's time,
    /// because the command would not end sooner without it.
    fn alone(
        &mut self,
        times: &'a ThreadTimes,
        wait: &Interval,
        (from, to): (u64, u64),
        depth: u32,
    ) {
        let spent = self.graph.classifier.interval(wait);
        let worker = match spent {
            TimeCategory::Sleeping if depth < DEEPEST => {
                let (awaited, sleepers) = (&self.awaited, &self.on_the_way);
                self.graph
                    .slept_beside(times, (from, to), awaited, sleepers)
            }
            _ => None,
        };
        let end = worker.map_or(from, |worker| worker.to_ns.clamp(from, to));
        self.waited(times.tid, spent, to - end);
        if let Some(worker) = worker {
            self.awaited.insert(worker.tid, from);
            self.cover(worker, from, end, depth + 1);
        }
    }

    /// Attributes the time before a thread existed to the thread that created it.
    fn before(&mut self, times: &ThreadTimes, from: u64, to: u64, depth: u32) {
        if to <= from || depth >= DEEPEST {
            return;
        }
        if let Some(maker) = self.graph.maker(times, to) {
            self.cover(maker, from, to, depth + 1);
        }
    }

    /// Accounts for the time from a thread's last record to the moment when its end was noticed. This is
    /// teardown as far as the kernel charged CPU time without records; the rest is waiting for a CPU.
    fn ended(&mut self, ns: f64) {
        let work = ns.min(self.charged_after_ends);
        self.charged_after_ends -= work;
        self.beside.add(TimeCategory::KernelProcesses, work);
        self.beside.add(TimeCategory::Ready, ns - work);
    }

    fn ran(&mut self, tid: u32, ns: u64) {
        *self.outside.entry(tid).or_default() += ns as f64;
    }

    fn waited(&mut self, tid: u32, spent: TimeCategory, ns: u64) {
        *self.waits.entry((tid, spent)).or_default() += ns as f64;
    }

    /// Accounts for the process as a whole between two moments. Its waits at pipes of the tree are replaced
    /// by what the threads that ended them did. Returns when the process began, or `from` if that is later.
    fn through_pool(&mut self, pid: u32, (from, to): (u64, u64), depth: u32) -> u64 {
        let pool = Rc::clone(self.inside.entry(pid).or_insert_with(|| {
            let path = by_sums::of_process(self.graph.trace, self.graph.all, pid, self.pools);
            let waits = self.graph.waits_at_pipes(pid);
            Rc::new(Pool { path, waits })
        }));
        let began = self
            .graph
            .threads
            .get(&pid)
            .map_or(from, |main| main.from_ns);
        let begin = began.clamp(from, to);
        let part = (to - begin) as f64 / pool.path.sums.total().max(1.0);
        for (tid, weight) in &pool.path.weights {
            let sum = self.weights.entry(*tid).or_default();
            *sum = (*sum + weight * part).min(1.0);
        }
        let mut sums = Sums::default();
        sums.add_scaled(&pool.path.sums, part);
        // A wait that ends later is not part of this time; the thread that ended it may be waiting for this
        // process now.
        let first = pool.waits.partition_point(|wait| wait.to <= begin);
        let waits = pool.waits[first..].iter();
        let waits = waits.take_while(|wait| wait.to <= to && depth < DEEPEST);
        for wait in waits {
            let room = sums.of(|spent| ON_PIPES.contains(&spent));
            let ns = (wait.to - wait.from.max(begin)).min(room as u64);
            let left = |left, spent: &TimeCategory| left - sums.take(*spent, left);
            ON_PIPES.iter().fold(ns as f64, left);
            self.awaited.insert(wait.by.tid, wait.to - ns);
            self.cover(wait.by, wait.to - ns, wait.to, depth + 1);
        }
        self.beside.add_scaled(&sums, 1.0);
        begin
    }

    /// Returns what a thread's time outside of its intervals was spent on: running on a CPU, and waits that
    /// are too short to be recorded.
    fn rest_of(&self, times: &ThreadTimes) -> Sums {
        let mut rest = times.sums.clone();
        if self.handed_over.contains(&times.tid) {
            for spent in ON_PIPES {
                rest.take(spent, f64::INFINITY);
            }
        }
        for interval in self.graph.intervals(times.tid) {
            let woken = woken_ns(interval);
            rest.take(
                self.graph.classifier.interval(interval),
                (woken - interval.from_ns) as f64,
            );
            let ready = (interval.to_ns - woken) as f64 * times.truly_ready;
            rest.take(TimeCategory::Ready, ready);
        }
        rest
    }

    /// Handles waits for a pipe of the tree that are too short for the timeline: they are attributed to the
    /// thread that ended most of the recorded ones.
    fn hand_over_short_waits(&mut self) {
        let mut moves = Vec::new();
        for times in self.graph.all {
            let rest = self.rest_of(times);
            let waits: f64 = ON_PIPES.iter().map(|spent| rest.get(*spent)).sum();
            let outside = self.outside.get(&times.tid).copied().unwrap_or(0.0);
            if waits > 0.0
                && outside > 0.0
                && let Some(partner) = self.graph.partner(times.tid)
            {
                moves.push((times.tid, partner, waits * outside / rest.total()));
            }
        }
        for (tid, partner, ns) in moves {
            *self.outside.entry(tid).or_default() -= ns;
            *self.outside.entry(partner).or_default() += ns;
            self.handed_over.insert(tid);
        }
    }

    /// Builds the path from what was gathered.
    fn path(mut self) -> CriticalPath {
        self.hand_over_short_waits();
        let mut sums = std::mem::take(&mut self.beside);
        let mut weights = std::mem::take(&mut self.weights);
        let mut waits: BTreeMap<(u32, TimeCategory), f64> = BTreeMap::new();
        for times in self.graph.all {
            let outside = self.outside.get(&times.tid).copied().unwrap_or(0.0);
            let rest = self.rest_of(times);
            let part = outside / rest.total().max(1.0);
            if outside > 0.0 && rest.total() > 0.0 {
                sums.add_scaled(&rest, part);
                weights.insert(times.tid, part.min(1.0));
            } else {
                sums.add(TimeCategory::UserCode, outside);
            }
            for (spent, whole) in times.sums.iter() {
                let short = rest.get(spent) * part.min(1.0);
                let reported = self.waits.get(&(times.tid, spent)).copied().unwrap_or(0.0);
                waits.insert((times.tid, spent), ((short + reported) / whole).min(1.0));
            }
        }
        for ((_, spent), ns) in &self.waits {
            sums.add(*spent, *ns);
        }
        CriticalPath {
            sums,
            weights,
            waits: Some(waits),
        }
    }
}

#[cfg(test)]
mod tests;
