//! Maps times of one run to those of another by the amount computed so far.

use fathom_trace::{Process, Trace};

/// The maximum CPU time of a stop, in ns. A stop costs the stopped thread 2 to 40 µs here; anything above
/// that comes from the machine's speed.
const MOST_OF_A_STOP_NS: f64 = 60_000.0;

/// Maps times of a process that was stopped at its calls to the clock of a run that was not stopped, by the
/// amount computed so far. Between two stops of a thread, the tracer takes most of the wall time, but less of
/// the thread's CPU time.
pub(super) struct Clock {
    /// Points in time, each with the program's CPU time up to then without the stops, which only grows.
    computed: Vec<(u64, f64)>,
    /// When the program began, in each run.
    begun: (u64, u64),
    /// When the other run ended.
    ended: u64,
    /// The time of the other run for each ns of CPU time; less than 1 if several threads work at the same
    /// time.
    pace: f64,
}

fn process(trace: &Trace, pid: u32) -> Option<&Process> {
    trace.processes.iter().find(|process| process.pid == pid)
}

impl Clock {
    /// Creates the clock. `pids` holds the process's ID in each run.
    pub(super) fn new(stopped: &Trace, other: &Trace, pids: (u32, u32)) -> Self {
        let this = process(stopped, pids.0);
        let same = process(other, pids.1);
        let begun = |process: Option<&Process>, trace: &Trace| {
            let at = process.map_or(0, |process| {
                let exec = process.execs.last();
                exec.map_or(process.started_ns, |exec| exec.at_ns)
            });
            at.min(trace.duration_ns)
        };
        let begun = (begun(this, stopped), begun(same, other));
        let ended = same.and_then(|process| process.ended_ns);
        let ended = ended.unwrap_or(other.duration_ns);
        let cpu = |trace: &Trace| (trace.accounts.user_ns + trace.accounts.system_ns) as f64;
        let more = cpu(stopped) - cpu(other);
        let each_ns = (more / stopped.stops.max(1) as f64).clamp(0.0, MOST_OF_A_STOP_NS);
        let took = ended.saturating_sub(begun.1) as f64;
        let threads = other.threads.iter().filter(|thread| thread.pid == pids.1);
        let own: u64 = threads.filter_map(|thread| thread.on_cpu_ns).sum();
        let own = match own {
            0 => cpu(other),
            ns => ns as f64,
        };
        let mut computed = vec![(begun.0, 0.0)];
        let readings = stopped.stop_readings.iter();
        for reading in readings.filter(|reading| reading.pid == pids.0) {
            let own = reading.cpu_ns as f64 - reading.stops as f64 * each_ns;
            let before = computed.last().map_or(0.0, |last| last.1);
            computed.push((reading.at_ns, own.max(before)));
        }
        Self {
            computed,
            begun,
            ended,
            pace: (took / own.max(1.0)).min(1.0),
        }
    }

    /// Returns the program's CPU time up to a moment, without the stops.
    fn computed_ns(&self, at: u64) -> f64 {
        let next = self.computed.partition_point(|reading| reading.0 <= at);
        let Some(from) = next.checked_sub(1).map(|i| self.computed[i]) else {
            return 0.0;
        };
        let Some(to) = self.computed.get(next) else {
            return from.1;
        };
        from.1 + (to.1 - from.1) * (at - from.0) as f64 / (to.0 - from.0) as f64
    }

    /// Returns the time in the other run at which the program had computed the same amount.
    pub(super) fn other_ns(&self, at: u64) -> u64 {
        if at <= self.begun.0 {
            return self.begun.1.min(at);
        }
        let later = self.begun.1 + (self.computed_ns(at) * self.pace) as u64;
        later.min(self.ended)
    }
}
