//! Determines who ended each wait, who created each thread, and which thread ended the command.

use std::cell::RefCell;
use std::collections::HashMap;

use fathom_model::TimeCategory;
use fathom_trace::{Interval, Trace};

use super::path::{GIVING_BACK_NS, representative_thread};
use super::waits::lock_waits;
use crate::calls;
use crate::classify::Classifier;
use crate::intervals::{by_thread, woken_ns};
use crate::thread_times::ThreadTimes;
use crate::thresholds as t;

/// The categories of waits at a pipe. If both ends of the pipe are in the tree, such waits are replaced by
/// what the other end did.
pub(super) const ON_PIPES: [TimeCategory; 3] = [
    TimeCategory::WaitingForPipe,
    TimeCategory::WaitingForInput,
    TimeCategory::WaitingForOutput,
];

/// A thread that ends within this time, in nanoseconds, after it woke another was joined, unless it woke the
/// other one again. The rest of its end takes 0.1 ms if a CPU is free.
const JOIN_NS: u64 = 2_000_000;

/// After this many waits of one thread that the same other thread ended, the next such wait counts as one
/// more round of the same exchange.
const TURNS: usize = 3;

/// A thread that wakes another and then sleeps may leave its CPU before the other CPU records the wake-up.
/// Between the CPUs of a VM, this was 20 to 40 µs earlier.
const WAKING_NS: u64 = 500_000;

/// The minimum number of naps that count as polling for an end; fewer naps are pauses.
const NAPS: usize = 3;

/// The number of waits of a runtime's thread to search between the request to end the process and its end.
const STEPS_TO_AN_END: usize = 64;

/// Reports whether a thread was hardly ever on a CPU.
fn hardly_runs(times: &ThreadTimes) -> bool {
    times.on_cpu_ns * 10.0 < times.ns()
}

/// The wake-ups between the threads of a trace, with their waits in order.
pub(super) struct WakeGraph<'a> {
    pub trace: &'a Trace,
    pub classifier: &'a Classifier<'a>,
    pub all: &'a [ThreadTimes],
    pub threads: HashMap<u32, &'a ThreadTimes>,
    intervals: HashMap<u32, Vec<&'a Interval>>,
    /// See [`only_woken`].
    only_woken: HashMap<u32, Option<u32>>,
    /// Answers of [`Self::serves`], by the thread that serves and the thread that asks: threads may wait for
    /// each other a hundred thousand times.
    serving: RefCell<HashMap<(u32, u32), bool>>,
}

/// A wait at a pipe, and the thread that ended it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitAtPipe<'a> {
    pub from: u64,
    pub to: u64,
    pub by: &'a ThreadTimes,
}

/// Reports whether `waker` waits for data from outside that it passes to this thread of its process, and
/// never queues itself. In that case this thread in effect waits for the same data. The data may be the end
/// of a pause if no other thread is woken: one that sleeps while it holds a lock keeps several from it.
fn brings_from_outside(times: &ThreadTimes, waker: &ThreadTimes, is_only_one: bool) -> bool {
    const OUTSIDE: [TimeCategory; 4] = [
        TimeCategory::WaitingForInput,
        TimeCategory::WaitingForPipe,
        TimeCategory::Network,
        TimeCategory::Disk,
    ];
    let outside: f64 = OUTSIDE.iter().map(|spent| waker.sums.get(*spent)).sum();
    let pauses = match is_only_one {
        true => waker.sums.get(TimeCategory::Sleeping),
        false => 0.0,
    };
    waker.pid == times.pid
        && outside + pauses >= t::PART_OUTSIDE_OF_A_FEEDER * waker.ns()
        && waker.sums.get(TimeCategory::Locks) <= t::PART_IN_LOCKS_OF_A_FEEDER * waker.ns()
}

/// Returns the thread whose waits for locks each thread ended, or `None` if there were several.
fn only_woken(trace: &Trace) -> HashMap<u32, Option<u32>> {
    let mut only: HashMap<u32, Option<u32>> = HashMap::new();
    let waits = trace.timeline.iter().flatten();
    for wait in waits.filter(|wait| wait.call.as_deref().is_some_and(calls::is_lock)) {
        if let Some(by) = wait.woken_by {
            let woken = only.entry(by).or_insert(Some(wait.tid));
            *woken = woken.filter(|tid| *tid == wait.tid);
        }
    }
    only
}

impl<'a> WakeGraph<'a> {
    /// Builds the graph; returns `None` if the trace doesn't have the waits in order.
    pub(super) fn new(
        trace: &'a Trace,
        threads: &'a [ThreadTimes],
        classifier: &'a Classifier<'a>,
    ) -> Option<Self> {
        trace.timeline.is_some().then(|| Self {
            trace,
            classifier,
            all: threads,
            threads: threads.iter().map(|times| (times.tid, times)).collect(),
            intervals: by_thread(trace),
            only_woken: only_woken(trace),
            serving: RefCell::default(),
        })
    }

    /// Returns a thread's waits in order.
    pub(super) fn intervals(&self, tid: u32) -> impl DoubleEndedIterator<Item = &'a Interval> {
        self.intervals.get(&tid).into_iter().flatten().copied()
    }

    /// Returns the thread with which this process ended: the one that ended it, or otherwise its main thread.
    /// If a runtime uses a helper thread for that, which hardly ever ran, returns the thread that requested
    /// the end.
    pub(super) fn last_thread(&self, root: u32) -> Option<&'a ThreadTimes> {
        let own = || self.all.iter().filter(|times| times.pid == root);
        let main = representative_thread(self.all, root)?;
        let ends_it = |row: &&fathom_trace::SyscallRow| row.pid == root && row.name == "exit_group";
        let caller = self.trace.syscalls.iter().find(ends_it);
        let caller = caller.and_then(|row| self.threads.get(&row.tid)).copied();
        if own().count() == 1 {
            return Some(main);
        }
        if main.tid != root {
            return Some(main);
        }
        match caller {
            Some(caller) if caller.tid == main.tid || !hardly_runs(caller) => Some(caller),
            Some(caller) => self.asked_to_end(caller).or(Some(caller)),
            // The call wasn't traced. If the main thread slept until the end, another thread made it.
            None => {
                let wait = self.last_interval(main.tid, main.to_ns);
                let asleep = wait.is_some_and(|wait| {
                    let lock = self.classifier.interval(wait) == TimeCategory::Locks;
                    lock && wait.to_ns + GIVING_BACK_NS >= main.to_ns
                });
                let busiest = own().max_by(|a, b| a.on_cpu_ns.total_cmp(&b.on_cpu_ns));
                busiest
                    .filter(|_| asleep && hardly_runs(main))
                    .or(Some(main))
            }
        }
    }

    /// Returns the thread that woke `last` to end the process, possibly through other threads. A thread that
    /// works is preferred, and then one that isn't the runtime's own.
    fn asked_to_end(&self, last: &'a ThreadTimes) -> Option<&'a ThreadTimes> {
        let waits = self.intervals(last.tid);
        let wakers = waits.rev().take(STEPS_TO_AN_END).filter_map(|wait| {
            let by = self.threads.get(&wait.woken_by?).copied()?;
            let is_other = by.pid == last.pid && by.tid != last.tid;
            // A thread of the runtime waits for requests with a time limit.
            let asked = self.classifier.interval(wait) == TimeCategory::Locks || last.of_runtime;
            (is_other && asked).then_some(by)
        });
        let wakers: Vec<&ThreadTimes> = wakers.collect();
        let works = wakers.iter().find(|waker| !hardly_runs(waker));
        let of_program = || wakers.iter().find(|waker| !waker.of_runtime);
        works.or_else(of_program).copied()
    }

    /// Returns a thread's waits that end after `at`, in order.
    fn intervals_after(&self, tid: u32, at: u64) -> impl Iterator<Item = &'a Interval> {
        let list = self.intervals.get(&tid).map_or(&[][..], Vec::as_slice);
        let first = list.partition_point(|interval| interval.to_ns <= at);
        list[first..].iter().copied()
    }

    pub(super) fn last_interval(&self, tid: u32, at: u64) -> Option<&'a Interval> {
        let list = self.intervals.get(&tid)?;
        let next = list.partition_point(|interval| interval.from_ns < at);
        next.checked_sub(1).and_then(|last| list.get(last)).copied()
    }

    /// Reports whether a thread was alive and was on a CPU or had left it only just before, so that it can
    /// have done something at that time.
    fn runs(&self, times: &ThreadTimes, at: u64) -> bool {
        let off = self.last_interval(times.tid, at);
        let just_left = |interval: &Interval| at - interval.from_ns <= WAKING_NS;
        times.from_ns < at && off.is_none_or(|interval| interval.to_ns <= at || just_left(interval))
    }

    /// Returns the thread that ended a wait, if it was that thread for which the wait was made.
    pub(super) fn waker(
        &self,
        times: &ThreadTimes,
        interval: &Interval,
        at: u64,
    ) -> Option<&'a ThreadTimes> {
        let by = interval.woken_by.and_then(|tid| self.threads.get(&tid));
        let by = by.copied().filter(|waker| waker.tid != times.tid);
        let by = by.filter(|waker| self.runs(waker, at));
        // If another thread of the process ended a poll, the poll was waiting for that thread's work.
        let polls = interval.call.as_deref().is_some_and(calls::is_poll);
        if let Some(waker) = by.filter(|waker| polls && waker.pid == times.pid) {
            return Some(waker);
        }
        match self.classifier.interval(interval) {
            TimeCategory::WaitingForChild => by
                .filter(|waker| waker.pid != times.pid)
                // A runtime may end a process with a thread of its own.
                .map(|waker| match waker.tid == waker.pid {
                    true => waker,
                    false => self.last_thread(waker.pid).unwrap_or(waker),
                })
                .or_else(|| self.child_that_ended(times.pid, interval.from_ns, at))
                .or_else(|| self.child_at_the_end(times.pid, at)),
            TimeCategory::WaitingForPipe
            | TimeCategory::WaitingForInput
            | TimeCategory::WaitingForOutput => by,
            TimeCategory::Locks if self.hands_out(times) => by
                .filter(|waker| waker.pid == times.pid)
                .or_else(|| self.worked_on(times, interval.from_ns, at)),
            // A runtime's own thread does what the program's thread is waiting for, so the latter isn't
            // queuing for a lock.
            TimeCategory::Locks => by.filter(|waker| {
                waker.pid == times.pid && (waker.of_runtime || self.is_served(waker, times))
                    || self.is_joined(times, waker, interval, at)
                    || brings_from_outside(times, waker, self.wakes_only(waker, times))
                    || self.passes_on(waker, times, (interval.from_ns, at))
            }),
            // The waker is a thread of the same command that computed what it sent, or that was itself
            // waiting before it answered, so the network didn't take that time.
            TimeCategory::Network => by.filter(|waker| {
                self.ran_most(waker, interval.from_ns, at) || self.classifier.asks_own(interval)
            }),
            _ => None,
        }
    }

    /// Reports whether `waker` slept meanwhile, until a third thread of the process brought it something from
    /// outside. A worker of a client library hands an answer on in this way, from the thread that polls to the one
    /// that asked. Whoever holds the lock for which this thread waits is delayed by the same data.
    fn passes_on(&self, waker: &ThreadTimes, times: &ThreadTimes, (from, at): (u64, u64)) -> bool {
        let Some(wait) = self.last_interval(waker.tid, at) else {
            return false;
        };
        let woken = woken_ns(wait);
        let by = wait.woken_by.and_then(|tid| self.threads.get(&tid));
        let is_lock = self.classifier.interval(wait) == TimeCategory::Locks;
        waker.pid == times.pid
            && is_lock
            && (woken - wait.from_ns.max(from).min(woken)) * 2 >= at - from
            && by.is_some_and(|by| by.tid != times.tid && brings_from_outside(waker, by, false))
    }

    /// Reports whether `waker` wakes only this thread, which doesn't wait for a lock, as far as stacks show it.
    fn wakes_only(&self, waker: &ThreadTimes, times: &ThreadTimes) -> bool {
        self.only_woken.get(&waker.tid) == Some(&Some(times.tid)) && !self.waits_for_locks(times)
    }

    fn waits_for_locks(&self, times: &ThreadTimes) -> bool {
        self.classifier.lock_waits.for_locks(&[times.tid]) >= t::SHOWN_BY_STACKS
    }

    /// See [`Self::serves`].
    fn is_served(&self, waker: &ThreadTimes, times: &ThreadTimes) -> bool {
        let key = (waker.tid, times.tid);
        let known = self.serving.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let serves = self.serves(waker, times);
            self.serving.borrow_mut().insert(key, serves);
            serves
        })
    }

    /// Reports whether `waker` works on requests of this thread. It does if it waits for requests until its
    /// end, or would have if its process hadn't ended, and most requests come from this thread. By contrast,
    /// a thread that queues for a lock ends when its work is done.
    fn serves(&self, waker: &ThreadTimes, times: &ThreadTimes) -> bool {
        let is_asked = |wait: &&Interval| self.classifier.interval(wait) == TimeCategory::Locks;
        let waits = || self.intervals(waker.tid).filter(is_asked);
        let last = self.last_interval(waker.tid, waker.to_ns);
        let to_the_end = last.is_some_and(|last| is_asked(&last) && last.to_ns >= waker.to_ns);
        let main = self.threads.get(&waker.pid);
        let is_left = main.is_some_and(|main| waker.tid != main.tid && waker.to_ns >= main.to_ns)
            && self.ran_since_it_woke(waker, times) <= JOIN_NS;
        let by = |wait: &&Interval| wait.woken_by == Some(times.tid);
        let (all, asked) = (waits().count(), waits().filter(by).count());
        (to_the_end || is_left) && asked >= TURNS && asked * 5 >= (all - 1) * 4
    }

    /// Returns how long `waker` was on a CPU after it last woke this thread, in ns.
    fn ran_since_it_woke(&self, waker: &ThreadTimes, times: &ThreadTimes) -> u64 {
        let mut waits = self.intervals(times.tid).rev();
        let last = waits.find(|wait| wait.woken_by == Some(waker.tid));
        let since = last.map_or(waker.from_ns, woken_ns);
        let off = self.intervals(waker.tid).rev();
        let off = off.take_while(|wait| wait.to_ns > since);
        let off = off.map(|wait| wait.to_ns - wait.from_ns.max(since)).sum();
        waker.to_ns.saturating_sub(since).saturating_sub(off)
    }

    /// Returns the waits at pipes that another process of the tree ended, in order. If two threads wait at
    /// the same time, the first counts.
    pub(super) fn waits_at_pipes(&self, pid: u32) -> Vec<WaitAtPipe<'a>> {
        let threads = self.all.iter().filter(|times| times.pid == pid);
        let waits =
            threads.flat_map(|times| self.intervals(times.tid).map(move |wait| (times, wait)));
        let at_pipes = waits.filter(|(_, wait)| ON_PIPES.contains(&self.classifier.interval(wait)));
        let ended = at_pipes.filter_map(|(times, wait)| {
            let (from, to) = (wait.from_ns, woken_ns(wait));
            let by = self.waker(times, wait, to)?;
            (by.pid != pid).then_some(WaitAtPipe { from, to, by })
        });
        let mut waits: Vec<WaitAtPipe<'a>> = ended.collect();
        waits.sort_by_key(|wait| (wait.from, wait.to));
        let mut reached = 0;
        waits.retain_mut(|wait| {
            wait.from = wait.from.max(reached);
            reached = reached.max(wait.to);
            wait.from < wait.to
        });
        waits
    }

    /// Reports whether a thread was on a CPU or ready for most of this time.
    fn ran_most(&self, times: &ThreadTimes, from: u64, to: u64) -> bool {
        if times.from_ns >= to || times.to_ns <= from {
            return false;
        }
        let list = self.intervals_after(times.tid, from);
        let list = list.take_while(|interval| interval.from_ns < to);
        let asleep = list.map(|interval| {
            let until = woken_ns(interval).min(to);
            until.saturating_sub(interval.from_ns.max(from))
        });
        asleep.sum::<u64>() * 2 < to.saturating_sub(from)
    }

    /// Returns the thread that worked while this thread slept and that is waited for, either from a later
    /// moment on (`awaited`) or by naps that end with it. A thread that finished its work and then waited for
    /// this thread, or for one of the `sleepers` that wait for this thread, is not meant: it had time to spare.
    pub(super) fn slept_beside(
        &self,
        times: &ThreadTimes,
        (from, to): (u64, u64),
        awaited: &HashMap<u32, u64>,
        sleepers: &[u32],
    ) -> Option<&'a ThreadTimes> {
        let works = |other: &&ThreadTimes| {
            let (begin, end) = (other.from_ns.max(from), other.to_ns.min(to));
            let there = end > begin && other.tid != times.tid;
            there && other.from_ns <= from && self.ran_most(other, begin, end)
        };
        let through = |other: &&ThreadTimes| {
            let since = awaited.get(&other.tid);
            other.to_ns >= to
                && since.is_some_and(|at| !self.had_to_spare(other, (to, *at), sleepers))
        };
        let ends = |other: &&ThreadTimes| {
            let is_awaited = awaited.contains_key(&other.tid);
            other.to_ns < to && (is_awaited || self.naps_until(times, other, to))
        };
        let others = || self.all.iter().filter(works);
        others()
            .find(through)
            .or_else(|| others().filter(ends).max_by_key(|other| other.to_ns))
    }

    /// Reports whether a thread waited for one of the `sleepers` for more than a tenth of the time.
    fn had_to_spare(&self, times: &ThreadTimes, (from, to): (u64, u64), sleepers: &[u32]) -> bool {
        let waits = self.intervals_after(times.tid, from);
        let waits = waits.take_while(|wait| wait.from_ns < to);
        let for_sleepers =
            waits.filter(|wait| wait.woken_by.is_some_and(|by| sleepers.contains(&by)));
        let ns = for_sleepers.map(|wait| {
            woken_ns(wait)
                .min(to)
                .saturating_sub(wait.from_ns.max(from))
        });
        ns.sum::<u64>() * 10 > to.saturating_sub(from)
    }

    /// Reports whether a thread napped repeatedly while another thread worked but not after its end, and
    /// whether the nap that ends at `at` was the last one. A script's naps are separate processes.
    fn naps_until(&self, times: &ThreadTimes, other: &ThreadTimes, at: u64) -> bool {
        let parent = |pid: u32| self.process(pid).and_then(|process| process.parent);
        let program = |pid: u32| {
            let last = self.process(pid).and_then(|process| process.execs.last());
            last.map(|exec| exec.path.as_str())
        };
        let own = self
            .intervals(times.tid)
            .filter(|wait| self.classifier.interval(wait) == TimeCategory::Sleeping)
            .map(|wait| wait.from_ns);
        let is_of_script = |nap: &&ThreadTimes| {
            let alike =
                || parent(nap.pid) == parent(times.pid) && program(nap.pid) == program(times.pid);
            nap.pid != times.pid && nap.pid != other.pid && parent(nap.pid).is_some() && alike()
        };
        let of_script = self.all.iter().filter(is_of_script);
        let all: Vec<u64> = own.chain(of_script.map(|nap| nap.from_ns)).collect();
        let before = all.iter().filter(|nap| (other.from_ns..at).contains(nap));
        // If another nap follows immediately, the series isn't over.
        let last = all
            .iter()
            .copied()
            .filter(|nap| *nap < at)
            .max()
            .unwrap_or(at);
        // If naps wait for the next worker, they begin after that worker was created.
        let next = self.all.iter().filter(|next| {
            let made = next.pid == times.pid || parent(next.pid) == Some(times.pid);
            made && next.from_ns >= other.to_ns && !is_of_script(next)
        });
        let next = next.map(|next| next.from_ns).min().unwrap_or(u64::MAX);
        let soon = (at + 2 * (at - last)).min(next.max(at));
        let goes_on = all.iter().any(|nap| (at..soon).contains(nap));
        before.count() >= NAPS && !goes_on
    }

    /// Reports whether a wait was for a thread's end or result rather than for access to a lock. This is the
    /// case if the waker ends, if there are few waits, or if this wait makes up most of them.
    fn is_joined(
        &self,
        times: &ThreadTimes,
        waker: &ThreadTimes,
        interval: &Interval,
        at: u64,
    ) -> bool {
        let others = self.all.iter().filter(|l| l.pid == times.pid).count() as u64 - 1;
        let (waits, total_ns) = lock_waits(self.trace, times.tid);
        let long = (at - interval.from_ns) * 2 >= total_ns;
        let ends = waker.to_ns.saturating_sub(at) <= JOIN_NS
            && !self.wakes_again(waker, times, at)
            && !self.is_a_turn(waker, times, interval);
        waker.pid == times.pid && (ends || waits <= others + 2 || long)
    }

    /// Reports whether a thread ended another wait of this thread after `at`; if so, the earlier wait was not
    /// a join.
    fn wakes_again(&self, waker: &ThreadTimes, times: &ThreadTimes, at: u64) -> bool {
        self.intervals_after(times.tid, at)
            .skip_while(|later| later.from_ns < at)
            .take_while(|later| later.from_ns <= at + JOIN_NS)
            .any(|later| later.woken_by == Some(waker.tid))
    }

    /// Reports whether a wait is one more round of the same exchange: the same thread ended the waits before
    /// it, and this wait is not much longer.
    fn is_a_turn(&self, waker: &ThreadTimes, times: &ThreadTimes, wait: &Interval) -> bool {
        let before = self
            .intervals(times.tid)
            .take_while(|earlier| earlier.from_ns < wait.from_ns)
            .filter(|earlier| earlier.woken_by == Some(waker.tid))
            .map(|earlier| earlier.to_ns - earlier.from_ns);
        let (turns, longest) =
            before.fold((0, 0), |(turns, longest), ns| (turns + 1, ns.max(longest)));
        turns >= TURNS && wait.to_ns - wait.from_ns <= longest + longest / 2
    }

    /// Reports whether a thread distributes the work of a pool: it hardly works itself, and other threads of
    /// its process do. This is also true of a main thread that works little, if another thread works nearly
    /// all the time and so never queues for anything that the main thread may hold. Such a thread waits for
    /// that work, whatever signals the end of the work. A thread whose stacks show that it waits for locks
    /// doesn't wait for work.
    fn hands_out(&self, times: &ThreadTimes) -> bool {
        if self.waits_for_locks(times) {
            return false;
        }
        let mut others = self.all.iter().filter(|other| {
            let own = other.pid == times.pid && other.tid != times.tid;
            own && !hardly_runs(other)
        });
        let feeds = times.tid == times.pid && times.on_cpu_ns * 3.0 < times.ns();
        let hardly_waits = |other: &ThreadTimes| {
            let long = other.ns() * 2.0 > times.ns();
            long && other.sums.get(TimeCategory::Locks) < 0.15 * other.ns()
        };
        others.any(|other| hardly_runs(times) || feeds && hardly_waits(other))
    }

    /// Returns the thread that continued to work while a thread that distributes work waited and was then
    /// woken by a timer.
    fn worked_on(&self, times: &ThreadTimes, from: u64, at: u64) -> Option<&'a ThreadTimes> {
        let others = self.all.iter().filter(|other| {
            let own = other.pid == times.pid && other.tid != times.tid;
            own && !hardly_runs(other) && self.runs(other, at) && self.ran_most(other, from, at)
        });
        others.max_by(|a, b| a.on_cpu_ns.total_cmp(&b.on_cpu_ns))
    }

    /// Returns the child whose end was noticed at `at`. This finds children whose last thread made no call,
    /// for instance because they were killed.
    fn child_that_ended(&self, parent: u32, from: u64, at: u64) -> Option<&'a ThreadTimes> {
        let children = self
            .trace
            .processes
            .iter()
            .filter(|p| p.parent == Some(parent));
        let ended = children.filter_map(|child| Some((child.ended_ns?, child.pid)));
        let (_, pid) = ended.filter(|(end, _)| (from..=at).contains(end)).max()?;
        self.threads.get(&pid).copied()
    }

    /// Returns the child that was waited for when Fathom cut off the run. If there are several, it is the one
    /// created last, because a shell waits for the one in the foreground.
    fn child_at_the_end(&self, parent: u32, at: u64) -> Option<&'a ThreadTimes> {
        let is_end = at + GIVING_BACK_NS >= self.trace.duration_ns;
        if !self.trace.is_cut_off() || !is_end {
            return None;
        }
        let children = self.trace.processes.iter().filter(|child| {
            let alive = child.ended_ns.is_none_or(|end| end >= at);
            child.parent == Some(parent) && child.started_ns < at && alive
        });
        let last = children.max_by_key(|child| (child.started_ns, child.pid))?;
        self.threads.get(&last.pid).copied()
    }

    /// Returns the thread that created this one: a thread of the same process or of its parent that was
    /// running at the time, preferably the main thread.
    pub(super) fn maker(&self, times: &ThreadTimes, at: u64) -> Option<&'a ThreadTimes> {
        let process = if times.tid == times.pid {
            self.process(times.pid)?.parent?
        } else {
            times.pid
        };
        let mut candidates: Vec<&ThreadTimes> = self
            .threads
            .values()
            .copied()
            .filter(|other| other.pid == process && other.tid != times.tid && other.from_ns < at)
            .collect();
        candidates.sort_by_key(|other| (!self.runs(other, at), other.tid != process, other.tid));
        candidates.first().copied()
    }

    fn process(&self, pid: u32) -> Option<&'a fathom_trace::Process> {
        self.trace.processes.iter().find(|p| p.pid == pid)
    }

    /// Returns the thread of the tree that ended most of a thread's waits for pipes.
    pub(super) fn partner(&self, tid: u32) -> Option<u32> {
        let mut ended: HashMap<u32, usize> = HashMap::new();
        for interval in self.intervals(tid) {
            let by = interval
                .woken_by
                .filter(|by| *by != tid && self.threads.contains_key(by));
            if let Some(by) = by
                && ON_PIPES.contains(&self.classifier.interval(interval))
            {
                *ended.entry(by).or_default() += 1;
            }
        }
        let most = ended.into_iter().max_by_key(|(by, count)| (*count, *by));
        most.map(|(by, _)| by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;
    use crate::fake::{Fake, ROOT};

    /// Reports whether a thread counts as serving if the waiting thread woke it `asked` times, and it
    /// finished its last request `served_ms` after the start.
    fn serves(asked: u64, served_ms: u64) -> bool {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        fake.thread(ROOT, 102, 0, 999, 999);
        for turn in 0..20 {
            let (from, to) = (turn * 45, turn * 45 + 20);
            fake.wait_for(102, "futex", None, (from, to, to), Some(101));
            if turn < asked {
                fake.wait_for(101, "futex", None, (to, to + 25, to + 25), Some(102));
            }
        }
        let last = (930, served_ms, served_ms);
        fake.wait_for(102, "futex", None, last, Some(101));
        let observation = fake.observation(&[]);
        let analysis = Analysis::new(&observation);
        let classifier = Classifier::new(analysis.trace, &analysis.descriptors);
        let graph = WakeGraph::new(analysis.trace, &analysis.threads, &classifier);
        let graph = graph.expect("there is a timeline");
        graph.serves(graph.threads[&101], graph.threads[&102])
    }

    #[test]
    fn who_was_about_to_wait_to_be_asked_when_its_process_ended_serves() {
        assert!(serves(5, 999));
        assert!(!serves(5, 950), "it works on after its last answer");
        assert!(!serves(2, 999), "it is hardly ever asked");
    }
}
