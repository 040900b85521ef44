//! How do two traces of one command become one?
//!
//! Without privileges no tier sees both waits and calls: samples tell what was waited for, stops
//! tell the first calls. Two runs together answer both.

use crate::result::{StopReading, SyscallRow, Trace};

/// The times of a run that was stopped at its calls, by the clock of one that was not.
struct Clock {
    /// When the program began, in either run.
    begun: (u64, u64),
    /// When it was over.
    ended: (u64, u64),
    readings: Vec<StopReading>,
    /// What a stop cost beyond the tracer's own work.
    each_ns: f64,
}

impl Clock {
    fn new(stopped: &Trace, other: &Trace) -> Self {
        let begun = |trace: &Trace| {
            let root = trace.processes.first();
            let exec = root.and_then(|root| root.execs.last());
            exec.map_or(0, |exec| exec.at_ns.min(trace.duration_ns))
        };
        let readings = stopped.stop_readings.clone();
        let last = readings.last().copied().unwrap_or_default();
        let took = |trace: &Trace| trace.duration_ns - begun(trace);
        let longer = took(stopped).saturating_sub(took(other));
        let rest = longer.saturating_sub(last.held_ns) as f64;
        Self {
            begun: (begun(stopped), begun(other)),
            ended: (stopped.duration_ns, other.duration_ns),
            readings,
            each_ns: rest / last.stops.max(1) as f64,
        }
    }

    /// What of the time up to `at` was the program's own.
    fn own_ns(&self, at: u64) -> f64 {
        let next = self.readings.partition_point(|reading| reading.at_ns <= at);
        let none = StopReading {
            at_ns: self.begun.0,
            ..StopReading::default()
        };
        let from = next.checked_sub(1).map_or(none, |i| self.readings[i]);
        let cost = |r: StopReading| r.held_ns as f64 + r.stops as f64 * self.each_ns;
        // Between two readings stops are taken to be as far from each other as on average.
        let cost = match self.readings.get(next) {
            Some(to) => {
                let part = at.saturating_sub(from.at_ns) as f64
                    / to.at_ns.saturating_sub(from.at_ns).max(1) as f64;
                cost(from) + (cost(*to) - cost(from)) * part
            }
            None => cost(from),
        };
        (at as f64 - cost).max(0.0)
    }

    /// The time in the other run at which the program was as far.
    fn other_ns(&self, at: u64) -> u64 {
        let own = |at: u64| self.own_ns(at) - self.own_ns(self.begun.0);
        let whole = own(self.ended.0);
        if at <= self.begun.0 || whole <= 0.0 {
            return self.begun.1.min(at);
        }
        let part = (own(at) / whole).clamp(0.0, 1.0);
        self.begun.1 + (part * self.ended.1.saturating_sub(self.begun.1) as f64) as u64
    }
}

impl Trace {
    /// Adds the calls of another run of the same command, and what they say of files, to a trace
    /// that has none. The command's own process gets this trace's number; other numbers stay, and
    /// name no process of this run. Times of that run become those at which this one was as far, where
    /// each stop is taken to have cost the same beside the tracer's own work.
    pub fn add_calls(&mut self, mut other: Trace) {
        let root = |trace: &Trace| trace.processes.first().map(|process| process.pid);
        if let (Some(from), Some(to)) = (root(&other), root(self)) {
            other.rename(from, to);
        }
        other.retime(&Clock::new(&other, self));
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

    fn retime(&mut self, clock: &Clock) {
        let calls = self.syscalls.iter_mut().map(|row| &mut row.first_ns);
        let files = self.files.iter_mut().map(|row| &mut row.first_ns);
        let lookups = self.failed_lookups.iter_mut().map(|row| &mut row.first_ns);
        for time in calls.chain(files).chain(lookups) {
            *time = clock.other_ns(*time);
        }
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
    fn times_of_the_second_run_are_those_at_which_the_first_one_was_as_far() {
        // 100 ms with a thousand calls, then 100 ms without; each call is 0.3 ms longer when stopped at, 0.1 ms
        // of which the tracer knows.
        const MS: u64 = 1_000_000;
        let with = |tier, pid, begun_ms: u64, duration_ms: u64| {
            let mut trace = trace(tier, pid);
            trace.duration_ns = duration_ms * MS;
            trace.processes[0].execs.push(crate::result::Exec {
                at_ns: begun_ms * MS,
                ..crate::result::Exec::default()
            });
            trace
        };
        let mut samples = with(Tier::Perf, 10, 2, 202);
        let mut stops = with(Tier::Stops, 20, 4, 504);
        stops.stop_readings = (1..=10)
            .map(|i| StopReading {
                at_ns: (4 + 40 * i) * MS,
                stops: 100 * i,
                held_ns: 10 * i * MS,
            })
            .collect();
        stops.files = [1, 4, 204, 404, 454, 504]
            .iter()
            .map(|at| crate::result::FileRow {
                first_ns: at * MS,
                ..crate::result::FileRow::default()
            })
            .collect();
        samples.add_calls(stops);
        let times: Vec<f64> = samples
            .files
            .iter()
            .map(|file| (file.first_ns as f64 / MS as f64).round())
            .collect();
        assert_eq!(times, [1.0, 2.0, 52.0, 102.0, 152.0, 202.0]);
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
