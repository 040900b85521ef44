//! Merges two traces of one command.
//!
//! Without privileges, no tier sees both waits and calls: samples show what was waited for, and ptrace shows
//! the first calls. Two runs together show both.

mod clock;

use std::collections::{HashMap, VecDeque};

use fathom_trace::{
    Cause, DescriptorKind, DescriptorRow, Entered, Exec, OffCpuRow, Process, SyscallRow, Trace,
};

use clock::Clock;

use crate::calls;

/// The minimum share that the most frequent of the calls that may wait must have among them.
const MOST_OF_THE_CALLS: f64 = 0.8;

fn leads_to_somebody(descriptors: &[DescriptorRow], pid: u32, fd: i32) -> bool {
    let mut rows = descriptors.iter();
    let row = rows.find(|row| (row.pid, row.fd) == (pid, fd));
    let Some(kind) = row.and_then(|row| row.names.last()) else {
        return false;
    };
    matches!(
        kind,
        DescriptorKind::Pipe(_)
            | DescriptorKind::NamedPipe(_)
            | DescriptorKind::SocketPair
            | DescriptorKind::Socket(_)
            | DescriptorKind::Events("eventfd")
    )
}

/// Adds the calls and file accesses of another run of the same command to a trace that has none. The
/// command's own process gets its ID in this trace, and so do those of its descendants that ran the same
/// programs. Other IDs stay, and don't name any process of this run. Times of the other run are mapped to
/// those at which this run had computed the same amount.
pub fn add_calls(trace: &mut Trace, mut other: Trace) {
    let same = same_processes(&other, trace);
    let clocks = same
        .iter()
        .map(|(of, this)| (*this, Clock::new(&other, trace, (*of, *this))));
    let clocks: HashMap<u32, Clock> = clocks.collect();
    place_signals(&mut other, trace, &same, &clocks);
    renumber(&mut other, &same);
    add_begins(trace, &other, &same, &clocks);
    if let Some(root) = trace.processes.first() {
        retime(&mut other, &clocks, root.pid);
    }
    trace.calls_from = other.tier;
    trace.calls_cut = other.calls_cut;
    // The times of these calls include the stops.
    let untimed = |row| SyscallRow {
        total_ns: 0,
        blocked_ns: None,
        ready_ns: None,
        ..row
    };
    trace.syscalls = other.syscalls.into_iter().map(untimed).collect();
    trace
        .syscalls
        .sort_by_key(|row| std::cmp::Reverse(row.calls));
    trace.files = other.files;
    trace.uses = other.uses;
    trace.failed_lookups = other.failed_lookups;
    (trace.signals, trace.refused) = (other.signals, other.refused);
    // Only the relations between these times are meaningful, because the times include the stops.
    trace.paths = other.paths;
    let own = std::mem::take(&mut trace.descriptors);
    trace.descriptors = other.descriptors;
    for row in own {
        let same = |there: &&DescriptorRow| (there.pid, there.fd) == (row.pid, row.fd);
        if trace.descriptors.iter().find(same).is_none() {
            trace.descriptors.push(row);
        }
    }
    name_unseen_waits(trace);
    trace.without_rights.extend(other.without_rights);
    trace
        .not_visible
        .retain(|sentence| sentence != fathom_trace::NO_CALLS);
    let others = other.not_visible.into_iter();
    trace.not_visible.extend(others.map(|sentence| {
        match sentence == fathom_trace::TIMES_HOLD_STOPS {
            true => {
                "the duration of single calls: the run whose calls were traced was stopped at each call"
                    .to_owned()
            }
            false => sentence,
        }
    }));
}

/// Models when processes reached the first instruction of their own programs, and when they first wrote to
/// their output, based on their clocks. `same` maps processes of the other run to those of this one.
fn add_begins(
    trace: &mut Trace,
    other: &Trace,
    same: &HashMap<u32, u32>,
    clocks: &HashMap<u32, Clock>,
) {
    for process in &other.processes {
        let Some(this) = same.get(&process.pid) else {
            continue;
        };
        let Some(clock) = clocks.get(this) else {
            continue;
        };
        let mut own = trace.processes.iter_mut();
        let Some(own) = own.find(|own| own.pid == *this) else {
            continue;
        };
        // The tracer itself ends processes that outlive the command.
        let end = process
            .end
            .filter(|_| process.ended_ns < Some(other.duration_ns));
        own.end = own.end.or(end.filter(|_| own.ended_ns.is_some()));
        let first = process.first_output_ns.map(|at| clock.other_ns(at));
        own.first_output_ns = own.first_output_ns.or(first);
        // A clock begins with the last program that the process executed.
        let last = process.execs.last().and_then(|exec| exec.entered);
        let alike = process.execs.len() == own.execs.len();
        if let Some(exec) = own.execs.last_mut()
            && alike
            && exec.entered.is_none()
        {
            let entered = last.map(|entered| Entered {
                at_ns: clock.other_ns(entered.at_ns),
                ..entered
            });
            // If the stops may have taken all of the loader's time, the moment is unknown.
            exec.entered = entered.filter(|entered| entered.at_ns > exec.at_ns);
        }
    }
}

/// Names the call of a thread's short waits if no sample saw one: of the calls that may wait, it is the one
/// that the thread makes by far the most.
fn name_unseen_waits(trace: &mut Trace) {
    let descriptors = &trace.descriptors;
    let may_wait = |row: &&SyscallRow| match calls::reads_on(&row.name) {
        true => row
            .fd
            .is_some_and(|fd| leads_to_somebody(descriptors, row.pid, fd)),
        false => calls::awaits(&row.name),
    };
    let unseen = |row: &&mut OffCpuRow| row.cause == Cause::Asleep && row.call.is_none();
    for wait in trace.off_cpu.iter_mut().filter(unseen) {
        let rows = trace.syscalls.iter().filter(|row| row.tid == wait.tid);
        let rows: Vec<&SyscallRow> = rows.filter(may_wait).collect();
        let all: u64 = rows.iter().map(|row| row.calls).sum();
        let most = rows.into_iter().max_by_key(|row| row.calls);
        if let Some(most) = most.filter(|most| most.calls as f64 >= MOST_OF_THE_CALLS * all as f64)
        {
            wait.call = Some(most.name.clone());
            wait.fd = most.fd;
        }
    }
}

/// Maps times by the clock of their process, or by that of the root if the process has none.
fn retime(trace: &mut Trace, clocks: &HashMap<u32, Clock>, root: u32) {
    let calls = trace.syscalls.iter_mut();
    let calls = calls.map(|row| (row.pid, &mut row.first_ns));
    let files = trace.files.iter_mut();
    let files = files.map(|row| (row.pid, &mut row.first_ns));
    let lookups = trace.failed_lookups.iter_mut();
    let lookups = lookups.map(|row| (row.pid, &mut row.first_ns));
    for (pid, time) in calls.chain(files).chain(lookups) {
        if let Some(clock) = clocks.get(&pid).or_else(|| clocks.get(&root)) {
            *time = clock.other_ns(*time);
        }
    }
    let refused = trace.refused.iter_mut();
    let refused =
        refused.flat_map(|row| [(row.pid, &mut row.first_ns), (row.pid, &mut row.last_ns)]);
    for (pid, time) in refused {
        if let Some(clock) = clocks.get(&pid).or_else(|| clocks.get(&root)) {
            *time = clock.other_ns(*time);
        }
    }
}

/// Maps the times of signals by the end of their receiver: what passes between a signal and that end is
/// waited, which no clock of computed time shows. Without a receiver they are mapped by the sender's clock.
fn place_signals(
    other: &mut Trace,
    this: &Trace,
    same: &HashMap<u32, u32>,
    clocks: &HashMap<u32, Clock>,
) {
    let ended = |trace: &Trace, pid: u32| {
        let process = trace.processes.iter().find(|process| process.pid == pid);
        process
            .and_then(|it| it.ended_ns)
            .unwrap_or(trace.duration_ns)
    };
    let mut signals = std::mem::take(&mut other.signals);
    for row in &mut signals {
        let receiver = row.target.and_then(|pid| Some((pid, *same.get(&pid)?)));
        let ends = receiver.map(|(there, here)| (ended(other, there), ended(this, here)));
        let clock = same.get(&row.pid).and_then(|pid| clocks.get(pid));
        for at in [&mut row.first_ns, &mut row.last_ns] {
            *at = match (ends, clock) {
                (Some((there, here)), _) => here.saturating_sub(there.saturating_sub(*at)),
                (None, Some(clock)) => clock.other_ns(*at),
                (None, None) => *at,
            };
        }
    }
    other.signals = signals;
}

/// Replaces process IDs.
fn renumber(trace: &mut Trace, numbers: &HashMap<u32, u32>) {
    let set = |pid: &mut u32| *pid = numbers.get(pid).copied().unwrap_or(*pid);
    for row in &mut trace.syscalls {
        // The ID of a process's first thread is that of the process.
        set(&mut row.tid);
        set(&mut row.pid);
    }
    trace.files.iter_mut().for_each(|row| set(&mut row.pid));
    trace.uses.iter_mut().for_each(|row| set(&mut row.pid));
    trace
        .failed_lookups
        .iter_mut()
        .for_each(|row| set(&mut row.pid));
    trace.paths.iter_mut().for_each(|row| set(&mut row.pid));
    trace.refused.iter_mut().for_each(|row| set(&mut row.pid));
    for row in &mut trace.signals {
        set(&mut row.pid);
        row.target.iter_mut().for_each(set);
    }
    trace
        .descriptors
        .iter_mut()
        .for_each(|row| set(&mut row.pid));
}

/// Matches processes of another run with those of this one. The two commands match, and among the children of
/// matching processes, those that ran the same programs match in order.
fn same_processes(other: &Trace, this: &Trace) -> HashMap<u32, u32> {
    // In samples, a copy of a process has the name of the program that both run.
    let programs = |trace: &Trace, process: &Process| -> Vec<(String, Vec<String>)> {
        let ran = |exec: &Exec| (exec.path.clone(), exec.arguments.clone());
        let mut parents = trace.processes.iter();
        let parent = parents.find(|parent| Some(parent.pid) == process.parent);
        let parents = parent.and_then(|parent| parent.execs.last()).map(ran);
        let own: Vec<_> = process.execs.iter().map(ran).collect();
        match own.len() == 1 && parents.as_ref() == own.first() {
            true => Vec::new(),
            false => own,
        }
    };
    let mut children: HashMap<_, VecDeque<u32>> = HashMap::new();
    for process in &this.processes {
        let of_parent = children
            .entry((process.parent, programs(this, process)))
            .or_default();
        of_parent.push_back(process.pid);
    }
    let mut numbers = HashMap::new();
    for (at, process) in other.processes.iter().enumerate() {
        let same = match at {
            0 => this.processes.first().map(|process| process.pid),
            _ => process
                .parent
                .and_then(|parent| numbers.get(&parent).copied())
                .and_then(|parent| children.get_mut(&(Some(parent), programs(other, process))))
                .and_then(VecDeque::pop_front),
        };
        numbers.extend(same.map(|same| (process.pid, same)));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::{End, FileRow, PathRow, SignalRow, StopReading, Thread, Tier};

    fn trace(tier: Tier, pid: u32) -> Trace {
        let process = Process {
            pid,
            ..Process::default()
        };
        let names = vec![DescriptorKind::File(format!("seen by {pid}"))];
        Trace {
            tier: Some(tier),
            processes: vec![process],
            descriptors: vec![DescriptorRow {
                pid,
                fd: 0,
                names,
                more_names: 0,
            }],
            ..Trace::default()
        }
    }

    #[test]
    fn times_of_the_second_run_are_those_at_which_the_first_one_had_computed_as_much() {
        // The process runs for 100 ms with a thousand calls, then for 100 ms without any. When it is stopped,
        // each call takes 0.3 ms longer, of which 4 µs are CPU time.
        const MS: u64 = 1_000_000;
        let with = |tier, pid, begun_ms: u64, duration_ms: u64| {
            let mut trace = trace(tier, pid);
            trace.duration_ns = duration_ms * MS;
            trace.accounts.user_ns = 200 * MS;
            trace.processes[0].execs.push(Exec {
                at_ns: begun_ms * MS,
                ..Exec::default()
            });
            trace
        };
        let files = |pid, at_ms: &[u64]| {
            let files = at_ms.iter().map(|at| FileRow {
                pid,
                first_ns: at * MS,
                ..FileRow::default()
            });
            files.collect()
        };
        let mut samples = with(Tier::Perf, 10, 2, 202);
        let mut stops = with(Tier::Ptrace, 20, 4, 504);
        stops.accounts.system_ns = 4 * MS;
        stops.stops = 2000;
        stops.stop_readings = (1..=10)
            .map(|i| StopReading {
                pid: 20,
                at_ns: (4 + 40 * i) * MS,
                stops: 200 * i,
                cpu_ns: 10 * i * MS + 200 * i * 2_000,
            })
            .collect();
        stops.files = files(20, &[1, 4, 204, 404, 504]);
        add_calls(&mut samples, stops);
        // After the last reading, only the order of events is known.
        assert_eq!(samples.files, files(10, &[1, 2, 52, 102, 102]));
    }

    #[test]
    fn paths_of_the_second_run_are_those_of_the_first_ones_processes() {
        let (mut samples, mut stops) = (trace(Tier::Perf, 10), trace(Tier::Ptrace, 20));
        let path = |pid| PathRow {
            pid,
            path: "/etc/hosts".into(),
            calls: 7,
            ..PathRow::default()
        };
        stops.paths.push(path(20));
        add_calls(&mut samples, stops);
        assert_eq!(samples.paths, [path(10)]);
    }

    #[test]
    fn a_child_has_a_clock_of_its_own() {
        // The process computes for 100 ms with a call every millisecond, and each call takes 1 ms longer when
        // stopped. The command waits for the process.
        const MS: u64 = 1_000_000;
        let with = |tier, pid, child_ms: (u64, u64)| {
            let mut trace = trace(tier, pid);
            let (from, to) = child_ms;
            trace.duration_ns = (to + 1) * MS;
            trace.accounts.user_ns = 100 * MS;
            trace.processes.push(Process {
                pid: pid + 1,
                parent: Some(pid),
                started_ns: from * MS,
                ended_ns: Some(to * MS),
                execs: vec![Exec {
                    at_ns: from * MS,
                    path: "/bin/work".into(),
                    ..Exec::default()
                }],
                ..Process::default()
            });
            trace.threads.push(Thread {
                pid: pid + 1,
                tid: pid + 1,
                on_cpu_ns: Some(100 * MS),
                ..Thread::default()
            });
            trace
        };
        let mut samples = with(Tier::Perf, 10, (5, 105));
        let mut stops = with(Tier::Ptrace, 20, (7, 207));
        stops.stops = 100;
        stops.stop_readings = (1..=10)
            .map(|i| StopReading {
                pid: 21,
                at_ns: (7 + 20 * i) * MS,
                stops: 10 * i,
                cpu_ns: 10 * i * MS,
            })
            .collect();
        stops.files = vec![FileRow {
            pid: 21,
            first_ns: 107 * MS,
            ..FileRow::default()
        }];
        stops.processes[1].first_output_ns = Some(187 * MS);
        let entered = |at_ms| Entered {
            at_ns: at_ms * MS,
            loaded: true,
        };
        stops.processes[1].execs[0].entered = Some(entered(27));
        add_calls(&mut samples, stops);
        let child = &samples.processes[1];
        assert_eq!(child.execs[0].entered, Some(entered(15)));
        assert_eq!(child.first_output_ns, Some(95 * MS));
        assert_eq!(
            (samples.files[0].pid, samples.files[0].first_ns),
            (11, 55 * MS)
        );
    }

    #[test]
    fn the_time_from_a_signal_to_the_end_of_its_receiver_stays_whole() {
        const MS: u64 = 1_000_000;
        let with = |tier, pid, more_ms: u64| {
            let mut trace = trace(tier, pid);
            trace.duration_ns = (3_200 + more_ms) * MS;
            trace.processes.push(Process {
                pid: pid + 1,
                parent: Some(pid),
                started_ns: (100 + more_ms) * MS,
                ended_ns: Some((3_150 + more_ms) * MS),
                ..Process::default()
            });
            trace
        };
        let (mut samples, mut stops) = (with(Tier::Perf, 10, 0), with(Tier::Ptrace, 20, 400));
        let killed = End {
            signal: Some(9),
            ..End::default()
        };
        stops.processes[1].end = Some(killed);
        let sent = |pid, signal, ms: u64| SignalRow {
            pid,
            target: Some(pid + 1),
            signal,
            calls: 1,
            first_ns: ms * MS,
            last_ns: ms * MS,
        };
        stops.signals = vec![sent(20, 15, 550), sent(20, 9, 3_549)];
        add_calls(&mut samples, stops);
        assert_eq!(samples.signals, [sent(10, 15, 150), sent(10, 9, 3_149)]);
        assert_eq!(samples.processes[1].end, Some(killed));
    }

    #[test]
    fn short_waits_that_no_sample_saw_are_in_the_call_that_is_made_most() {
        let named = |reads: u64, behind: &str| {
            let call = |name: &str, fd, calls| SyscallRow {
                pid: 20,
                tid: 20,
                name: name.into(),
                fd,
                calls,
                ..SyscallRow::default()
            };
            let mut samples = trace(Tier::Perf, 10);
            samples.off_cpu = vec![OffCpuRow {
                pid: 10,
                tid: 10,
                call: None,
                fd: None,
                cause: Cause::Asleep,
                count: 900,
                total_ns: 9_000_000,
                longest_ns: None,
                by_length: Vec::new(),
                object: None,
                limited: fathom_trace::Limited::default(),
            }];
            let mut stops = trace(Tier::Ptrace, 20);
            stops.descriptors[0].fd = 5;
            stops.descriptors[0].names = vec![behind.into()];
            stops.syscalls = vec![
                call("read", Some(5), reads),
                call("write", Some(6), 5_000),
                call("futex", None, 100),
            ];
            add_calls(&mut samples, stops);
            (samples.off_cpu[0].call.clone(), samples.off_cpu[0].fd)
        };
        assert_eq!(named(900, "pipe"), (Some("read".into()), Some(5)));
        assert_eq!(named(200, "pipe"), (None, None), "one of two");
        assert_eq!(named(900, "/etc/passwd"), (Some("futex".into()), None));
    }

    #[test]
    fn children_that_ran_the_same_are_each_other() {
        let ran = |trace: &mut Trace, pid, parent, program: &str| {
            let exec = (!program.is_empty()).then(|| Exec {
                path: program.into(),
                ..Exec::default()
            });
            trace.processes.push(Process {
                pid,
                parent: Some(parent),
                execs: exec.into_iter().collect(),
                ..Process::default()
            });
        };
        let (mut here, mut there) = (trace(Tier::Sample, 10), trace(Tier::Ptrace, 20));
        for (pid, parent, program) in [
            (11, 10, "ls"),
            (12, 10, "cat"),
            (13, 10, "ls"),
            (14, 13, ""),
        ] {
            ran(&mut here, pid, parent, program);
        }
        // This is a copy, as named in samples.
        here.processes[4].execs = here.processes[3].execs.clone();
        // A process that ran something else, its child, and a surplus one have no counterpart.
        let others = [
            (21, 20, "cat"),
            (22, 20, "ls"),
            (23, 20, "ls"),
            (24, 23, ""),
            (25, 20, "vi"),
        ];
        for (pid, parent, program) in others.into_iter().chain([(26, 25, ""), (27, 20, "cat")]) {
            ran(&mut there, pid, parent, program);
        }
        let expected = [(20, 10), (21, 12), (22, 11), (23, 13), (24, 14)];
        assert_eq!(same_processes(&there, &here), expected.into());
    }

    #[test]
    fn calls_of_the_second_run_are_the_first_runs_command() {
        let mut samples = trace(Tier::Sample, 10);
        let mut stops = trace(Tier::Ptrace, 20);
        stops.syscalls = vec![
            SyscallRow {
                pid: 20,
                tid: 20,
                ..SyscallRow::default()
            },
            SyscallRow {
                pid: 21,
                tid: 21,
                ..SyscallRow::default()
            },
        ];
        add_calls(&mut samples, stops);
        let who: Vec<_> = samples
            .syscalls
            .iter()
            .map(|row| (row.pid, row.tid))
            .collect();
        assert_eq!(who, [(10, 10), (21, 21)]);
        assert_eq!(samples.descriptors.len(), 1);
        assert_eq!(samples.descriptors[0].names, ["seen by 20"]);
        assert_eq!(
            (samples.tier, samples.calls_from),
            (Some(Tier::Sample), Some(Tier::Ptrace))
        );
    }
}
