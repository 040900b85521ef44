//! One execution of a command, with everything that was measured of it.

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
    /// True for status 0.
    pub fn is_success(self) -> bool {
        self == Exit::Code(0)
    }
}

/// What the process and the children that it waited for read and wrote.
///
/// Source: `/proc/PID/io`. Counts `read`, `pread`, `readv`, `write` and their kin, also on
/// sockets; not `send`/`recv`, `splice`, `mmap` access or io_uring.
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
    /// Bytes of pages made dirty that the storage device must take (`write_bytes`).
    pub device_written_bytes: u64,
}

/// One execution, complete. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// Index of the benchmark that was run, from 0.
    pub benchmark: usize,
    /// Number of the round, from 0; warm-up runs are not recorded here.
    pub round: u32,
    /// Place of this run in the order of all runs, from 0.
    pub position: u32,
    /// Start, counted from the start of the session.
    pub started_ns: u64,
    /// From just before the process is created to its exit as the parent sees it.
    pub wall_ns: u64,
    /// Part of `wall_ns` before the program was executed: creating the process.
    pub spawn_ns: u64,
    /// CPU time, user and kernel, of the process and the children that it waited for.
    pub cpu_ns: u64,
    /// The user part of `cpu_ns`, as the kernel's tick sampling divides it.
    pub user_ns: u64,
    /// The kernel part of `cpu_ns`, as the kernel's tick sampling divides it.
    pub system_ns: u64,
    /// Time that the main thread was ready to run but had no CPU.
    pub run_queue_wait_ns: Option<u64>,
    /// Time between the program's exit and the moment that Fathom's own launcher got a CPU to see
    /// it.
    #[serde(rename = "launcher_wait_ns", alias = "harness_wait_ns")]
    pub harness_wait_ns: Option<u64>,
    /// `wall_ns` less both waits. Present only where it is exact: one thread, no children.
    #[serde(rename = "cpu_wait_free_ns", alias = "undisturbed_ns")]
    pub undisturbed_ns: Option<u64>,
    /// Largest resident memory of the process or of one of the children that it waited for.
    pub peak_memory_bytes: u64,
    /// Page faults served without the storage device.
    pub minor_faults: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// Times that the program gave up the CPU to wait for something.
    pub voluntary_switches: u64,
    /// Times that the program was taken off the CPU for another.
    pub involuntary_switches: u64,
    /// Bytes and calls read and written; absent where the kernel refuses to tell.
    pub io: Option<IoCounts>,
    /// CPU time that the hypervisor gave to others around this run, all CPUs together (10 ms
    /// steps).
    pub steal_ns: Option<u64>,
    /// For how long the CPU limit of Fathom's own control group, or of one above it, kept threads
    /// from a CPU while this run was on, all CPUs together. Absent where there is no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// For how long calls or threads of it were delayed on purpose, all together: what of that comes out in
    /// `wall_ns` lies on the critical path. Absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ns: Option<u64>,
    /// Processes that the command left running when it ended.
    pub left_behind: u32,
    /// How it ended.
    pub exit: Exit,
}

impl Run {
    /// How long it was kept from a CPU: the main thread's wait, and where only that thread ran also
    /// the wait of Fathom's launcher, which is in `wall_ns` too. 0 where the kernel does not tell.
    pub fn waited_for_cpu_ns(&self) -> u64 {
        let late = match self.undisturbed_ns {
            Some(_) => self.harness_wait_ns.unwrap_or(0),
            None => 0,
        };
        self.run_queue_wait_ns.unwrap_or(0).saturating_add(late)
    }

    /// The part of that in which others had the CPU, and no limit of the own group kept it away.
    pub fn waited_for_others_ns(&self) -> u64 {
        let throttled = self.throttled_ns.unwrap_or(0);
        self.waited_for_cpu_ns().saturating_sub(throttled)
    }
}

/// What a number of runs waited for a CPU: how busy the machine was with other work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CpuWaits {
    /// Number of runs.
    pub runs: u64,
    /// Those that waited more than [`CpuWaits::FROM`] of their wall time.
    pub waited: u64,
    /// Wall time of all.
    pub wall_ns: u64,
    /// Time that they waited.
    pub waited_ns: u64,
}

impl CpuWaits {
    /// From this share of the wall time on, waiting for a CPU is worth a word.
    pub const FROM: f64 = 0.01;
    /// So much of each run is no sign of a busy machine: a new process is put on a CPU 5 to 7 µs
    /// after it is ready wherever it runs, which alone is over 1 % of a start that takes half a
    /// millisecond.
    pub const USUAL_NS: u64 = 10_000;

    /// Adds a run.
    pub fn add_run(&mut self, run: &Run) {
        self.add(run.waited_for_others_ns(), run.wall_ns);
    }

    /// Adds a run that waited so long of the time that it took, ns.
    pub fn add(&mut self, waited_ns: u64, took_ns: u64) {
        let waited = waited_ns.min(took_ns);
        let long = waited > Self::USUAL_NS && waited as f64 > Self::FROM * took_ns as f64;
        self.runs += 1;
        self.waited += u64::from(long);
        self.wall_ns = self.wall_ns.saturating_add(took_ns);
        self.waited_ns = self.waited_ns.saturating_add(waited);
    }

    /// Adds what other runs waited.
    pub fn extend(&mut self, others: &CpuWaits) {
        self.runs += others.runs;
        self.waited += others.waited;
        self.wall_ns = self.wall_ns.saturating_add(others.wall_ns);
        self.waited_ns = self.waited_ns.saturating_add(others.waited_ns);
    }

    /// The part of all wall time that was waited, 0 to 1.
    pub fn share(&self) -> f64 {
        match self.wall_ns {
            0 => 0.0,
            wall => self.waited_ns as f64 / wall as f64,
        }
    }

    /// Whether it is worth a word.
    pub fn disturbed(&self) -> bool {
        let usual = self.runs.saturating_mul(Self::USUAL_NS);
        self.waited_ns.saturating_sub(usual) as f64 > Self::FROM * self.wall_ns as f64
    }

    /// Whether most runs waited: two long waits in fifty runs are another matter than a busy
    /// machine.
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
