//! Merges the records and the samples into one trace.

use std::collections::{HashMap, HashSet};

use super::{Begun, ThreadTimeline, ThreadTimelines};
use crate::result::{Cause, Exec, Interval, Limited, OffCpuRow, Process, Thread, Trace};

/// Maximum delay with which samples notice the end of a thread on a machine that is not overloaded, ns. On an
/// overloaded machine, a delay of 27 ms was seen.
const NOTICED_NS: u64 = 20_000_000;
/// After a thread that gains other privileges calls `execve`, the kernel ends its records within this time,
/// ns.
const TAKING_RIGHTS_NS: u64 = 5_000_000;

impl ThreadTimelines {
    /// Adds the recorded data to a trace made from samples: beginnings and ends, switches, waits, and the
    /// timeline.
    ///
    /// Data that only samples have is kept: CPU time and time in the run queue by the kernel's own counts,
    /// page faults, arguments, files.
    pub(crate) fn fill(mut self, end: u64, refused: &HashMap<u32, Option<u64>>, trace: &mut Trace) {
        for (_, timeline) in std::mem::take(&mut self.alive) {
            self.close_up(timeline, end);
        }
        let mut sampled: HashMap<u32, Thread> = HashMap::new();
        for thread in std::mem::take(&mut trace.threads) {
            sampled.insert(thread.tid, thread);
        }
        let mut off_cpu = Vec::new();
        let mut unseen_after = Vec::new();
        let mut threads = Vec::new();
        let start = self.start;
        for timeline in std::mem::take(&mut self.over) {
            let took_rights = self.took_rights(&timeline);
            let sampled = sampled.remove(&timeline.tid);
            let mut thread = thread(&timeline, sampled, start, took_rights);
            if let Some(until) = refused.get(&timeline.pid)
                && took_rights
            {
                thread.ended_ns = *until;
            }
            let reported = timeline.ended.map(|at| at.saturating_sub(start));
            let until = thread.ended_ns.unwrap_or(end.saturating_sub(start));
            if let Some(from) = reported.filter(|from| *from < until) {
                let unseen = unseen(&thread, from, until);
                off_cpu.push(row_of(&unseen));
                unseen_after.push(unseen);
            }
            threads.push(thread);
            let (pid, tid) = (timeline.pid, timeline.tid);
            off_cpu.extend(timeline.waits.rows(pid, tid));
        }
        // If records were lost, some threads have none.
        let reported: HashSet<u32> = threads.iter().map(|t: &Thread| t.tid).collect();
        threads.extend(sampled.into_values());
        threads.sort_by_key(|t| (t.started_ns, t.tid));
        trace.threads = threads;
        let sampled_rows = std::mem::take(&mut trace.off_cpu);
        off_cpu.extend(
            sampled_rows
                .into_iter()
                .filter(|row| !reported.contains(&row.tid)),
        );
        off_cpu.sort_by_key(|row: &OffCpuRow| (std::cmp::Reverse(row.total_ns), row.tid, row.fd));
        trace.off_cpu = off_cpu;
        self.intervals.append(&mut unseen_after);
        self.intervals.sort_by_key(|i| (i.to_ns, i.tid));
        trace.timeline = self.options.map(|_| std::mem::take(&mut self.intervals));
        trace.lost.intervals = self.lost_intervals;
        trace.lost.records += self.lost_records;
        self.fill_processes(trace);
    }

    /// Returns whether a thread's records ended with the `execve` of a program with other privileges.
    fn took_rights(&self, timeline: &ThreadTimeline) -> bool {
        let last = self.execs.get(&timeline.pid).and_then(|all| all.last());
        let since = |begun: &Begun| timeline.ended.map(|at| at.saturating_sub(begun.at));
        last.and_then(since)
            .is_some_and(|ns| ns <= TAKING_RIGHTS_NS)
    }

    fn fill_processes(&self, trace: &mut Trace) {
        let since = |at: u64| at.saturating_sub(self.start);
        let known: HashSet<u32> = trace.processes.iter().map(|p| p.pid).collect();
        let unseen = self.parents.keys().filter(|pid| !known.contains(pid));
        trace.processes.extend(unseen.map(|pid| Process {
            pid: *pid,
            ..Process::default()
        }));
        // A process has no end if one of its threads was not seen to end.
        let mut ends: HashMap<u32, Option<u64>> = HashMap::new();
        for thread in &trace.threads {
            let end = ends.entry(thread.pid).or_insert(Some(0));
            *end = end.zip(thread.ended_ns).map(|(last, this)| last.max(this));
        }
        for process in &mut trace.processes {
            if let Some((parent, at)) = self.parents.get(&process.pid) {
                process.parent = Some(*parent);
                process.started_ns = since(*at);
            }
            if process.parent.is_some() {
                process.ended_ns = ends.get(&process.pid).copied().flatten();
            }
            if let Some(begun) = self.execs.get(&process.pid) {
                let sampled = std::mem::take(&mut process.execs);
                process.execs = begun
                    .iter()
                    .map(|one| exec(one, &sampled, self.start, process.parent.is_some()))
                    .collect();
            }
        }
        trace.processes.sort_by_key(|p| (p.started_ns, p.pid));
    }
}

/// Returns the part of a thread's time that no record covers, as an interval.
fn unseen(thread: &Thread, from_ns: u64, to_ns: u64) -> Interval {
    Interval {
        pid: thread.pid,
        tid: thread.tid,
        from_ns,
        woken_ns: None,
        to_ns,
        cause: Cause::Unseen,
        call: None,
        fd: None,
        woken_by: None,
        object: None,
    }
}

fn row_of(interval: &Interval) -> OffCpuRow {
    let ns = interval.to_ns - interval.from_ns;
    OffCpuRow {
        pid: interval.pid,
        tid: interval.tid,
        call: None,
        fd: None,
        cause: interval.cause,
        count: 1,
        total_ns: ns,
        longest_ns: Some(ns),
        by_length: Vec::new(),
        object: None,
        limited: Limited::default(),
    }
}

/// Builds a thread from the records, with the data that only samples have. `took_rights` means that its
/// records may have ended before the thread did.
fn thread(
    timeline: &ThreadTimeline,
    sampled: Option<Thread>,
    start: u64,
    took_rights: bool,
) -> Thread {
    let sampled = sampled.unwrap_or_default();
    Thread {
        pid: timeline.pid,
        tid: timeline.tid,
        name: match timeline.name.is_empty() {
            true => sampled.name,
            false => timeline.name.clone(),
        },
        started_ns: timeline.started.saturating_sub(start),
        ended_ns: match (
            timeline.ended.map(|at| at.saturating_sub(start)),
            sampled.ended_ns,
        ) {
            // Records end when a thread gains other privileges, but samples, or the thread that waited for
            // it, saw it continue.
            (Some(reported), Some(seen)) if took_rights && seen > reported + NOTICED_NS => {
                Some(seen)
            }
            (reported, _) => reported,
        },
        on_cpu_ns: Some(timeline.on_cpu),
        // The kernel's count was read some time before the thread's end; only our count includes preemption
        // after that.
        ready_ns: Some(sampled.ready_ns.unwrap_or(0).max(timeline.able)),
        voluntary_switches: Some(timeline.switches.0),
        involuntary_switches: Some(timeline.switches.1),
        minor_faults: sampled.minor_faults,
        major_faults: sampled.major_faults,
        ..Thread::default()
    }
}

/// Builds a program from the records, with its arguments if a sample saw them. Until it executes the program,
/// a child (`is_child`) is a copy of its parent, and its samples have the same path if the parent runs itself
/// again.
fn exec(begun: &Begun, sampled: &[Exec], start: u64, is_child: bool) -> Exec {
    let at_ns = begun.at.saturating_sub(start);
    // The records don't have the path of a program with other privileges.
    let alike = |exec: &&Exec| begun.path.is_empty() || exec.path == begun.path;
    let mut same = sampled.iter().filter(alike);
    let seen = same.find(|exec| !is_child || exec.at_ns >= at_ns);
    let path = match (begun.path.is_empty(), seen) {
        (true, Some(seen)) => seen.path.clone(),
        _ => begun.path.clone(),
    };
    Exec {
        called_ns: None,
        at_ns,
        entered: None,
        path,
        arguments: seen.map_or_else(Vec::new, |exec| exec.arguments.clone()),
        arguments_cut: seen.is_some_and(|exec| exec.arguments_cut),
        asked: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_parent_does_not_name_what_a_child_then_runs() {
        let sample = |at_ns, argument: &str| Exec {
            at_ns,
            path: "/bin/python3".to_owned(),
            arguments: vec!["python3".to_owned(), argument.to_owned()],
            ..Exec::default()
        };
        let sampled = [sample(50, "make.py"), sample(120, "step.py")];
        let begun = Begun {
            at: 1_100,
            path: "/bin/python3".to_owned(),
        };
        assert_eq!(exec(&begun, &sampled, 1_000, true).arguments[1], "step.py");
        assert!(
            exec(&begun, &sampled[..1], 1_000, true)
                .arguments
                .is_empty()
        );
        assert_eq!(exec(&begun, &sampled, 1_000, false).arguments[1], "make.py");
    }
}
