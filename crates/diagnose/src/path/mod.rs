//! Which threads' time is the wall time of the command?
//!
//! Where the trace has every wait in order, [`walk`] follows the wake-ups backwards from the end, by what
//! [`wakers`] says of them.
//! Where it has not, [`shares`] goes through the tree by sums: a parent's wait is replaced by what
//! its children did meanwhile.

mod shares;
mod wakers;
mod walk;

use std::collections::{HashMap, HashSet};

use fathom_model::Spent;
use fathom_trace::Trace;

use crate::account::{Life, Sums};
use crate::classify::Classifier;

pub(crate) use shares::covered_ns;

/// The path through a process tree.
#[derive(Debug, Default)]
pub(crate) struct CriticalPath {
    /// What the wall time was spent on.
    pub sums: Sums,
    /// Part of each thread's time on a CPU that lies on the path, 0 to 1.
    pub weights: HashMap<u32, f64>,
    /// Part of each thread's waits for one thing that lies on the path, where that is known apart.
    waits: Option<HashMap<(u32, Spent), f64>>,
}

impl CriticalPath {
    /// Part of a thread's time on a CPU that is on the path.
    pub(crate) fn weight(&self, tid: u32) -> f64 {
        self.weights.get(&tid).copied().unwrap_or(0.0)
    }

    /// Part of a thread's waits for this that is on the path.
    pub(crate) fn wait_weight(&self, tid: u32, spent: Spent) -> f64 {
        match &self.waits {
            Some(waits) => waits.get(&(tid, spent)).copied().unwrap_or(0.0),
            None => self.weight(tid),
        }
    }
}

/// A thread that the process's end catches in a wait is gone so soon after it: the last one gives the
/// memory back.
const GIVING_BACK_NS: u64 = 20_000_000;

/// The thread by which a process's life is told: its first one, unless that ended before the others did.
fn leading(lives: &[Life], pid: u32) -> Option<&Life> {
    let own = || lives.iter().filter(|life| life.pid == pid);
    let main = own()
        .find(|life| life.tid == pid)
        .or_else(|| own().next())?;
    let latest = own().max_by_key(|life| life.to_ns)?;
    Some(match main.to_ns + GIVING_BACK_NS < latest.to_ns {
        true => latest,
        false => main,
    })
}

/// The path of the command through its lives. `pools`: processes whose runtime moves its work between threads
/// which never end, as Go's does, or leaves it to threads of its own, as Node's does.
pub(crate) fn find(
    trace: &Trace,
    lives: &[Life],
    classifier: &Classifier<'_>,
    pools: &HashSet<u32>,
) -> CriticalPath {
    let root = trace.processes.first().map(|process| process.pid);
    let walked = match root.is_some_and(|root| pools.contains(&root)) {
        true => None,
        false => walk::find(trace, lives, classifier, pools),
    };
    walked.unwrap_or_else(|| shares::find(trace, lives, pools))
}
