//! The time of one thread: its start, its end, and its time by category.

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
    /// Whether a runtime created the thread for itself.
    pub of_runtime: bool,
    pub sums: Sums,
}

impl ThreadTimes {
    pub(crate) fn ns(&self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64
    }
}
