//! Turns records and tables into a trace.
//!
//! This module processes bytes and decoded rows, and holds no descriptors.

mod requests;
mod rows;
mod waited;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use requests::{Awaited, Held, Requests};
use rows::{add_off, off_row, row, split, text};
use waited::Waited;

use crate::accounts;
use crate::attach::found::Found;
use crate::calls::{self, Direction};
use crate::descriptor::DescriptorKind;
use crate::descriptor_events::{self, DescriptorEvent};
use crate::kernel::stack_record::StackRecord;
use crate::name_maps::NameMaps;
use crate::names::Names;
use crate::path_totals::{PathTotals, without_steps_up};
use crate::programs;
use crate::records::{
    Alive, CallKey, CallTotals, Executed, Exited, OffTotals, Record, Who, record,
};
use crate::result::{
    Cause, Entered, Exec, Interval, Losses, OffCpuRow, Process, SyscallRow, Thread, Trace,
    not_seen_to_end,
};
use crate::stacks::RawStack;
use crate::uses::{Flow, Moved};

/// Collects the observations of one run.
#[derive(Debug)]
pub(crate) struct Collector {
    start: u64,
    started: bool,
    /// Descriptor names; the inherited ones are filled in first.
    pub names: Names,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    process_at: HashMap<u32, usize>,
    thread_at: HashMap<u32, usize>,
    intervals: Option<Vec<Interval>>,
    waited: Waited,
    requests: Requests,
    objects_of_waits: Vec<DescriptorKind>,
    most_intervals: usize,
    lost_intervals: u64,
    /// Whether page faults are timed.
    faults_timed: bool,
    /// Why page faults are not timed although that was requested.
    untimed_faults: Option<String>,
    unreadable: u64,
    paths: PathTotals,
    /// Objects of calls whose stack is still to be read, by thread and time.
    objects: HashMap<(u32, u64), Arc<str>>,
    rows: Vec<SyscallRow>,
    off_cpu: Vec<OffCpuRow>,
    survivors: usize,
    /// Whether processes that are alive at the end of the trace continue to run.
    goes_on: bool,
    /// Threads that have ended and whose ids have not been reused.
    pub ended: HashSet<Who>,
    /// Processes that are no longer followed because a program gave them privileges.
    pub with_rights: Vec<u32>,
    /// Processes that had privileges, or may have had them, when they were added, and their descendants:
    /// nothing is recorded for them.
    left_out: HashSet<u32>,
    /// Processes that have executed a program since this list was last emptied; `None` if no one needs it.
    pub execed: Option<Vec<u32>>,
    /// Receives the ids of processes that may write maps of names.
    pub name_maps: Option<Arc<NameMaps>>,
}

impl Collector {
    /// Creates a collector for commands `roots` that begin at about `start`; keeps up to `most_intervals`.
    pub(crate) fn new(start: u64, roots: &[u32], most_intervals: Option<usize>) -> Self {
        let mut new = Self {
            start,
            started: false,
            names: Names::default(),
            processes: Vec::new(),
            threads: Vec::new(),
            process_at: HashMap::new(),
            thread_at: HashMap::new(),
            intervals: most_intervals.map(|_| Vec::new()),
            waited: Waited::default(),
            requests: Requests::default(),
            objects_of_waits: Vec::new(),
            most_intervals: most_intervals.unwrap_or(0),
            lost_intervals: 0,
            faults_timed: false,
            untimed_faults: None,
            unreadable: 0,
            paths: PathTotals::default(),
            objects: HashMap::new(),
            rows: Vec::new(),
            off_cpu: Vec::new(),
            survivors: 0,
            goes_on: false,
            ended: HashSet::new(),
            with_rights: Vec::new(),
            left_out: HashSet::new(),
            execed: None,
            name_maps: None,
        };
        for root in roots {
            let who = Who {
                tid: *root,
                pid: *root,
            };
            new.begin(who, None, start);
        }
        new
    }

    /// Adds the processes found in a running tree, which is observed from `start`.
    pub(crate) fn attach(&mut self, start: u64, found: &Found) {
        (self.start, self.started, self.goes_on) = (start, true, true);
        for process in &found.processes {
            let who = Who {
                tid: process.pid,
                pid: process.pid,
            };
            self.begin(who, process.parent, start);
            let program = programs::running(process.pid, 0);
            self.process(process.pid, start).execs.extend(program);
        }
        for &(pid, tid) in found.threads.iter().filter(|(pid, tid)| pid != tid) {
            self.begin(Who { tid, pid }, None, start);
        }
    }

    /// Returns the open connections, by process and descriptor. Clients may be waiting on any of them.
    pub(crate) fn open_connections(&mut self) -> Vec<(u32, i32)> {
        let all: Vec<_> = self.names.connections().collect();
        for &(pid, fd) in &all {
            if let Some(kind) = self.names.kind(pid, fd) {
                self.requests.found(pid, fd, &kind);
            }
        }
        all
    }

    /// Ignores a process and its descendants. Call it before any record is taken.
    pub(crate) fn leave_out(&mut self, pid: u32, has_rights: bool) {
        if self.left_out.insert(pid) && has_rights {
            self.with_rights.push(pid);
        }
    }

    /// Returns whether the process of a record is ignored.
    fn leaves_out(&mut self, record: &Record<'_>) -> bool {
        let is_left_out = self.left_out.contains(&record.who().pid);
        if let Record::Fork { child, .. } = record {
            match is_left_out {
                true => self.leave_out(child.pid, false),
                // The process id has been reused.
                false => _ = self.left_out.remove(&child.pid),
            }
        }
        is_left_out
    }

    /// Notes that page faults are timed, or why they are not; `None` if not requested.
    pub(crate) fn time_faults(&mut self, untimed: Option<&Option<String>>) {
        self.faults_timed = untimed.is_some_and(Option::is_none);
        self.untimed_faults = untimed.cloned().flatten();
    }

    /// Returns when the first command was released, by the kernel's monotonic clock, in ns.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    fn since_start(&self, time: u64) -> u64 {
        time.saturating_sub(self.start)
    }

    /// Returns the processes whose end has not been seen.
    pub(crate) fn living(&self) -> impl Iterator<Item = u32> + '_ {
        let living = self.processes.iter().filter(|it| it.ended_ns.is_none());
        living.map(|it| it.pid)
    }

    fn begin(&mut self, who: Who, parent: Option<u32>, time: u64) {
        let started_ns = self.since_start(time);
        self.ended.remove(&who);
        if who.tid == who.pid {
            self.name_maps.iter().for_each(|maps| maps.born(who.pid));
            self.process_at.insert(who.pid, self.processes.len());
            self.processes.push(Process {
                pid: who.pid,
                parent,
                started_ns,
                ..Process::default()
            });
        }
        self.thread_at.insert(who.tid, self.threads.len());
        self.threads.push(Thread {
            pid: who.pid,
            tid: who.tid,
            started_ns,
            ..Thread::default()
        });
    }

    /// Returns the thread's row; creates it if the thread's beginning was not seen.
    fn thread(&mut self, who: Who, time: u64) -> &mut Thread {
        if !self.thread_at.contains_key(&who.tid) {
            self.begin(who, None, time);
        }
        &mut self.threads[self.thread_at[&who.tid]]
    }

    fn process(&mut self, pid: u32, time: u64) -> &mut Process {
        if !self.process_at.contains_key(&pid) {
            self.begin(Who { tid: pid, pid }, None, time);
        }
        &mut self.processes[self.process_at[&pid]]
    }

    /// Processes one record of the ring.
    pub(crate) fn record(&mut self, bytes: &[u8]) {
        let Some(decoded) = record(bytes) else {
            self.unreadable += 1;
            return;
        };
        self.apply(decoded);
    }

    /// Processes one record of the ring of stacks, after the earlier records of the other ring. A call that
    /// was both on and off a CPU yields both kinds of stack.
    pub(crate) fn stack(&mut self, bytes: &[u8]) -> Vec<RawStack> {
        let Some(decoded) = StackRecord::decode(bytes) else {
            self.unreadable += 1;
            return Vec::new();
        };
        if self.left_out.contains(&decoded.who.pid) {
            return Vec::new();
        }
        let at = (decoded.who.tid, decoded.time);
        decoded.seen(self.objects.remove(&at).as_ref())
    }

    /// Returns the object of a call: its path argument, or else the target of its descriptor. If `ns` isn't
    /// 0, this call represents that much time of calls with a path, and the path is counted with it; `took`
    /// is the call's own duration.
    fn object(
        &mut self,
        event: &DescriptorEvent<'_>,
        fd: i32,
        (ns, took): (u64, u64),
    ) -> Option<Arc<str>> {
        let DescriptorEvent { pid, nr, .. } = *event;
        let flags = calls::flags(nr);
        if flags & (calls::PATH0 | calls::PATH1) == 0 {
            return Some(self.names.kind(pid, fd)?.text().into());
        }
        let named = descriptor_events::path(&self.names, event, flags);
        // The call's own record has already changed the directory to which its path is relative.
        let cwd = self.names.cwd(pid).filter(|_| calls::name(nr) == "chdir");
        let path: Arc<str> = without_steps_up(cwd.unwrap_or(&named)).into();
        if ns > 0 {
            self.paths.add(pid, nr, &path, ns, took);
        }
        Some(path)
    }

    /// Applies one decoded record.
    pub(crate) fn apply(&mut self, decoded: Record<'_>) {
        if !self.left_out.is_empty() && self.leaves_out(&decoded) {
            return;
        }
        match decoded {
            Record::Follow { time, who } => {
                if !self.started {
                    (self.start, self.started) = (time, true);
                }
                let started_ns = self.since_start(time);
                self.thread(who, time).started_ns = started_ns;
                self.process(who.pid, time).started_ns = started_ns;
            }
            Record::Call {
                time,
                who,
                nr,
                result,
                args,
                payload,
            } => {
                let event = self.event(time, who, nr, result, args, payload);
                descriptor_events::apply(&mut self.names, &event);
                if calls::flags(nr) & calls::CLOSE0 != 0 {
                    self.requests.closed(who.pid, args[0] as i32);
                }
            }
            Record::Object {
                time,
                who,
                nr,
                fd,
                directory,
                path,
                ns,
                took,
                has_stack,
            } => {
                let event = self.event(time, who, nr, 0, [directory, 0, 0], path);
                let object = self.object(&event, fd, (ns, took));
                if let Some(object) = object.filter(|_| has_stack) {
                    self.objects.insert((who.tid, time), object);
                }
            }
            Record::Fork {
                time,
                parent,
                child,
            } => {
                self.begin(child, Some(parent.pid), time);
                if child.pid != parent.pid {
                    self.names.forked(parent.pid, child.pid);
                }
            }
            Record::Entered { time, who, loaded } => {
                let at_ns = self.since_start(time);
                if let Some(exec) = self.process(who.pid, time).execs.last_mut() {
                    exec.entered = Some(Entered { at_ns, loaded });
                }
            }
            Record::Exec(exec) => self.exec(exec),
            Record::Rights { time, who } => {
                let ended = self.since_start(time);
                self.ended.insert(who);
                self.thread(who, time).ended_ns = Some(ended);
                self.process(who.pid, time).ended_ns = Some(ended);
                self.with_rights.push(who.pid);
            }
            Record::Exit(exit) => self.exit(exit),
            Record::Off {
                who,
                from,
                woken,
                to,
                cause,
                call,
                waker,
            } => self.interval(who, (from, woken, to), cause, call, waker),
            Record::Turn { who, on } => self.turned(who, on),
            Record::TimeUp { who, on, ns } => {
                self.waited.time_was_up(&self.names, (who, on), ns);
                self.requests.time_was_up(who.tid);
            }
        }
    }

    fn event<'a>(
        &self,
        time: u64,
        Who { tid, pid }: Who,
        nr: u32,
        result: i64,
        args: [u64; 3],
        payload: &'a [u8],
    ) -> DescriptorEvent<'a> {
        DescriptorEvent {
            pid,
            tid,
            nr,
            result,
            args,
            payload,
            time: self.since_start(time),
        }
    }

    fn exec(&mut self, exec: Executed<'_>) {
        let Executed { time, who, .. } = exec;
        let at_ns = self.since_start(time);
        let called_ns = (exec.called != 0).then(|| self.since_start(exec.called));
        if exec.old_tid != who.tid {
            let tid = exec.old_tid;
            self.thread(Who { tid, ..who }, time).ended_ns = Some(at_ns);
            // The first thread's work before it was replaced keeps its own row.
            self.thread_at.insert(who.tid, self.threads.len());
            self.threads.push(Thread {
                pid: who.pid,
                tid: who.tid,
                started_ns: at_ns,
                ..Thread::default()
            });
        }
        self.names.execed(who.pid);
        self.execed.iter_mut().for_each(|all| all.push(who.pid));
        self.process(who.pid, time).execs.push(Exec {
            called_ns,
            at_ns,
            entered: None,
            path: text(exec.path),
            asked: (!exec.asked.is_empty()).then(|| text(exec.asked)),
            arguments: split(exec.arguments),
            arguments_cut: exec.arguments_cut,
        });
    }

    fn exit(&mut self, exit: Exited<'_>) {
        let Exited { time, who, .. } = exit;
        let ended = self.since_start(time);
        self.ended.insert(who);
        let began = (exit.started != 0).then(|| self.since_start(exit.started));
        let timed = self.faults_timed;
        let thread = self.thread(who, time);
        *thread = Thread {
            pid: who.pid,
            tid: who.tid,
            name: text(exit.name),
            started_ns: began.unwrap_or(thread.started_ns),
            ended_ns: Some(ended),
            on_cpu_ns: Some(exit.on_cpu),
            ready_ns: exit.queued,
            minor_faults: Some(exit.minor_faults),
            major_faults: Some(exit.major_faults),
            timed_faults: timed.then_some(exit.faults),
            fault_ns: timed.then_some(exit.fault_total),
            voluntary_switches: Some(exit.voluntary),
            involuntary_switches: Some(exit.involuntary),
        };
        if who.tid == who.pid {
            self.requests.ended(who.pid);
        }
        let process = self.process(who.pid, time);
        process.ended_ns = Some(ended);
        if who.tid == who.pid {
            process.end = Some(accounts::end(exit.code, false));
        }
    }

    fn interval(
        &mut self,
        who: Who,
        (from, woken, to): (u64, u64, u64),
        cause: Cause,
        call: Option<(u32, i32)>,
        waker: u32,
    ) {
        let (start, most) = (self.start, self.most_intervals);
        let waits = !matches!(cause, Cause::Preempted | Cause::Ready);
        let asleep = if woken != 0 { woken } else { to }.saturating_sub(from);
        let on = call.filter(|_| waits);
        let polls = on.filter(|(nr, _)| calls::flags(*nr) & calls::POLL != 0);
        let by_child = polls.is_some_and(|(nr, _)| {
            let polls_a_set = calls::name(nr).starts_with("epoll");
            polls_a_set && !self.requests.has_asked(who.pid) && self.is_child(waker, who.pid)
        });
        let Some(intervals) = &mut self.intervals else {
            return;
        };
        let awaited = polls.and_then(|(_, fd)| self.requests.awaited(who.pid, fd));
        let is_kept = intervals.len() < most;
        if let Some((_, fd)) = on.filter(|_| cause == Cause::Asleep) {
            self.requests.slept(who.pid, fd, polls.is_some(), asleep);
        }
        let object = on.and_then(|on| {
            let wait = (who, on, cause);
            let held = Held {
                wait,
                ns: asleep,
                interval: is_kept.then_some(intervals.len()),
            };
            match awaited {
                Some(Awaited::Object(object)) => Some(self.waited.slept_for(object, wait, asleep)),
                Some(Awaited::Own) => {
                    self.requests.waited(who.tid, held);
                    None
                }
                None if by_child && is_kept => {
                    self.requests.ended_by_child(held);
                    None
                }
                None if on.1 >= 0 => self.waited.slept(&self.names, wait, asleep),
                None => None,
            }
        });
        if !is_kept {
            self.lost_intervals += 1;
            return;
        }
        intervals.push(Interval {
            pid: who.pid,
            tid: who.tid,
            from_ns: from.saturating_sub(start),
            woken_ns: (woken != 0).then(|| woken.saturating_sub(start)),
            to_ns: to.saturating_sub(start),
            cause,
            call: call.map(|(nr, _)| calls::name(nr)),
            fd: call.and_then(|(_, fd)| (fd >= 0).then_some(fd)),
            woken_by: (waker != 0).then_some(waker),
            object,
        });
    }

    /// Returns whether a thread belongs to a child of this process.
    fn is_child(&self, tid: u32, parent: u32) -> bool {
        let thread = self.thread_at.get(&tid).map(|at| &self.threads[*at]);
        let process = thread.and_then(|it| self.process_at.get(&it.pid));
        process.is_some_and(|at| self.processes[*at].parent == Some(parent))
    }

    /// Notes that a call turned a connection from reading to writing or back. A thread that answers after
    /// waits which their time limits ended has waited for its own timers.
    fn turned(&mut self, who: Who, (nr, fd): (u32, i32)) {
        let reads = calls::flags(nr) & calls::READS_BYTES != 0;
        let Some(kind) = self.names.kind(who.pid, fd) else {
            return;
        };
        let of_timers = self.requests.turned(who, fd, &kind, reads);
        self.were_for(DescriptorKind::Timer, of_timers);
    }

    /// Gives waits in polls the object for which they turn out to have been.
    fn were_for(&mut self, object: DescriptorKind, waits: Vec<Held>) {
        let object = Arc::new(object);
        for held in waits {
            let place = self.waited.slept_for(object.clone(), held.wait, held.ns);
            let intervals = self.intervals.as_mut();
            let interval = intervals.zip(held.interval);
            if let Some(wait) = interval.and_then(|(all, at)| all.get_mut(at)) {
                wait.object = Some(place);
            }
        }
    }

    /// Returns the number of timed faults of ended threads, and their time in ns.
    pub(crate) fn timed_faults(&self) -> (u64, u64) {
        let sum = |of: fn(&Thread) -> Option<u64>| self.threads.iter().filter_map(of).sum();
        (sum(|one| one.timed_faults), sum(|one| one.fault_ns))
    }

    /// Adds the tables as they were at `end`, with the threads that were still alive.
    pub(crate) fn end(
        &mut self,
        mut calls: HashMap<CallKey, CallTotals>,
        mut off: Vec<OffTotals>,
        alive: &[Alive],
        end: u64,
    ) {
        calls.retain(|key, _| !self.left_out.contains(&key.who.pid));
        off.retain(|row| !self.left_out.contains(&row.who.pid));
        let seen = |one: &&Alive| !self.left_out.contains(&one.call.who.pid);
        let alive: Vec<&Alive> = alive.iter().filter(seen).collect();
        for a in alive {
            self.survivors += usize::from(a.call.who.tid == a.call.who.pid);
            self.still_alive(a, &mut calls, &mut off, end);
        }
        self.settle(&calls, end);
        self.rows = calls
            .into_iter()
            .map(|(k, t)| row(k, t, self.start))
            .collect();
        self.rows
            .sort_by_key(|r| (std::cmp::Reverse(r.total_ns), r.tid, r.number, r.fd));
        let of_children = self.requests.for_children();
        self.were_for(DescriptorKind::Pipe(None), of_children);
        let (parts, objects, implied) = std::mem::take(&mut self.waited).divide(&self.names, off);
        self.objects_of_waits = objects;
        self.off_cpu = parts.into_iter().map(off_row).collect();
        let names = &self.names;
        for wait in self.intervals.iter_mut().flatten() {
            let several = wait.fd.is_some_and(|fd| names.was_several(wait.pid, fd));
            wait.object = wait
                .object
                .filter(|object| several || implied.contains(object));
        }
        self.off_cpu
            .sort_by_key(|r| (std::cmp::Reverse(r.total_ns), r.tid));
    }

    /// Adds the unfinished activity of a thread.
    fn still_alive(
        &mut self,
        a: &Alive,
        calls: &mut HashMap<CallKey, CallTotals>,
        off: &mut Vec<OffTotals>,
        end: u64,
    ) {
        let off_now = |from: u64| end.saturating_sub(from);
        let (mut asleep, mut ready) = (0, 0);
        let waits = !matches!(a.cause, Cause::Preempted | Cause::Ready);
        if a.off_since != 0 {
            match (waits, a.woken) {
                (true, 0) => asleep = off_now(a.off_since),
                (true, woken) => {
                    asleep = woken.saturating_sub(a.off_since);
                    ready = off_now(woken);
                }
                (false, _) => ready = off_now(a.off_since),
            }
        }
        let ready_cause = if waits { Cause::Ready } else { a.cause };
        for (cause, total) in [(a.cause, asleep), (ready_cause, ready)] {
            if total > 0 {
                add_off(off, a, cause, total);
            }
        }
        if a.enter != 0 {
            let fresh = CallTotals {
                first: a.enter,
                ..CallTotals::default()
            };
            let totals = calls.entry(a.call).or_insert(fresh);
            totals.unfinished += 1;
            totals.total += off_now(a.enter);
            totals.blocked += a.call_blocked + asleep;
            totals.ready += a.call_ready + ready;
        }
        // If 0, its arrival on the CPU was not seen.
        let running = match (a.off_since, a.on_since) {
            (_, 0) => 0,
            (0, since) => off_now(since),
            _ => 0,
        };
        let started = self.since_start(a.started);
        let timed = self.faults_timed;
        let thread = self.thread(a.call.who, a.started);
        thread.started_ns = started;
        thread.timed_faults = timed.then_some(a.faults);
        thread.fault_ns = timed.then_some(a.fault_total);
        thread.on_cpu_ns = Some(a.on_total + running);
    }

    /// For descriptors that were never closed, attributes the data that moved through them to their files.
    fn settle(&mut self, calls: &HashMap<CallKey, CallTotals>, end: u64) {
        let mut moved: HashMap<(Who, i32), Moved> = HashMap::new();
        let mut first_output: HashMap<u32, u64> = HashMap::new();
        for (key, totals) in calls {
            let name = calls::name(key.nr);
            let entry = moved.entry((key.who, key.fd)).or_default();
            let flow = Flow {
                calls: totals.calls,
                bytes: totals.bytes,
                errors: totals.errors,
                total_ns: totals.total,
                blocked_ns: totals.blocked,
            };
            descriptor_events::add(entry, &name, flow);
            let writes = calls::direction(&name) == Some(Direction::Write) || name == "sendfile";
            if key.fd == 1 && writes {
                let first = first_output.entry(key.who.pid).or_insert(totals.first);
                *first = totals.first.min(*first);
            }
        }
        let time = self.since_start(end);
        for ((who, fd), total) in moved {
            self.names.settle((who.pid, who.tid), fd, total, time);
        }
        for (pid, first) in first_output {
            let first = self.since_start(first);
            self.process(pid, end).first_output_ns = Some(first);
        }
    }

    /// Returns the collected trace; the caller adds tier, duration, end, accounts and the kernel's losses.
    pub(crate) fn trace(self) -> Trace {
        let mut not_visible = vec![
            "work done without system calls: through io_uring, and on mapped files (their disk waits are shown \
             outside calls)"
                .to_owned(),
        ];
        if !self.goes_on {
            not_visible.extend(not_seen_to_end(self.survivors));
        }
        if let Some(first) = self.with_rights.first() {
            let who = match self.with_rights.len() {
                1 => format!("process {first}"),
                many => format!("{many} processes, such as {first},"),
            };
            not_visible.push(format!(
                "what {who} did after executing a program that has its own privileges or that you can't read: you \
                 may not trace such a program"
            ));
        }
        if let Some(why) = &self.untimed_faults {
            not_visible.push(format!(
                "the duration of page faults (they are counted): {why}"
            ));
        }
        if self.unreadable > 0 {
            not_visible.push(format!("{} records could not be read", self.unreadable));
        }
        let lost = Losses {
            names: self.names.lost,
            intervals: self.lost_intervals,
            ..Losses::default()
        };
        let rows = self.names.rows();
        Trace {
            paths: self.paths.rows(&self.rows),
            processes: self.processes,
            threads: self.threads,
            syscalls: self.rows,
            off_cpu: self.off_cpu,
            objects: self.objects_of_waits,
            descriptors: rows.descriptors,
            files: rows.files,
            uses: rows.uses,
            failed_lookups: rows.lookups,
            signals: rows.signals,
            refused: rows.refused,
            in_flight: self.requests.in_flight(),
            timeline: self.intervals,
            lost,
            not_visible,
            ..Trace::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_of_who_is_left_out_nor_of_what_it_makes() {
        let who = |pid| Who { tid: pid, pid };
        let forks = |parent, child| Record::Fork {
            time: 10,
            parent: who(parent),
            child: who(child),
        };
        let ends = |pid| {
            Record::Exit(Exited {
                time: 20,
                who: who(pid),
                ..Exited::default()
            })
        };
        let mut collector = Collector::new(0, &[1], None);
        collector.leave_out(2, true);
        for record in [forks(2, 3), forks(1, 4), ends(3), ends(2), ends(4)] {
            collector.apply(record);
        }
        let row = |pid| {
            let key = CallKey {
                who: who(pid),
                nr: 0,
                fd: 0,
            };
            (key, CallTotals::default())
        };
        let calls = [1, 2, 3, 4].map(row).into_iter().collect();
        collector.end(calls, Vec::new(), &[], 30);
        let trace = collector.trace();
        let mut called: Vec<u32> = trace.syscalls.iter().map(|row| row.pid).collect();
        called.sort_unstable();
        let processes: Vec<u32> = trace.processes.iter().map(|one| one.pid).collect();
        assert_eq!((called, processes), (vec![1, 4], vec![1, 4]));
        assert!(
            trace
                .not_visible
                .iter()
                .any(|text| text.starts_with("what process 2 did"))
        );
    }
}
