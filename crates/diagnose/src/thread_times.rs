//! The time of one thread: its start, its end, and its time by category.

use fathom_model::TimeCategory;

use crate::sums::Sums;

/// When a thread began and ended, and its time by category.
#[derive(Debug, Clone)]
pub(crate) struct ThreadTimes {
    pub pid: u32,
    pub tid: u32,
    pub from_ns: u64,
    pub to_ns: u64,
    pub on_cpu_ns: f64,
    /// The fraction of the recorded waits for a CPU that really are waits; the rest is work, see
    /// `charged_before_switch`.
    pub truly_ready: f64,
    /// How often it went to sleep by itself, if known.
    pub sleeps: Option<u64>,
    /// Whether a runtime created the thread for itself.
    pub of_runtime: bool,
    pub sums: Sums,
}

impl ThreadTimes {
    pub(crate) fn ns(&self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64
    }
}

/// Sums over several threads.
pub(crate) trait Threads {
    fn cpu_ns(&self) -> f64;
    fn spent_ns(&self, spent: TimeCategory) -> f64;
    /// Returns the lowest and the highest CPU time of a thread.
    fn least_and_most_cpu_ns(&self) -> (f64, f64);
    /// Returns when the first thread began and the last one ended.
    fn span(&self) -> Option<(u64, u64)>;
}

impl Threads for [&ThreadTimes] {
    fn cpu_ns(&self) -> f64 {
        self.iter().map(|times| times.on_cpu_ns).sum()
    }

    fn spent_ns(&self, spent: TimeCategory) -> f64 {
        self.iter().map(|times| times.sums.get(spent)).sum()
    }

    fn least_and_most_cpu_ns(&self) -> (f64, f64) {
        let cpu = || self.iter().map(|times| times.on_cpu_ns);
        (cpu().fold(f64::MAX, f64::min), cpu().fold(0.0, f64::max))
    }

    fn span(&self) -> Option<(u64, u64)> {
        let from = self.iter().map(|times| times.from_ns).min()?;
        Some((from, self.iter().map(|times| times.to_ns).max()?))
    }
}
