//! The path itself: what its time was spent on, and which part of each thread's time lies on it.

use std::collections::{BTreeMap, HashMap};

use fathom_model::TimeCategory;

use crate::sums::Sums;
use crate::thread_times::ThreadTimes;

/// The path through a process tree.
#[derive(Debug, Default)]
pub(crate) struct CriticalPath {
    /// What the wall time was spent on.
    pub sums: Sums,
    /// Part of each thread's time on a CPU that lies on the path, 0 to 1.
    pub weights: HashMap<u32, f64>,
    /// Part of each thread's waits for one thing that lies on the path, where that is known.
    pub waits: Option<BTreeMap<(u32, TimeCategory), f64>>,
}

impl CriticalPath {
    /// Part of a thread's time on a CPU that is on the path.
    pub(crate) fn weight(&self, tid: u32) -> f64 {
        self.weights.get(&tid).copied().unwrap_or(0.0)
    }

    /// Part of a thread's waits for this that is on the path.
    pub(crate) fn wait_weight(&self, tid: u32, spent: TimeCategory) -> f64 {
        match &self.waits {
            Some(waits) => waits.get(&(tid, spent)).copied().unwrap_or(0.0),
            None => self.weight(tid),
        }
    }
}

/// A thread that the process's end catches in a wait is gone so soon after it: the last one gives
/// the memory back.
pub(super) const GIVING_BACK_NS: u64 = 20_000_000;

/// The thread that stands for its process: its first one, unless that ended before the others did.
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
