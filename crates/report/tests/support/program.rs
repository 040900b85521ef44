//! Simulated programs.

use fathom_model::{Exit, IoCounts, Run};

/// A linear congruential generator (Knuth's MMIX constants): the same numbers everywhere.
pub(crate) struct Lcg(u64);

impl Lcg {
    pub(crate) fn new(seed: u64) -> Lcg {
        Lcg(seed.wrapping_mul(2) + 1)
    }

    /// Returns a uniform number between 0 and 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an exponential number with mean 1, since times are skewed to the right.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}

/// The cost of a program; times in seconds.
#[derive(Clone)]
pub(crate) struct Program {
    pub name: String,
    /// CPU time.
    pub cpu: f64,
    /// Relative spread of the CPU time.
    pub noise: f64,
    /// Time spent waiting for something other than a CPU.
    pub other_waits: f64,
    /// Mean time spent waiting for a CPU.
    pub cpu_wait: f64,
    /// Share of `cpu` that is spent in the kernel.
    pub kernel: f64,
    /// Number of threads: with more than one, the wall time is shorter and the waits can't be attributed.
    pub threads: u32,
    pub memory: u64,
    pub read_bytes: u64,
    pub read_calls: u64,
    pub written_bytes: u64,
    pub write_calls: u64,
    /// The rounds whose runs wait for a CPU, and for how long.
    pub preempted: Vec<(u32, f64)>,
    /// The rounds whose runs are slow for no visible reason.
    pub mysterious: Vec<(u32, f64)>,
    /// The rounds whose runs fail, and how they end.
    pub failing: Vec<(u32, Exit)>,
}

impl Program {
    pub(crate) fn new(name: &str, cpu: f64) -> Program {
        Program {
            name: name.into(),
            cpu,
            noise: 0.004,
            other_waits: cpu * 0.02,
            cpu_wait: cpu * 0.001,
            kernel: 0.12,
            threads: 1,
            memory: 3_571_712,
            read_bytes: 12_904_448,
            read_calls: 204,
            written_bytes: 12,
            write_calls: 1,
            preempted: Vec::new(),
            mysterious: Vec::new(),
            failing: Vec::new(),
        }
    }

    /// Simulates one run; `load` is the machine's other work.
    pub(crate) fn run(
        &self,
        benchmark: usize,
        round: u32,
        position: u32,
        load: f64,
        random: &mut Lcg,
    ) -> Run {
        let at = |list: &[(u32, f64)]| {
            list.iter()
                .find(|(when, _)| *when == round)
                .map_or(0.0, |(_, time)| *time)
        };
        let ns = |seconds: f64| (seconds * 1e9).round() as u64;
        let cpu = self.cpu * (1.0 + self.noise * random.exponential());
        let wait = self.cpu_wait * load * random.exponential() + at(&self.preempted);
        let other = self.other_waits * (1.0 + 0.1 * random.uniform()) + at(&self.mysterious);
        let busy = cpu / f64::from(self.threads);
        let harness = self.cpu_wait * 0.1 * load * random.exponential();
        let single = self.threads == 1;
        let exit = self
            .failing
            .iter()
            .find(|(when, _)| *when == round)
            .map_or(Exit::Code(0), |(_, exit)| *exit);
        let wall_ns = ns(busy + wait + other + harness);
        Run {
            benchmark,
            round,
            position,
            started_ns: u64::from(position) * 20_000_000,
            wall_ns,
            spawn_ns: 95_000,
            cpu_ns: ns(cpu),
            user_ns: ns(cpu * (1.0 - self.kernel)),
            system_ns: ns(cpu) - ns(cpu * (1.0 - self.kernel)),
            run_queue_wait_ns: Some(ns(wait)),
            harness_wait_ns: Some(ns(harness)),
            undisturbed_ns: single.then(|| wall_ns - ns(wait) - ns(harness)),
            peak_memory_bytes: self.memory + 4096 * (random.uniform() * 4.0) as u64,
            minor_faults: 812 + (random.uniform() * 3.0) as u64,
            major_faults: 0,
            voluntary_switches: 2,
            involuntary_switches: (wait / 0.004).round() as u64,
            io: Some(IoCounts {
                read_bytes: self.read_bytes,
                written_bytes: self.written_bytes,
                read_calls: self.read_calls,
                write_calls: self.write_calls,
                device_read_bytes: 0,
                device_written_bytes: 0,
            }),
            steal_ns: Some(0),
            throttled_ns: None,
            delayed_ns: None,
            left_behind: 0,
            exit,
        }
    }
}
