//! Which threads' time is the wall time of the command?
//!
//! Where the trace has every wait in order, [`by_wakeups`] follows the wake-ups backwards from the
//! end, as [`wake_graph`] has them. Where it has not, [`by_sums`] goes through the tree by sums: a
//! parent's wait is replaced by what its children did meanwhile.

mod by_sums;
mod by_wakeups;
mod path;
mod waits;
mod wake_graph;

use std::collections::HashSet;

use fathom_trace::Trace;

pub(crate) use path::CriticalPath;
pub(crate) use waits::covered_ns;

use crate::classify::Classifier;
use crate::thread_times::ThreadTimes;

/// The path of the command through its threads. `pools`: processes whose runtime moves its work
/// between threads which never end, as Go's does, or leaves it to threads of its own, as Node's
/// does.
pub(crate) fn find(
    trace: &Trace,
    threads: &[ThreadTimes],
    classifier: &Classifier<'_>,
    pools: &HashSet<u32>,
) -> CriticalPath {
    let root = trace.processes.first().map(|process| process.pid);
    let walked = match root.is_some_and(|root| pools.contains(&root)) {
        true => None,
        false => by_wakeups::find(trace, threads, classifier, pools),
    };
    walked.unwrap_or_else(|| by_sums::find(trace, threads, pools))
}
