//! The path itself: what its time was spent on, and the part of each thread's time on it.

use std::collections::{BTreeMap, HashMap};

use fathom_model::TimeCategory;

use crate::sums::Sums;
use crate::thread_times::ThreadTimes;

/// The path through a process tree.
#[derive(Debug, Default)]
pub(crate) struct CriticalPath {
    /// What the wall time was spent on.
    pub sums: Sums,
    /// The part of each thread's on-CPU time that is on the path, 0 to 1.
    pub weights: HashMap<u32, f64>,
    /// The part of each thread's waits in one category that is on the path, if known.
    pub waits: Option<BTreeMap<(u32, TimeCategory), f64>>,
}

impl CriticalPath {
    /// Returns the part of a thread's on-CPU time that is on the path.
    pub(crate) fn weight(&self, tid: u32) -> f64 {
        self.weights.get(&tid).copied().unwrap_or(0.0)
    }

    /// Returns the part of a thread's waits in this category that is on the path.
    pub(crate) fn wait_weight(&self, tid: u32, spent: TimeCategory) -> f64 {
        match &self.waits {
            Some(waits) => waits.get(&(tid, spent)).copied().unwrap_or(0.0),
            None => self.weight(tid),
        }
    }
}

/// The time, in nanoseconds, within which a thread that is waiting when its process ends is gone; the last
/// thread releases the memory.
pub(super) const GIVING_BACK_NS: u64 = 20_000_000;

/// Returns the thread that represents its process. This is its first thread, unless that ended before the
/// others.
pub(super) fn representative_thread(threads: &[ThreadTimes], pid: u32) -> Option<&ThreadTimes> {
    let own = || threads.iter().filter(|times| times.pid == pid);
    let main = own()
        .find(|times| times.tid == pid)
        .or_else(|| own().next())?;
    let latest = own().max_by_key(|times| times.to_ns)?;
    Some(match main.to_ns + GIVING_BACK_NS < latest.to_ns {
        true => latest,
        false => main,
    })
}
