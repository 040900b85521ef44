//! The path by wake-ups: what was each wait for?
//!
//! Goes back from the end of the command on its main thread. A wait for a child, for a thread that
//! is joined or for a pipe of the tree is replaced by what the one who ended it did meanwhile, its own
//! waits likewise. Any other wait is a part of the account by itself. So each moment of the wall time
//! is passed once, and no replacement reaches beyond the wait that it replaces.

use std::collections::{HashMap, HashSet};

use fathom_model::Spent;
use fathom_trace::{Cause, Interval, Trace};

use super::{CriticalPath, shares};
use crate::Language;
use crate::account::{Life, Sums};
use crate::classify::{self, Classifier};

/// What waits at a pipe count as; if both ends are in the tree, as what the other end did.
const ON_PIPES: [Spent; 3] = [
    Spent::WaitingForPipe,
    Spent::WaitingForInput,
    Spent::WaitingForOutput,
];
/// Waits within waits that are followed; each is another thread's.
const DEEPEST: u32 = 100;
/// A thread that ends so soon after waking another was joined: the rest of its end takes 0.1 ms
/// where a CPU is free.
const JOIN_NS: u64 = 2_000_000;

/// Who wakes another thread and then sleeps is off its CPU before the other one's CPU takes note of the
/// wake-up: 20 to 40 us between the CPUs of a VM.
const WAKING_NS: u64 = 500_000;

/// Waits of a runtime's thread between being asked to end the process and doing that.
const STEPS_TO_AN_END: usize = 64;

/// A thread that is ended in a wait is gone so soon after it: the last one gives the memory back.
const DYING_NS: u64 = 20_000_000;

/// Whether a thread hardly ever was on a CPU.
fn rests(life: &Life) -> bool {
    life.on_cpu_ns * 10.0 < life.ns()
}

struct Walk<'a> {
    trace: &'a Trace,
    classifier: &'a Classifier<'a>,
    all: &'a [Life],
    lives: HashMap<u32, &'a Life>,
    intervals: HashMap<u32, Vec<&'a Interval>>,
    /// On the path, by thread: time outside of the intervals, and in them by what was waited for.
    outside: HashMap<u32, f64>,
    waits: HashMap<(u32, Spent), f64>,
    /// Threads whose short waits for pipes are others' time.
    handed_over: HashSet<u32>,
    /// CPU time of the tree that came after its threads' last records.
    charged_after_ends: f64,
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
        all: lives,
        lives: lives.iter().map(|life| (life.tid, life)).collect(),
        intervals,
        outside: HashMap::new(),
        waits: HashMap::new(),
        handed_over: HashSet::new(),
        charged_after_ends: charged_after_ends(trace),
        beside: Sums::default(),
        weights: HashMap::new(),
    };
    let last = walk.last_thread(lives)?;
    walk.cover(last, 0, trace.duration_ns, 0);
    Some(walk.path(lives))
}

/// What the kernel charged beyond the time on a CPU that the records tell.
fn charged_after_ends(trace: &Trace) -> f64 {
    let charged = trace.accounts.user_ns + trace.accounts.system_ns;
    let told: u64 = trace
        .threads
        .iter()
        .filter_map(|thread| thread.on_cpu_ns)
        .sum();
    charged.saturating_sub(told) as f64
}

/// When a wait was over and only a CPU was missing.
fn woken_ns(interval: &Interval) -> u64 {
    match (interval.cause, interval.woken_ns) {
        (Cause::Preempted | Cause::Ready, _) => interval.from_ns,
        (_, Some(woken)) => woken.clamp(interval.from_ns, interval.to_ns),
        (_, None) => interval.to_ns,
    }
}

impl<'a> Walk<'a> {
    /// The thread that the command ended with: the one that ended the process, else its main thread. A
    /// runtime lets a thread of its own do that which hardly ever ran: then it is the one that asked for it.
    fn last_thread(&self, lives: &'a [Life]) -> Option<&'a Life> {
        let root = self
            .trace
            .processes
            .first()
            .map_or(lives.first()?.pid, |p| p.pid);
        let own = || lives.iter().filter(|life| life.pid == root);
        let main = own()
            .find(|life| life.tid == root)
            .or_else(|| own().next())?;
        let ends_it = |row: &&fathom_trace::SyscallRow| row.pid == root && row.name == "exit_group";
        let caller = self.trace.syscalls.iter().find(ends_it);
        let caller = caller.and_then(|row| self.lives.get(&row.tid)).copied();
        if own().count() == 1 {
            return Some(main);
        }
        match caller {
            Some(caller) if caller.tid == main.tid || !rests(caller) => Some(caller),
            Some(caller) => self.asked_to_end(caller).or(Some(caller)),
            // Nobody saw the call: it is another's if the main thread slept to its end.
            None => {
                let wait = self.last_interval(main.tid, main.to_ns);
                let asleep = wait.is_some_and(|wait| {
                    let lock = self.classifier.interval(wait) == Spent::Locks;
                    lock && wait.to_ns + DYING_NS >= main.to_ns
                });
                let busiest = own().max_by(|a, b| a.on_cpu_ns.total_cmp(&b.on_cpu_ns));
                busiest.filter(|_| asleep && rests(main)).or(Some(main))
            }
        }
    }

    /// Who woke a thread for the end of the process, which may have waited for others on its way there.
    fn asked_to_end(&self, last: &'a Life) -> Option<&'a Life> {
        let works = |life: &&Life| life.pid == last.pid && life.tid != last.tid && !rests(life);
        let waits = self.intervals.get(&last.tid).into_iter().flatten();
        let mut wakers = waits.rev().take(STEPS_TO_AN_END).filter_map(|wait| {
            let lock = self.classifier.interval(wait) == Spent::Locks;
            let by = wait.woken_by.filter(|_| lock)?;
            self.lives.get(&by).copied()
        });
        wakers.find(works)
    }

    /// Accounts for the time from `from` to `to` by what this thread did, and what it waited for.
    fn cover(&mut self, life: &'a Life, from: u64, to: u64, depth: u32) {
        let mut at = to;
        if life.to_ns < at {
            let end = life.to_ns.max(from);
            self.ended((at - end) as f64);
            at = end;
        }
        if self.is_pool(life.pid) {
            let begin = self.through_pool(life.pid, from, at);
            return self.before(life, from, begin, depth);
        }
        while at > from {
            let last = self.last_interval(life.tid, at);
            let Some(interval) = last.filter(|interval| interval.to_ns > from) else {
                let begin = life.from_ns.clamp(from, at);
                self.ran(life.tid, at - begin);
                return self.before(life, from, begin, depth);
            };
            let back = at.min(interval.to_ns);
            self.ran(life.tid, at - back);
            let begin = interval.from_ns.max(from);
            let woken = woken_ns(interval).clamp(begin, back);
            let ready = ((back - woken) as f64 * life.truly_ready).round() as u64;
            self.waited(life.tid, Spent::Ready, ready);
            self.ran(life.tid, back - woken - ready);
            match self.waker(life, interval, woken) {
                Some(waker) if depth < DEEPEST => self.cover(waker, begin, woken, depth + 1),
                _ => {
                    let spent = self.classifier.interval(interval);
                    self.waited(life.tid, spent, woken - begin);
                }
            }
            at = begin;
        }
    }

    /// The time before a thread was there is that of the thread that made it.
    fn before(&mut self, life: &Life, from: u64, to: u64, depth: u32) {
        if to <= from || depth >= DEEPEST {
            return;
        }
        if let Some(maker) = self.maker(life, to) {
            self.cover(maker, from, to, depth + 1);
        }
    }

    /// From a thread's last record to the moment when its end was noticed: taking it down, as far as
    /// the kernel charged CPU time that no record tells; the rest is waiting for a CPU.
    fn ended(&mut self, ns: f64) {
        let work = ns.min(self.charged_after_ends);
        self.charged_after_ends -= work;
        self.beside.add(Spent::KernelProcesses, work);
        self.beside.add(Spent::Ready, ns - work);
    }

    fn ran(&mut self, tid: u32, ns: u64) {
        *self.outside.entry(tid).or_default() += ns as f64;
    }

    fn waited(&mut self, tid: u32, spent: Spent, ns: u64) {
        *self.waits.entry((tid, spent)).or_default() += ns as f64;
    }

    fn last_interval(&self, tid: u32, at: u64) -> Option<&'a Interval> {
        let list = self.intervals.get(&tid)?;
        let next = list.partition_point(|interval| interval.from_ns < at);
        next.checked_sub(1).and_then(|last| list.get(last)).copied()
    }

    /// Whether a thread was alive and not off a CPU, or just so, so that it can have done something then.
    fn runs(&self, life: &Life, at: u64) -> bool {
        let off = self.last_interval(life.tid, at);
        let just_left = |interval: &Interval| at - interval.from_ns <= WAKING_NS;
        life.from_ns < at && off.is_none_or(|interval| interval.to_ns <= at || just_left(interval))
    }

    /// Who ended a wait, if that is what was waited for.
    fn waker(&self, life: &Life, interval: &Interval, at: u64) -> Option<&'a Life> {
        let by = interval.woken_by.and_then(|tid| self.lives.get(&tid));
        let by = by.copied().filter(|waker| waker.tid != life.tid);
        let by = by.filter(|waker| self.runs(waker, at));
        // A poll that another thread of the process ended waited for what that one computed.
        let polls = interval.call.as_deref().is_some_and(classify::is_poll);
        if let Some(waker) = by.filter(|waker| polls && waker.pid == life.pid) {
            return Some(waker);
        }
        match self.classifier.interval(interval) {
            Spent::WaitingForChild => by
                .filter(|waker| waker.pid != life.pid)
                .or_else(|| self.child_that_ended(life.pid, interval.from_ns, at)),
            Spent::WaitingForPipe | Spent::WaitingForInput | Spent::WaitingForOutput => by,
            Spent::Locks => by.filter(|waker| self.is_joined(life, waker, interval, at)),
            // A thread of the same process that computed what it sent: no network took that time.
            Spent::Network => by.filter(|waker| {
                waker.pid == life.pid && self.ran_most(waker, interval.from_ns, at)
            }),
            _ => None,
        }
    }

    /// Whether a thread was on a CPU or ready for most of this time.
    fn ran_most(&self, life: &Life, from: u64, to: u64) -> bool {
        let list = self.intervals.get(&life.tid).into_iter().flatten();
        let asleep = list.map(|interval| {
            let until = woken_ns(interval).min(to);
            until.saturating_sub(interval.from_ns.max(from))
        });
        asleep.sum::<u64>() * 2 < to.saturating_sub(from)
    }

    /// A wait for a thread's end or its result, not for its turn with a lock: the waker ends, or
    /// the waits are few, or this one is most of them.
    fn is_joined(&self, life: &Life, waker: &Life, interval: &Interval, at: u64) -> bool {
        let others = self.all.iter().filter(|l| l.pid == life.pid).count() as u64 - 1;
        let (waits, total_ns) = shares::lock_waits(self.trace, life.tid);
        let long = (at - interval.from_ns) * 2 >= total_ns;
        let ends = waker.to_ns.saturating_sub(at) <= JOIN_NS;
        waker.pid == life.pid && (ends || waits <= others + 2 || long)
    }

    /// The child whose end was noticed at `at`: killed, say, so that its last thread made no call.
    fn child_that_ended(&self, parent: u32, from: u64, at: u64) -> Option<&'a Life> {
        let children = self
            .trace
            .processes
            .iter()
            .filter(|p| p.parent == Some(parent));
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

    /// Takes the process as a whole between two moments; returns when it began, at least `from`.
    fn through_pool(&mut self, pid: u32, from: u64, to: u64) -> u64 {
        let inner = shares::of_process(self.trace, self.all, pid, true);
        let began = self.lives.get(&pid).map_or(from, |main| main.from_ns);
        let begin = began.clamp(from, to);
        let part = (to - begin) as f64 / inner.sums.total().max(1.0);
        self.beside.add_scaled(&inner.sums, part);
        for (tid, weight) in inner.weights {
            let sum = self.weights.entry(tid).or_default();
            *sum = (*sum + weight * part).min(1.0);
        }
        begin
    }

    /// Time outside of a thread's intervals was spent on what of its life they don't tell: on a
    /// CPU, and in waits too short to be kept.
    fn rest_of(&self, life: &Life) -> Sums {
        let mut rest = life.sums.clone();
        if self.handed_over.contains(&life.tid) {
            for spent in ON_PIPES {
                rest.take(spent, f64::INFINITY);
            }
        }
        for interval in self.intervals.get(&life.tid).into_iter().flatten() {
            let woken = woken_ns(interval);
            rest.take(
                self.classifier.interval(interval),
                (woken - interval.from_ns) as f64,
            );
            let ready = (interval.to_ns - woken) as f64 * life.truly_ready;
            rest.take(Spent::Ready, ready);
        }
        rest
    }

    /// Waits for a pipe of the tree that are too short to be in the timeline go to the thread that
    /// ended most of those that are there.
    fn hand_over_short_waits(&mut self, lives: &[Life]) {
        let mut moves = Vec::new();
        for life in lives {
            let rest = self.rest_of(life);
            let waits: f64 = ON_PIPES.iter().map(|spent| rest.get(*spent)).sum();
            let outside = self.outside.get(&life.tid).copied().unwrap_or(0.0);
            if waits > 0.0
                && outside > 0.0
                && let Some(partner) = self.partner(life.tid)
            {
                moves.push((life.tid, partner, waits * outside / rest.total()));
            }
        }
        for (tid, partner, ns) in moves {
            *self.outside.entry(tid).or_default() -= ns;
            *self.outside.entry(partner).or_default() += ns;
            self.handed_over.insert(tid);
        }
    }

    /// The thread of the tree that ended most of a thread's waits for pipes.
    fn partner(&self, tid: u32) -> Option<u32> {
        let mut ended: HashMap<u32, usize> = HashMap::new();
        for interval in self.intervals.get(&tid).into_iter().flatten() {
            let by = interval
                .woken_by
                .filter(|by| *by != tid && self.lives.contains_key(by));
            if let Some(by) = by
                && ON_PIPES.contains(&self.classifier.interval(interval))
            {
                *ended.entry(by).or_default() += 1;
            }
        }
        let most = ended.into_iter().max_by_key(|(by, count)| (*count, *by));
        most.map(|(by, _)| by)
    }

    /// Puts together what was gathered.
    fn path(mut self, lives: &[Life]) -> CriticalPath {
        self.hand_over_short_waits(lives);
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

#[cfg(test)]
mod tests {
    use fathom_model::{Spent, TimeAccount};

    use crate::fake::{Fake, MS, ROOT};

    fn account(fake: &Fake) -> TimeAccount {
        let account = crate::diagnose(&fake.subject(&[])).account;
        let sum: u64 = account.parts.iter().map(|part| part.ns).sum();
        assert_eq!(sum, fake.trace.duration_ns, "the parts add up");
        account
    }

    fn is(account: &TimeAccount, spent: Spent, ms: u64) {
        let ns = account.ns(spent);
        assert!(
            ns.abs_diff(ms * MS) < 1000,
            "{spent:?} is {ns}: {account:?}"
        );
    }

    #[test]
    fn a_pipeline_is_what_its_slowest_part_does() {
        // A shell starts a producer that computes and a consumer that waits for it, then computes.
        let mut fake = Fake::new(1000);
        fake.child(200, 10, 700, 690);
        fake.child(300, 20, 990, 970);
        for pid in [200, 300] {
            fake.descriptor_of(pid, 0, "pipe");
            fake.descriptor_of(pid, 1, "pipe");
        }
        fake.wait_for(ROOT, "wait4", None, (30, 700, 700), Some(200));
        fake.wait_for(ROOT, "wait4", None, (701, 990, 990), Some(300));
        fake.wait_for(300, "read", Some(0), (30, 690, 695), Some(200));
        let account = account(&fake);
        is(&account, Spent::WaitingForChild, 0);
        is(&account, Spent::WaitingForInput, 0);
        is(&account, Spent::UserCode, 1000);
    }

    #[test]
    fn a_poll_that_a_thread_ends_is_that_threads_time() {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 5, 990, 980);
        fake.wait_for(ROOT, "epoll_wait", Some(4), (10, 500, 500), Some(101));
        fake.wait_for(ROOT, "epoll_wait", Some(4), (501, 985, 985), Some(101));
        let account = account(&fake);
        is(&account, Spent::Sleeping, 0);
        is(&account, Spent::UserCode, 1000);
    }

    #[test]
    fn a_runtimes_thread_that_ends_the_process_is_asked_to_by_who_worked() {
        // As Java ends: the first thread waits for ever, one works and asks a third one, which hardly ever ran
        // and was asked for other things before, to end the process.
        let mut fake = Fake::new(1000);
        fake.trace.threads[0].on_cpu_ns = Some(10 * MS);
        fake.thread(ROOT, 101, 10, 1000, 980);
        fake.thread(ROOT, 102, 20, 1000, 5);
        fake.wait_for(ROOT, "futex", None, (10, 1000, 1000), Some(102));
        for step in 0..40 {
            let at = 20 + step * 24;
            fake.wait_for(102, "futex", None, (at, at + 23, at + 23), Some(101));
        }
        fake.calls_of(102, "exit_group", None, 0, 0, 0);
        let account = account(&fake);
        is(&account, Spent::Locks, 0);
        is(&account, Spent::UserCode, 1000);
    }

    #[test]
    fn a_reader_that_sleeps_right_after_it_woke_the_writer_was_waited_for() {
        // The shell waits for the producer first, which waits 600 ms for the consumer.
        let mut fake = Fake::new(1000);
        fake.child(200, 10, 900, 290);
        fake.child(300, 20, 990, 970);
        for pid in [200, 300] {
            fake.descriptor_of(pid, 0, "pipe");
            fake.descriptor_of(pid, 1, "pipe");
        }
        fake.wait_for(ROOT, "wait4", None, (30, 900, 900), Some(200));
        fake.wait_for(ROOT, "wait4", None, (901, 990, 990), Some(300));
        fake.wait_for(200, "write", Some(1), (200, 800, 800), Some(300));
        // It left its CPU 40 us before the wake-up was noted.
        fake.wait_for(300, "read", Some(0), (799, 801, 802), Some(200));
        let intervals = fake.trace.timeline.as_mut().expect("a timeline");
        intervals.last_mut().expect("the last wait").from_ns = 800 * MS - 40_000;
        let account = account(&fake);
        assert!(account.ns(Spent::WaitingForOutput) < MS, "{account:?}");
        assert!(account.ns(Spent::WaitingForPipe) < MS, "{account:?}");
    }

    #[test]
    fn of_parallel_children_each_wait_is_for_the_one_that_ended_it() {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 400, 400);
        fake.child(300, 0, 990, 90);
        fake.wait_for(300, "clock_nanosleep", None, (50, 950, 950), None);
        fake.wait_for(ROOT, "wait4", None, (10, 400, 400), Some(200));
        fake.wait_for(ROOT, "wait4", None, (410, 990, 990), Some(300));
        let account = account(&fake);
        // The second child sleeps on while the main thread waits for it, from 410 to 950.
        is(&account, Spent::Sleeping, 540);
        is(&account, Spent::UserCode, 460);
    }

    #[test]
    fn a_child_that_was_killed_while_it_computed_is_known_by_its_end() {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 990, 990);
        fake.wait_for(ROOT, "wait4", None, (10, 991, 991), None);
        is(&account(&fake), Spent::WaitingForChild, 0);
    }

    #[test]
    fn queueing_for_a_lock_stays_a_wait_and_a_join_does_not() {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        for n in 0..10 {
            let from = n * 50;
            fake.wait_for(ROOT, "futex", None, (from, from + 40, from + 40), Some(101));
        }
        is(&account(&fake), Spent::Locks, 400);
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 900, 900);
        fake.wait_for(ROOT, "futex", None, (100, 899, 899), Some(101));
        is(&account(&fake), Spent::Locks, 0);
    }

    #[test]
    fn a_wait_for_the_network_is_shown_even_if_the_server_is_a_child() {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 1000, 1000);
        fake.descriptor(3, "socket");
        fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(200));
        is(&account(&fake), Spent::Network, 700);
    }

    #[test]
    fn a_wait_at_a_socket_for_a_thread_that_computes_is_that_threads_time() {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        fake.descriptor(3, "inet socket");
        fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(101));
        is(&account(&fake), Spent::Network, 0);
        // One that sleeps stands for a slow answer.
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        fake.descriptor(3, "inet socket");
        fake.wait_for(101, "clock_nanosleep", None, (110, 790, 790), None);
        fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(101));
        is(&account(&fake), Spent::Network, 700);
    }

    #[test]
    fn waits_too_short_for_the_timeline_are_the_other_ends_time() {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 980, 980);
        fake.child(300, 0, 990, 990);
        for pid in [200, 300] {
            fake.descriptor_of(pid, 0, "pipe");
            fake.descriptor_of(pid, 1, "pipe");
        }
        fake.calls_of(200, "write", Some(1), 20_000, 10, 10_000);
        fake.wait_for(ROOT, "wait4", None, (1, 990, 990), Some(300));
        fake.wait_for(300, "read", Some(0), (10, 20, 20), Some(200));
        fake.waits_of(
            300,
            Some("read"),
            Some(0),
            fathom_trace::Cause::Asleep,
            20_000,
            15,
        );
        let account = account(&fake);
        is(&account, Spent::WaitingForInput, 0);
        assert!(account.ns(Spent::KernelIo) > 50 * MS, "{account:?}");
    }
}
