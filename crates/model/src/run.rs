//! One execution of a command, with all its measurements.

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// The program returned this status (0 to 255).
    Code(#[cfg_attr(test, schemars(range(min = 0, max = 255)))] i32),
    /// The program was ended by this signal.
    Signal(#[cfg_attr(test, schemars(range(min = 1)))] i32),
    /// The program ran longer than `--timeout` allows and was ended.
    TimedOut,
}

impl Exit {
    /// Returns true for status 0.
    pub fn is_success(self) -> bool {
        self == Exit::Code(0)
    }
}

/// What the process and the children it waited for read and wrote.
///
/// Source: `/proc/PID/io`. Counts `read`, `pread`, `readv`, `write` and related calls, also on sockets; not
/// `send`/`recv`, `splice`, `mmap` access or io_uring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IoCounts {
    /// Bytes that read calls returned (`rchar`).
    pub read_bytes: u64,
    /// Bytes that were passed to write calls (`wchar`).
    pub written_bytes: u64,
    /// Number of read calls (`syscr`).
    pub read_calls: u64,
    /// Number of write calls (`syscw`).
    pub write_calls: u64,
    /// Bytes fetched from the storage device (`read_bytes`).
    pub device_read_bytes: u64,
    /// Bytes of dirtied pages that must be written to the storage device (`write_bytes`).
    pub device_written_bytes: u64,
}

/// One complete execution. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// The index of the benchmark, from 0.
    pub benchmark: usize,
    /// The number of the round, from 0; warm-up runs are not recorded here.
    pub round: u32,
    /// The position of this run in the order of all runs, from 0.
    pub position: u32,
    /// The start, relative to the start of the session.
    pub started_ns: u64,
    /// The time from just before the process is created to its exit as the parent sees it.
    pub wall_ns: u64,
    /// The part of `wall_ns` before the program was executed: creating the process.
    pub spawn_ns: u64,
    /// CPU time, user and kernel, of the process and the children it waited for.
    pub cpu_ns: u64,
    /// The user part of `cpu_ns`, as the kernel's tick sampling divides it.
    pub user_ns: u64,
    /// The kernel part of `cpu_ns`, as the kernel's tick sampling divides it.
    pub system_ns: u64,
    /// The time that the main thread was ready to run but had no CPU.
    pub run_queue_wait_ns: Option<u64>,
    /// The time between the program's exit and the moment at which Fathom's launcher got a CPU to notice it.
    #[serde(rename = "launcher_wait_ns", alias = "harness_wait_ns")]
    pub harness_wait_ns: Option<u64>,
    /// `wall_ns` minus both waits. Present only if it is exact: one thread, no children.
    #[serde(rename = "cpu_wait_free_ns", alias = "undisturbed_ns")]
    pub undisturbed_ns: Option<u64>,
    /// The peak resident memory of the process or of one of the children that it waited for, whichever is
    /// larger.
    pub peak_memory_bytes: u64,
    /// Page faults served without the storage device.
    pub minor_faults: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// How often the program gave up the CPU to wait for something.
    pub voluntary_switches: u64,
    /// How often the program was preempted.
    pub involuntary_switches: u64,
    /// Bytes and calls read and written; absent if the kernel doesn't permit reading them.
    pub io: Option<IoCounts>,
    /// The steal time around this run, over all CPUs (10 ms steps).
    pub steal_ns: Option<u64>,
    /// How long the CPU limit of Fathom's own control group, or of one above it, kept threads from a CPU
    /// during this run, summed over all CPUs. Absent if there is no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// The sum of the delays that were added to calls or threads of the run. The share of it that appears in
    /// `wall_ns` lies on the critical path. Absent if no delay was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ns: Option<u64>,
    /// The number of processes that the command left running when it ended.
    pub left_behind: u32,
    /// How it ended.
    pub exit: Exit,
}

impl Run {
    /// Returns how long it was kept from a CPU: the main thread's wait and, if only that thread ran, also the
    /// wait of Fathom's launcher, which is in `wall_ns` too. 0 if the kernel doesn't report it.
    pub fn waited_for_cpu_ns(&self) -> u64 {
        let late = match self.undisturbed_ns {
            Some(_) => self.harness_wait_ns.unwrap_or(0),
            None => 0,
        };
        self.run_queue_wait_ns.unwrap_or(0).saturating_add(late)
    }

    /// Returns the part of [`Run::waited_for_cpu_ns`] in which others had the CPU. Waits due to the CPU limit
    /// of Fathom's control group are excluded.
    pub fn waited_for_others_ns(&self) -> u64 {
        let throttled = self.throttled_ns.unwrap_or(0);
        self.waited_for_cpu_ns().saturating_sub(throttled)
    }
}

/// How long a number of runs waited for a CPU: a measure of other load on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CpuWaits {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs that waited more than [`CpuWaits::FROM`] of their wall time.
    pub waited: u64,
    /// The wall time of all runs.
    pub wall_ns: u64,
    /// The time that they waited.
    pub waited_ns: u64,
}

impl CpuWaits {
    /// From this share of the wall time on, waits for a CPU are worth mentioning.
    pub const FROM: f64 = 0.01;
    /// This much waiting in each run doesn't indicate a busy machine: a new process gets a CPU 5 to 7 µs
    /// after it becomes ready, which alone is over 1 % of a start that takes half a millisecond.
    pub const USUAL_NS: u64 = 10_000;

    /// Adds a run.
    pub fn add_run(&mut self, run: &Run) {
        self.add(run.waited_for_others_ns(), run.wall_ns);
    }

    /// Adds a run that waited this long and took this long, ns.
    pub fn add(&mut self, waited_ns: u64, took_ns: u64) {
        let waited = waited_ns.min(took_ns);
        let long = waited > Self::USUAL_NS && waited as f64 > Self::FROM * took_ns as f64;
        self.runs += 1;
        self.waited += u64::from(long);
        self.wall_ns = self.wall_ns.saturating_add(took_ns);
        self.waited_ns = self.waited_ns.saturating_add(waited);
    }

    /// Adds the waits of other runs.
    pub fn extend(&mut self, others: &CpuWaits) {
        self.runs += others.runs;
        self.waited += others.waited;
        self.wall_ns = self.wall_ns.saturating_add(others.wall_ns);
        self.waited_ns = self.waited_ns.saturating_add(others.waited_ns);
    }

    /// Returns the part of all wall time spent waiting, 0 to 1.
    pub fn share(&self) -> f64 {
        match self.wall_ns {
            0 => 0.0,
            wall => self.waited_ns as f64 / wall as f64,
        }
    }

    /// Reports whether the waits are worth mentioning.
    pub fn disturbed(&self) -> bool {
        let usual = self.runs.saturating_mul(Self::USUAL_NS);
        self.waited_ns.saturating_sub(usual) as f64 > Self::FROM * self.wall_ns as f64
    }

    /// Reports whether most runs waited: two long waits in fifty runs don't mean a busy machine.
    pub fn busy(&self) -> bool {
        self.disturbed() && 2 * self.waited >= self.runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(runs: &[(u64, u64)]) -> CpuWaits {
        let mut all = CpuWaits::default();
        runs.iter().for_each(|run| all.add(run.0, run.1));
        all
    }

    #[test]
    fn many_waits_are_a_busy_machine_and_few_a_disturbance() {
        const MS: u64 = 1_000_000;
        assert!(!waits(&[]).disturbed());
        assert!(!waits(&[(MS, 100 * MS), (0, 100 * MS)]).disturbed());
        let many = waits(&[(50 * MS, 100 * MS), (30 * MS, 100 * MS), (0, 100 * MS)]);
        assert_eq!((many.waited, many.busy()), (2, true));
        let few = waits(&[(50 * MS, 100 * MS), (0, 100 * MS), (0, 100 * MS)]);
        assert_eq!((few.disturbed(), few.busy()), (true, false));
    }

    #[test]
    fn what_every_new_process_waits_is_no_disturbance() {
        assert!(!waits(&[(7_000, 300_000); 20]).disturbed());
        assert!(waits(&[(20_000, 300_000); 20]).disturbed());
    }
}
