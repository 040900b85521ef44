//! Removes output that a command wrote only because its observer requested it.
//!
//! Timed runs don't write such output. The calls are therefore removed from a trace, and their time counts as
//! time during which the tracer held the thread back.

use std::collections::{HashMap, HashSet};

use crate::descriptor::DescriptorKind;
use crate::result::{Cause, Limited, OffCpuRow, Tier, Trace};
use crate::uses::Flow;

/// The write calls that rows of [`Trace::uses`] count.
const WRITES: [&str; 3] = ["write", "writev", "pwrite64"];

impl Trace {
    /// Removes the calls on [`Trace::asked_for`] from all rows. Call it once, when the trace of the run is
    /// complete.
    pub fn leave_out_what_was_asked_for(&mut self) {
        let asked: HashSet<String> = self.asked_for.iter().cloned().collect();
        if asked.is_empty() {
            return;
        }
        let is_asked = |name: &DescriptorKind| name.absolute().is_some_and(|it| asked.contains(it));
        let mut written: HashMap<(u32, i32), Flow> = HashMap::new();
        for row in self.uses.iter().filter(|row| is_asked(&row.name)) {
            *written.entry((row.pid, row.fd)).or_default() += row.moved.written;
        }
        self.uses.retain(|row| !is_asked(&row.name));
        self.files.retain(|row| !is_asked(&row.name));
        self.paths.retain(|row| !asked.contains(&row.path));
        if let Some(stacks) = &mut self.stacks {
            let is_asked = |path: &String| asked.contains(path);
            stacks
                .rows
                .retain(|row| !row.path.as_ref().is_some_and(is_asked));
        }
        for ((pid, fd), flow) in written {
            self.leave_out_writes(pid, fd, flow);
        }
    }

    /// Removes writes to a descriptor that may have been another file before.
    fn leave_out_writes(&mut self, pid: u32, fd: i32, flow: Flow) {
        let is_it = |name: &str| WRITES.contains(&name);
        let rows = self.syscalls.iter();
        let rows = rows.filter(|row| (row.pid, row.fd) == (pid, Some(fd)) && is_it(&row.name));
        let all: u64 = rows.map(|row| row.calls).sum();
        let part = (flow.calls as f64 / all.max(1) as f64).min(1.0);
        let of = |count: u64| (count as f64 * part).round() as u64;
        let is_timed = self.tier == Some(Tier::Kernel) && self.calls_from.is_none();
        let mut held: HashMap<u32, (u64, u64)> = HashMap::new();
        for row in &mut self.syscalls {
            if (row.pid, row.fd) != (pid, Some(fd)) || !is_it(&row.name) {
                continue;
            }
            let off = row.blocked_ns.unwrap_or(0) + row.ready_ns.unwrap_or(0);
            let of_thread = held.entry(row.tid).or_default();
            of_thread.0 += of(row.total_ns.saturating_sub(off));
            of_thread.1 += of(row.calls);
            let counts = [
                &mut row.calls,
                &mut row.bytes,
                &mut row.total_ns,
                &mut row.late_calls,
            ];
            let waits = row.blocked_ns.iter_mut().chain(&mut row.ready_ns);
            let all = counts.into_iter().chain(waits).chain(&mut row.sizes);
            all.for_each(|count| *count -= of(*count).min(*count));
            if let Some(lines) = &mut row.lines {
                lines.examined -= of(lines.examined);
                lines.ended -= of(lines.ended);
            }
        }
        self.syscalls
            .retain(|row| (row.pid, row.fd) != (pid, Some(fd)) || row.calls + row.unfinished > 0);
        if !is_timed {
            return;
        }
        for (tid, (ns, calls)) in held {
            let thread = self.threads.iter_mut().find(|thread| thread.tid == tid);
            let Some(on_cpu) = thread.and_then(|thread| {
                thread.ready_ns = thread.ready_ns.map(|ready| ready + ns);
                thread.on_cpu_ns.as_mut()
            }) else {
                continue;
            };
            *on_cpu = on_cpu.saturating_sub(ns);
            self.held_back_ns += ns;
            self.off_cpu.push(OffCpuRow {
                pid,
                tid,
                call: None,
                fd: None,
                cause: Cause::Ready,
                count: calls,
                total_ns: ns,
                longest_ns: None,
                by_length: Vec::new(),
                object: None,
                limited: Limited::default(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{FileRow, SyscallRow, Thread};
    use crate::uses::{Moved, UseRow};

    const MAP: &str = "/tmp/perf-7.map";

    /// Returns a trace in which a descriptor was a log for 100 of its writes, and is now the map.
    fn trace(asked: &[&str]) -> Trace {
        let used = |name: &str, calls| UseRow {
            pid: 7,
            fd: 20,
            name: DescriptorKind::File(name.to_owned()),
            moved: Moved {
                written: Flow {
                    calls,
                    bytes: calls * 50,
                    ..Flow::default()
                },
                ..Moved::default()
            },
        };
        let call = |name: &str, fd, calls| SyscallRow {
            pid: 7,
            tid: 8,
            name: name.to_owned(),
            fd: Some(fd),
            calls,
            bytes: calls * 50,
            total_ns: calls * 1_000,
            blocked_ns: Some(calls * 100),
            ready_ns: Some(calls * 100),
            ..SyscallRow::default()
        };
        Trace {
            tier: Some(Tier::Kernel),
            asked_for: asked.iter().map(|path| (*path).to_owned()).collect(),
            threads: vec![Thread {
                pid: 7,
                tid: 8,
                on_cpu_ns: Some(10_000_000),
                ready_ns: Some(5),
                ..Thread::default()
            }],
            syscalls: vec![
                call("write", 20, 400),
                call("fstat", 20, 1),
                call("write", 1, 9),
            ],
            uses: vec![used("/var/log/a", 100), used(MAP, 300)],
            files: vec![FileRow {
                pid: 7,
                name: DescriptorKind::File(MAP.to_owned()),
                ..FileRow::default()
            }],
            ..Trace::default()
        }
    }

    #[test]
    fn what_was_asked_for_is_held_against_the_tracer() {
        let mut seen = trace(&[MAP]);
        seen.leave_out_what_was_asked_for();
        let calls: Vec<_> = seen
            .syscalls
            .iter()
            .map(|row| (row.fd, row.calls))
            .collect();
        assert_eq!(calls, [(Some(20), 100), (Some(20), 1), (Some(1), 9)]);
        assert_eq!(seen.syscalls[0].bytes, 5_000);
        let held = 300 * 800;
        assert_eq!(seen.held_back_ns, held);
        assert_eq!(seen.threads[0].on_cpu_ns, Some(10_000_000 - held));
        assert_eq!(seen.threads[0].ready_ns, Some(5 + held));
        assert_eq!((seen.off_cpu[0].tid, seen.off_cpu[0].total_ns), (8, held));
        assert_eq!((seen.uses.len(), seen.files.len()), (1, 0));
    }

    #[test]
    fn what_the_program_writes_there_by_itself_stays() {
        let mut seen = trace(&[]);
        seen.leave_out_what_was_asked_for();
        assert_eq!(seen, trace(&[]));
    }

    #[test]
    fn without_times_of_calls_only_their_rows_go() {
        let mut seen = trace(&[MAP]);
        seen.calls_from = Some(Tier::Ptrace);
        seen.leave_out_what_was_asked_for();
        assert_eq!(seen.syscalls[0].calls, 100);
        assert_eq!((seen.held_back_ns, seen.off_cpu.len()), (0, 0));
    }
}
