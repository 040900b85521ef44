//! The time of one thread: from when to when, and what it was spent on.

use crate::sums::Sums;

/// When a thread began and ended, and what its time was spent on.
#[derive(Debug, Clone)]
pub(crate) struct ThreadTimes {
    pub pid: u32,
    pub tid: u32,
    pub from_ns: u64,
    pub to_ns: u64,
    pub on_cpu_ns: f64,
    /// Part of what looks like waiting for a CPU that is; the rest is work, see
    /// `charged_before_switch`.
    pub truly_ready: f64,
    /// Whether a runtime made it for itself.
    pub of_runtime: bool,
    pub sums: Sums,
}

impl ThreadTimes {
    pub(crate) fn ns(&self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64
    }
}
