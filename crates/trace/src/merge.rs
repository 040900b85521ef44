//! How do two traces of one command become one?
//!
//! Without privileges no tier sees both waits and calls: samples tell what was waited for, stops
//! tell the first calls. Two runs together answer both.

use crate::result::{SyscallRow, Trace};

impl Trace {
    /// Adds the calls of another run of the same command, and what they say of files, to a trace
    /// that has none. The command's own process gets this trace's number; other numbers stay, and
    /// name no process of this run.
    pub fn add_calls(&mut self, mut other: Trace) {
        let root = |trace: &Trace| trace.processes.first().map(|process| process.pid);
        if let (Some(from), Some(to)) = (root(&other), root(self)) {
            other.rename(from, to);
        }
        self.calls_from = other.tier;
        self.calls_cut = other.calls_cut;
        // Their times hold the stops.
        let untimed = |row| SyscallRow {
            total_ns: 0,
            blocked_ns: None,
            ready_ns: None,
            ..row
        };
        self.syscalls = other.syscalls.into_iter().map(untimed).collect();
        self.syscalls
            .sort_by_key(|row| std::cmp::Reverse(row.calls));
        self.files = other.files;
        self.failed_lookups = other.failed_lookups;
        let own = std::mem::take(&mut self.descriptors);
        self.descriptors = other.descriptors;
        for row in own {
            let same =
                |there: &&crate::result::DescriptorRow| (there.pid, there.fd) == (row.pid, row.fd);
            if self.descriptors.iter().find(same).is_none() {
                self.descriptors.push(row);
            }
        }
        self.not_visible
            .retain(|sentence| sentence != crate::sample::NO_CALLS);
        self.not_visible.extend(other.not_visible);
    }

    /// Gives what is told of process `from` the number `to`.
    fn rename(&mut self, from: u32, to: u32) {
        let set = |pid: &mut u32| {
            if *pid == from {
                *pid = to;
            }
        };
        for row in &mut self.syscalls {
            set(&mut row.pid);
            set(&mut row.tid);
        }
        self.files.iter_mut().for_each(|row| set(&mut row.pid));
        self.failed_lookups
            .iter_mut()
            .for_each(|row| set(&mut row.pid));
        self.descriptors
            .iter_mut()
            .for_each(|row| set(&mut row.pid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{DescriptorRow, Process, Tier};

    fn trace(tier: Tier, pid: u32) -> Trace {
        let process = Process {
            pid,
            ..Process::default()
        };
        let names = vec![format!("seen by {pid}")];
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
    fn calls_of_the_second_run_are_the_first_runs_command() {
        let mut samples = trace(Tier::Sample, 10);
        let mut stops = trace(Tier::Stops, 20);
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
        samples.add_calls(stops);
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
            (Some(Tier::Sample), Some(Tier::Stops))
        );
    }
}
