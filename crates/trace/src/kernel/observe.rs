//! Runs commands under the in-kernel tier.

use std::collections::HashSet;
use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, SystemTime};

use super::drain_ended::DrainedRows;
use super::entry_exit_overhead::{self, Calls};
use super::session::Session;
use super::tick_skid;
use super::urgent::Urgent;
use crate::attach::{Readings, stack_of_blocked, threads_of};
use crate::collect::Collector;
use crate::command::{Member, TraceCommand, TraceOptions};
use crate::error::{TraceError, system};
use crate::group::{Group, descriptors_of};
use crate::inherited;
use crate::kernel::layout::{lost, pace};
use crate::kernel::programs::Maps;
use crate::mutexes::Mutexes;
use crate::paths;
use crate::profile::MachineWide;
use crate::progress::Follower;
use crate::records::Alive;
use crate::result::{CallOverhead, FaultOverhead, GroupTrace, Losses, Tier, Trace};
use crate::stacks::RawStack;
use crate::timed_locks;
use crate::watch::{Limits, now};

/// Interval between readings of the ring: 4 MiB hold many times the data produced in 10 ms.
pub(super) const READING: Duration = Duration::from_millis(10);

/// Interval used if the ring must be read again soon.
const SOON: Duration = Duration::from_millis(1);

/// If at least this fraction of the ring was unread, it is read again immediately.
const MUCH: f64 = 0.125;

/// Minimum number of faults for which their unseen part, and how ticks are charged, matters.
const MANY_FAULTS: u64 = 50_000;
/// Minimum number of calls for which it matters how ticks are charged.
const MANY_CALLS: u64 = 100_000;

/// Runs the command and reports what the kernel saw.
pub(crate) fn observe(command: &TraceCommand, options: &TraceOptions) -> Result<Trace, TraceError> {
    let mut session = Session::arm(options)?;
    let follow = Some(session.follow());
    let group = Group::hold([(command, Duration::ZERO)], follow, &[])?;
    watch(&mut session, group, command.timeout, options).map(GroupTrace::into_single)
}

/// Runs the commands concurrently and reports what the kernel saw of all of them.
pub(crate) fn observe_group(
    members: Vec<Member>,
    options: &TraceOptions,
) -> Result<GroupTrace, TraceError> {
    let mut session = Session::arm(options)?;
    let unwanted: Vec<RawFd> = descriptors_of(&members);
    let timeout = members.iter().filter_map(|m| m.command.timeout).min();
    let commands = members.iter().map(|m| (&m.command, m.delay));
    let group = Group::hold(commands, Some(session.follow()), &unwanted)?;
    // Close our copies of the pipes between the commands; otherwise no reader would ever see the end of
    // input.
    drop(members);
    watch(&mut session, group, timeout, options)
}

fn watch(
    session: &mut Session,
    mut group: Group,
    timeout: Option<Duration>,
    options: &TraceOptions,
) -> Result<GroupTrace, TraceError> {
    let limits = Limits::start(timeout, options.stop.clone());
    let start = now();
    let roots = group.pids();
    let mut collector = Collector::new(start, &roots, options.timeline.map(|t| t.most));
    collector.name_maps.clone_from(&group.name_maps);
    collector.time_faults(options.fault_times.then_some(&session.untimed_faults));
    for pid in &roots {
        inherited::name_descriptors(&mut collector.names, *pid, &options.labels);
    }
    let mut gathering = Gathering::begin(collector, &roots, options, &session.maps);
    group.begin(now());
    group.release_due(now())?;

    // The commands already exist, so none of them inherits the priority.
    let urgent = Urgent::raise();
    let (mut cut_short, mut wait) = (false, SOON);
    while !group.all_ended(limits.shorten(wait)) {
        group.release_due(now())?;
        wait = gathering.read(session)?;
        if limits.reached() {
            cut_short = true;
            kill_tree(session, &group);
            while !group.all_ended(READING) {
                gathering.read(session)?;
            }
            break;
        }
    }
    let end = now();
    drop(urgent);
    let alive = alive(session)?;
    gathering.drain(session);
    end_survivors(session, &roots)?;
    let losses = losses(session)?;
    let held_back_ns = session.maps.counter(pace::HELD)?;
    let fault_overhead = fault_overhead(session, gathering.collector.timed_faults());
    session.disarm();
    group.check_started()?;
    let start = gathering.collector.start();
    let trace = gathering.finish(session, &alive, losses, end)?;
    group.reap(
        Trace {
            duration_ns: end - start,
            held_back_ns,
            fault_overhead,
            ..trace
        },
        start,
        cut_short,
    )
}

/// Data collected while the programs are armed.
pub(super) struct Gathering {
    pub(super) collector: Collector,
    drained: DrainedRows,
    profile: Option<MachineWide>,
    unprofiled: Option<io::Error>,
    mutexes: Option<Mutexes>,
    follower: Follower,
    unprobed: Option<io::Error>,
}

impl Gathering {
    /// Starts the part of the observation that the programs don't do: samples of these held processes and
    /// their descendants, and of mutex waits.
    pub(super) fn begin(
        mut collector: Collector,
        roots: &[u32],
        options: &TraceOptions,
        maps: &Maps,
    ) -> Self {
        let stacks = options.stacks.as_ref();
        let sampling = |period| MachineWide::begin(roots, period, stacks, &maps.python);
        let (profile, unprofiled) = or_why(options.profile.map(sampling).transpose());
        let probing = |program| Mutexes::begin(program, roots);
        let probes = options.mutexes_of.as_deref().map(probing);
        let (mutexes, unprobed) = or_why(probes.transpose().map(Option::flatten));
        collector.execed = mutexes.as_ref().map(|_| Vec::new());
        Self {
            collector,
            drained: DrainedRows::new(options.most_rows),
            profile,
            unprofiled,
            mutexes,
            follower: Follower::default(),
            unprobed,
        }
    }

    /// Also samples processes that are already running; the first of them began at `since`.
    pub(super) fn attach(&mut self, pids: impl Iterator<Item = u32>, since: SystemTime) {
        if let Some(profile) = &mut self.profile {
            profile.attach(pids, since);
        }
    }

    /// Adds the stacks of threads of these processes that have been blocked since `start`, when they were in the
    /// state of `before`.
    pub(super) fn add_blocked(
        &mut self,
        pids: impl Iterator<Item = u32>,
        before: &Readings,
        (start, end): (u64, u64),
    ) {
        let Some((stacks, python)) = self.profile.as_mut().and_then(MachineWide::stacks) else {
            return;
        };
        for (pid, tid) in
            pids.flat_map(|pid| threads_of(pid).into_iter().map(move |tid| (pid, tid)))
        {
            let before = before.get(tid);
            let stack = before.and_then(|it| stack_of_blocked((pid, tid), it, end - start, end));
            if let Some(mut stack) = stack {
                stack.copy.python = python.of_blocked((pid, tid));
                stacks.take(stack);
            }
        }
    }

    /// Reads new data, and returns the time to wait before the next reading.
    pub(super) fn read(&mut self, session: &mut Session) -> Result<Duration, TraceError> {
        // Counted before the records are read, so that the records of all these threads are included.
        let ended = session.maps.counter(pace::ENDED)?;
        let part = self.drain(session);
        self.profile.iter_mut().for_each(MachineWide::read);
        let (living, start) = (self.collector.living(), self.collector.start());
        self.follower.follow(living, now(), start);
        if let (Some(mutexes), Some(execed)) = (&mut self.mutexes, &mut self.collector.execed) {
            execed.drain(..).for_each(|pid| mutexes.executed(pid));
            mutexes.read();
        }
        let took = self
            .drained
            .take_ended(session, &mut self.collector.ended, ended)?;
        let is_urgent = self.profile.as_ref().is_some_and(MachineWide::is_urgent);
        Ok(match (took || part >= MUCH, is_urgent) {
            (true, _) => Duration::ZERO,
            (_, true) => SOON,
            _ => READING,
        })
    }

    /// Reads the records that are currently in the rings; returns the largest fraction of a ring that was
    /// filled.
    pub(super) fn drain(&mut self, session: &mut Session) -> f64 {
        let collector = &mut self.collector;
        let part = session.ring.drain(|record| collector.record(record));
        let mut stacks = self.profile.as_mut().and_then(MachineWide::stacks);
        let mut seen: Vec<RawStack> = Vec::new();
        let of_stacks = session
            .stacks
            .drain(|record| seen.extend(collector.stack(record)));
        if let Some((stacks, python)) = &mut stacks {
            // Frames are sent right after their stack, so their ring must be read after the ring of stacks.
            python.drain();
            let mut last = None;
            for mut stack in seen {
                let of = ((stack.pid, stack.tid), stack.at);
                // A call that both ran and waited gives two stacks.
                let known = last.take().filter(|(other, _)| *other == of);
                let (_, frames) = known.unwrap_or_else(|| (of, python.sent(of.0, of.1)));
                stack.copy.python.clone_from(&frames);
                stacks.take(stack);
                last = Some((of, frames));
            }
        }
        part.max(of_stacks)
    }

    /// Builds the trace; `alive` has the threads that had not ended at `end`.
    pub(super) fn finish(
        self,
        session: &Session,
        alive: &[Alive],
        losses: Losses,
        end: u64,
    ) -> Result<Trace, TraceError> {
        let with_rights = self.collector.with_rights.clone();
        let mut trace = finish(session, self.collector, self.drained, alive, end)?;
        trace.lost = Losses {
            names: trace.lost.names,
            intervals: trace.lost.intervals,
            ..losses
        };
        trace.not_visible.extend(self.unprofiled.map(|error| {
            format!("the functions of the program's own code: perf_event_open(2): {error}")
        }));
        trace.not_visible.extend(self.unprobed.map(|error| {
            format!("how goroutines waited for mutexes: perf_event_open(2): {error}")
        }));
        if let Some(mutexes) = self.mutexes {
            let pids: HashSet<u32> = trace.processes.iter().map(|process| process.pid).collect();
            let (rows, lost) = mutexes.finish(|pid| pids.contains(&pid));
            trace.mutexes = rows;
            if lost > 0 {
                trace.not_visible.push(format!(
                    "some waits for mutexes: {lost} or more records were lost because their buffer was full"
                ));
            }
        }
        // The CPU clock samples every process, including those with privileges.
        let is_ours = |pid: u32| !with_rights.contains(&pid);
        let unseen = self.profile.iter().flat_map(MachineWide::not_visible);
        trace.not_visible.extend(unseen);
        trace.profile = self.profile.map(|seen| seen.finish(is_ours));
        let functions = trace
            .profile
            .iter_mut()
            .map(|profile| &mut profile.functions);
        functions.for_each(|rows| rows.retain(|row| is_ours(row.pid)));
        let lost = trace.profile.as_ref().map_or(0, |profile| profile.lost);
        if lost > 0 {
            trace.not_visible.push(format!(
                "some functions of the program's own code: {lost} records were lost because their buffer was full"
            ));
        }
        trace.call_overhead = call_overhead(session.calls, &trace);
        trace.progress = self.follower.finish();
        trace.tier = Some(Tier::Kernel);
        Ok(trace)
    }
}

/// Returns the thing that was started, or the reason why it could not be; everything else works without it.
fn or_why<T>(begun: io::Result<Option<T>>) -> (Option<T>, Option<io::Error>) {
    match begun {
        Ok(begun) => (begun, None),
        Err(error) => (None, Some(error)),
    }
}

/// Returns the cost of faults beyond the part that the programs saw. If there were many faults, they are also
/// measured after the run, and how ticks are charged to them is determined. `seen` is their number and their
/// total time in ns.
fn fault_overhead(session: &mut Session, seen: (u64, u64)) -> Option<FaultOverhead> {
    let before = session.faults.take()?;
    let (faults, ns) = seen;
    if faults < MANY_FAULTS {
        return before.overhead(None);
    }
    let both = match entry_exit_overhead::faults_again(session) {
        Some(after) => before.and(after),
        None => before,
    };
    Some(FaultOverhead {
        tick_skid_share: tick_skid::share_of_fault(),
        ..both.overhead(Some(ns as f64 / faults as f64))?
    })
}

/// Returns the cost of calls beyond the part that the programs saw. If there were many calls, how ticks are
/// charged to them is determined.
fn call_overhead(before: Option<Calls>, trace: &Trace) -> Option<CallOverhead> {
    let before = before?;
    let calls: u64 = trace.syscalls.iter().map(|row| row.calls).sum();
    let tick_skid_ns = match calls {
        0..MANY_CALLS => None,
        _ => tick_skid::ns_of_call(before.untraced_ns),
    };
    Some(before.overhead(tick_skid_ns))
}

fn finish(
    session: &Session,
    mut collector: Collector,
    mut drained: DrainedRows,
    alive: &[Alive],
    end: u64,
) -> Result<Trace, TraceError> {
    drained.take_all(session)?;
    let without_descriptor = drained.without_descriptor;
    collector.end(drained.calls, drained.off_cpu, alive, end);
    let mut trace = collector.trace();
    paths::mark(&mut trace);
    timed_locks::separate(&mut trace, false);
    if without_descriptor > 0 {
        trace.not_visible.push(format!(
            "the descriptors and bytes of {without_descriptor} calls: there were too many to record"
        ));
    }
    Ok(trace)
}

pub(super) fn losses(session: &Session) -> Result<Losses, TraceError> {
    let count = |which: i32| -> Result<u64, TraceError> {
        let value = session.maps.lost.get(&which.to_ne_bytes());
        let value = value.map_err(system("reading the table of lost records"))?;
        let bytes = value.and_then(|v| v.try_into().ok());
        Ok(bytes.map_or(0, u64::from_ne_bytes))
    };
    Ok(Losses {
        calls: count(lost::CALLS)?,
        off_cpu: count(lost::OFF_CPU)?,
        records: count(lost::RECORDS)?,
        threads: count(lost::THREADS)?,
        stacks: count(lost::STACKS)?,
        ..Losses::default()
    })
}

pub(super) fn alive(session: &Session) -> Result<Vec<Alive>, TraceError> {
    let entries = session.maps.tasks.entries();
    let entries = entries.map_err(system("reading the table of threads"))?;
    Ok(entries
        .iter()
        .filter_map(|(_, v)| Alive::decode(v))
        .collect())
}

/// Kills processes that outlived the command until there are none: a process may create another one while it
/// is being killed.
fn end_survivors(session: &Session, roots: &[u32]) -> Result<(), TraceError> {
    // Allow the time that the kernel takes to end processes, but don't wait forever: this process may not be
    // able to kill some of them.
    const ROUNDS: u32 = 500;
    // A reading of the table while threads come and go may miss a new thread.
    let mut found_none = 0;
    for _ in 0..ROUNDS {
        let mut left = alive(session)?;
        left.retain(|one| !roots.contains(&one.call.who.pid));
        if left.is_empty() {
            found_none += 1;
            if found_none == 2 {
                break;
            }
            continue;
        }
        found_none = 0;
        kill_survivors(&left, roots);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok(())
}

fn kill_tree(session: &Session, group: &Group) {
    group.kill();
    if let Ok(alive) = alive(session) {
        kill_survivors(&alive, &group.pids());
    }
}

/// Kills processes that left the command's process group. A thread leaves the table as it exits, so these ids
/// are valid, unless the process ended in the microseconds since the table was read.
fn kill_survivors(alive: &[Alive], roots: &[u32]) {
    for survivor in alive {
        let pid = survivor.call.who.pid;
        // In another pid namespace, the kernel's process ids differ from ours, and the roots are not found.
        if !roots.contains(&pid) && in_our_namespace(pid) {
            // SAFETY: sends a signal to a process of the traced tree.
            unsafe { libc::kill(pid as i32, libc::SIGKILL) };
        }
    }
}

fn in_our_namespace(pid: u32) -> bool {
    // Without a nested namespace, the kernel's list has a single number.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("NSpid:"));
    line.is_some_and(|l| l.split_whitespace().count() == 2)
        && std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::TimelineOptions;
    use crate::kernel::programs::Sides;

    /// Traces a shell that waits for its child, which sleeps for 200 ms, with the programs attached to these
    /// sides of each switch.
    fn seen(sides: Sides) -> Option<Trace> {
        let options = TraceOptions {
            timeline: Some(TimelineOptions::default()),
            ..TraceOptions::default()
        };
        let session = Session::arm_with(&options, sides, true);
        let command = TraceCommand::new(["sh", "-c", "sleep 0.2; exit 0"]);
        traced(session, &command, &options)
    }

    /// Returns the trace of a command, if the programs may be armed.
    fn traced(
        session: Result<Session, TraceError>,
        command: &TraceCommand,
        options: &TraceOptions,
    ) -> Option<Trace> {
        let mut session = match session {
            Ok(session) => session,
            Err(TraceError::NotAllowed(why)) => {
                fathom_test_log::skipped(why);
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let follow = Some(session.follow());
        let group = Group::hold([(command, Duration::ZERO)], follow, &[]).unwrap();
        let trace = watch(&mut session, group, None, options).unwrap();
        Some(trace.into_single())
    }

    #[test]
    fn without_being_held_back_a_program_loses_what_finds_the_ring_full() {
        let options = TraceOptions {
            ring_bytes: 4096,
            ..TraceOptions::default()
        };
        let script = "i=0; while [ $i -lt 2000 ]; do : < /dev/null; i=$((i+1)); done";
        let command = TraceCommand::new(["sh", "-c", script]);
        let session = Session::arm_with(&options, Sides::Both, false);
        let Some(trace) = traced(session, &command, &options) else {
            return;
        };
        assert!(trace.lost.records > 0, "{:?}", trace.lost);
        assert_eq!((trace.lost.calls, trace.held_back_ns), (0, 0));
    }

    #[test]
    fn what_only_one_side_of_a_switch_shows_is_no_less_waiting() {
        for sides in [Sides::Both, Sides::Departures, Sides::Arrivals] {
            let Some(trace) = seen(sides) else { return };
            for call in ["wait4", "clock_nanosleep"] {
                let blocked = |ns: u64| ns >= 150_000_000;
                let row = trace.syscalls.iter().find(|row| row.name == call).unwrap();
                assert!(blocked(row.blocked_ns.unwrap()), "{sides:?}: {row:?}");
                let waits = trace.timeline.iter().flatten();
                let of_call =
                    waits.filter(|wait| wait.call.as_ref().is_some_and(|name| name == call));
                let slept = of_call.map(|wait| wait.to_ns - wait.from_ns).sum();
                assert!(blocked(slept), "{sides:?}: {call} {slept} ns");
            }
            let on_cpu: u64 = trace.threads.iter().filter_map(|one| one.on_cpu_ns).sum();
            assert!(on_cpu < 150_000_000, "{sides:?}: {on_cpu} ns");
        }
    }
}
