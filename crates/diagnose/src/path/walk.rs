//! The path by wake-ups: what was waited for at each moment, from the end back to the start?
//!
//! Begins where the command ended. A thread that ran then is followed back to its last wait. Who
//! ended a wait for a child, for a pipe of the tree or for a thread is what was waited for: the path
//! goes on there. Any other wait is a part of the account by itself. At its start a thread was made
//! by another, where the path goes on. So each moment of the wall time is passed once.

use std::collections::HashMap;

use fathom_model::Spent;
use fathom_trace::{Cause, Interval, Trace};

use super::{CriticalPath, shares};
use crate::Language;
use crate::account::{Life, Sums};
use crate::classify::Classifier;

/// A thread that ends so soon after waking another was joined: the rest of its end takes 0.1 ms
/// where a CPU is free.
const JOIN_NS: u64 = 2_000_000;

struct Walk<'a> {
    trace: &'a Trace,
    classifier: &'a Classifier<'a>,
    lives: HashMap<u32, &'a Life>,
    intervals: HashMap<u32, Vec<&'a Interval>>,
    /// On the path, by thread: time outside of the intervals, and in them by what was waited for.
    outside: HashMap<u32, f64>,
    waits: HashMap<(u32, Spent), f64>,
    /// Sums that no thread of the walk has.
    beside: Sums,
    weights: HashMap<u32, f64>,
}

/// The path, or `None` if the trace doesn't tell every wait in its place.
pub(super) fn find(
    trace: &Trace,
    lives: &[Life],
    classifier: &Classifier<'_>,
) -> Option<CriticalPath> {
    let told = trace.timeline.as_ref()?;
    if trace.lost.intervals > 0 || trace.lost.records > 0 {
        return None;
    }
    let mut intervals: HashMap<u32, Vec<&Interval>> = HashMap::new();
    for interval in told.iter().filter(|i| i.from_ns < i.to_ns) {
        intervals.entry(interval.tid).or_default().push(interval);
    }
    intervals
        .values_mut()
        .for_each(|list| list.sort_by_key(|interval| interval.from_ns));
    let mut walk = Walk {
        trace,
        classifier,
        lives: lives.iter().map(|life| (life.tid, life)).collect(),
        intervals,
        outside: HashMap::new(),
        waits: HashMap::new(),
        beside: Sums::default(),
        weights: HashMap::new(),
    };
    let last = walk.last_thread(lives)?;
    walk.back_from(last, trace.duration_ns, told.len() + lives.len());
    Some(walk.path(lives))
}

impl<'a> Walk<'a> {
    /// The thread that the command ended with: its main thread, unless another outlived it.
    fn last_thread(&self, lives: &'a [Life]) -> Option<&'a Life> {
        let root = self.trace.processes.first().map_or(lives.first()?.pid, |p| p.pid);
        let own = lives.iter().filter(|life| life.pid == root);
        own.max_by_key(|life| (life.to_ns / JOIN_NS, life.tid == root))
    }

    /// Follows the path back from `at` on this thread. Each step takes an interval or goes to
    /// another thread; two in one moment can point at each other, so steps are bounded.
    fn back_from(&mut self, mut life: &'a Life, mut at: u64, steps: usize) {
        for _ in 0..2 * steps + 1_000 {
            if life.to_ns < at {
                // From a thread's last record to the moment when it was noticed: its end.
                self.beside
                    .add(Spent::KernelProcesses, (at - life.to_ns) as f64);
                at = life.to_ns;
            }
            if self.is_pool(life.pid) {
                let Some(maker) = self.through_pool(life.pid, &mut at) else {
                    return;
                };
                life = maker;
                continue;
            }
            let Some(interval) = self.last_interval(life.tid, at) else {
                self.ran(life.tid, at.saturating_sub(life.from_ns));
                at = at.min(life.from_ns);
                let Some(maker) = self.maker(life, at) else {
                    return;
                };
                life = maker;
                continue;
            };
            if interval.to_ns < at {
                self.ran(life.tid, at - interval.to_ns);
                at = interval.to_ns;
            }
            at = self.back_to_wake_up(life.tid, interval, at);
            if at <= interval.from_ns {
                continue;
            }
            match self.waker(life, interval, at) {
                Some(waker) => life = waker,
                None => {
                    let spent = self.classifier.interval(interval);
                    self.waited(life.tid, spent, at - interval.from_ns);
                    at = interval.from_ns;
                }
            }
        }
    }

    fn ran(&mut self, tid: u32, ns: u64) {
        *self.outside.entry(tid).or_default() += ns as f64;
    }

    fn waited(&mut self, tid: u32, spent: Spent, ns: u64) {
        *self.waits.entry((tid, spent)).or_default() += ns as f64;
    }

    /// The time after the wake-up, or all of it if nothing was waited for but a CPU.
    fn back_to_wake_up(&mut self, tid: u32, interval: &Interval, at: u64) -> u64 {
        let woken = match (interval.cause, interval.woken_ns) {
            (Cause::Preempted | Cause::Ready, _) => interval.from_ns,
            (_, Some(woken)) => woken.clamp(interval.from_ns, interval.to_ns),
            (_, None) => interval.to_ns,
        };
        self.waited(tid, Spent::Ready, at.saturating_sub(woken));
        at.min(woken)
    }

    fn last_interval(&self, tid: u32, at: u64) -> Option<&'a Interval> {
        let list = self.intervals.get(&tid)?;
        let next = list.partition_point(|interval| interval.from_ns < at);
        next.checked_sub(1).and_then(|last| list.get(last)).copied()
    }

    /// Whether a thread was alive and not off a CPU, so that it can have done something then.
    fn runs(&self, life: &Life, at: u64) -> bool {
        let off = self.last_interval(life.tid, at);
        life.from_ns < at && off.is_none_or(|interval| interval.to_ns <= at)
    }

    /// Who ended a wait, if that is what was waited for.
    fn waker(&self, life: &Life, interval: &Interval, at: u64) -> Option<&'a Life> {
        let by = interval.woken_by.and_then(|tid| self.lives.get(&tid));
        let by = by.copied().filter(|waker| waker.tid != life.tid);
        let by = by.filter(|waker| self.runs(waker, at));
        match self.classifier.interval(interval) {
            Spent::WaitingForChild => by
                .filter(|waker| waker.pid != life.pid)
                .or_else(|| self.child_that_ended(life.pid, interval.from_ns, at)),
            Spent::WaitingForPipe | Spent::WaitingForInput | Spent::WaitingForOutput => by,
            Spent::Locks => by.filter(|waker| self.is_joined(life, waker, at)),
            _ => None,
        }
    }

    /// A wait for a thread's end or its result, not for its turn with a lock.
    fn is_joined(&self, life: &Life, waker: &Life, at: u64) -> bool {
        let threads = self.lives.values().filter(|l| l.pid == life.pid).count();
        waker.pid == life.pid
            && (waker.to_ns.saturating_sub(at) <= JOIN_NS
                || shares::joins(self.trace, life, threads - 1))
    }

    /// The child whose end was noticed at `at`: killed, say, so that its last thread made no call.
    fn child_that_ended(&self, parent: u32, from: u64, at: u64) -> Option<&'a Life> {
        let children = self.trace.processes.iter().filter(|p| p.parent == Some(parent));
        let ended = children.filter_map(|child| Some((child.ended_ns?, child.pid)));
        let (_, pid) = ended.filter(|(end, _)| (from..=at).contains(end)).max()?;
        self.lives.get(&pid).copied()
    }

    /// The thread that made this one: one of its process, or of its parent, that ran then; the
    /// main thread if it may be.
    fn maker(&self, life: &Life, at: u64) -> Option<&'a Life> {
        let process = if life.tid == life.pid {
            self.process(life.pid)?.parent?
        } else {
            life.pid
        };
        let mut candidates: Vec<&Life> = self
            .lives
            .values()
            .copied()
            .filter(|other| other.pid == process && other.tid != life.tid && other.from_ns < at)
            .collect();
        candidates.sort_by_key(|other| (!self.runs(other, at), other.tid != process, other.tid));
        candidates.first().copied()
    }

    fn process(&self, pid: u32) -> Option<&'a fathom_trace::Process> {
        self.trace.processes.iter().find(|p| p.pid == pid)
    }

    /// Whether a process is of a runtime whose threads hand their work around: who woke whom then
    /// says little.
    fn is_pool(&self, pid: u32) -> bool {
        let program = self.process(pid).and_then(|p| p.execs.last());
        program.and_then(|exec| Language::from_program_name(&exec.path)) == Some(Language::Node)
    }

    /// Takes the process as a whole, from its start to `at`.
    fn through_pool(&mut self, pid: u32, at: &mut u64) -> Option<&'a Life> {
        let lives: Vec<Life> = self.lives.values().map(|life| (*life).clone()).collect();
        let inner = shares::of_process(self.trace, &lives, pid, true);
        let main = self.lives.get(&pid).copied()?;
        let part = at.saturating_sub(main.from_ns) as f64 / inner.sums.total().max(1.0);
        self.beside.add_scaled(&inner.sums, part);
        for (tid, weight) in inner.weights {
            let sum = self.weights.entry(tid).or_default();
            *sum = (*sum + weight * part).min(1.0);
        }
        *at = main.from_ns.min(*at);
        self.maker(main, *at)
    }

    /// Time outside of a thread's intervals was spent on what of its life they don't tell: on a
    /// CPU, and in waits too short to be kept.
    fn rest_of(&self, life: &Life) -> Sums {
        let mut rest = life.sums.clone();
        for interval in self.intervals.get(&life.tid).into_iter().flatten() {
            let woken = match (interval.cause, interval.woken_ns) {
                (Cause::Preempted | Cause::Ready, _) => interval.from_ns,
                (_, Some(woken)) => woken.clamp(interval.from_ns, interval.to_ns),
                (_, None) => interval.to_ns,
            };
            rest.take(
                self.classifier.interval(interval),
                (woken - interval.from_ns) as f64,
            );
            rest.take(Spent::Ready, (interval.to_ns - woken) as f64);
        }
        rest
    }

    /// Puts together what was gathered.
    fn path(mut self, lives: &[Life]) -> CriticalPath {
        let mut sums = std::mem::take(&mut self.beside);
        let mut weights = std::mem::take(&mut self.weights);
        let mut waits: HashMap<(u32, Spent), f64> = HashMap::new();
        for life in lives {
            let outside = self.outside.get(&life.tid).copied().unwrap_or(0.0);
            let rest = self.rest_of(life);
            let part = outside / rest.total().max(1.0);
            if outside > 0.0 && rest.total() > 0.0 {
                sums.add_scaled(&rest, part);
                weights.insert(life.tid, part.min(1.0));
            } else {
                sums.add(Spent::UserCode, outside);
            }
            for (spent, whole) in life.sums.iter() {
                let short = rest.get(spent) * part.min(1.0);
                let told = self.waits.get(&(life.tid, spent)).copied().unwrap_or(0.0);
                waits.insert((life.tid, spent), ((short + told) / whole).min(1.0));
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
