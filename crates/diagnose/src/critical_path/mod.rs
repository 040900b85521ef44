//! Determines which threads' time makes up the wall time of the command.
//!
//! If the trace has every wait in order, [`by_wakeups`] follows the wake-ups backwards from the end, using
//! [`wake_graph`]. Otherwise, [`by_sums`] walks the tree: a parent's wait is replaced by the sums of what its
//! children did meanwhile.

mod by_sums;
mod by_wakeups;
mod path;
mod waits;
mod wake_graph;

use std::collections::HashSet;

use fathom_model::TimeCategory;
use fathom_trace::Trace;

pub(crate) use path::CriticalPath;
pub(crate) use waits::{covered_ns, span_ns};

use crate::classify::Classifier;
use crate::thread_times::ThreadTimes;

/// Finds the path of the command through its threads. `pools` are the processes whose runtime moves work
/// between threads that never end, as Go's does, or leaves work to its own threads, as Node's does.
pub(crate) fn find(
    trace: &Trace,
    threads: &[ThreadTimes],
    classifier: &Classifier<'_>,
    pools: &HashSet<u32>,
) -> CriticalPath {
    let root = trace.processes.first().map(|process| process.pid);
    let Some(root) = root.or(threads.first().map(|times| times.pid)) else {
        return CriticalPath::default();
    };
    let of = |pid| {
        let own = threads.iter().filter(|times| times.pid == pid);
        if trace.attached.is_some() && own.count() > 1 {
            return by_sums::of_window(trace, threads, pid);
        }
        let walked = match pools.contains(&pid) {
            true => None,
            false => by_wakeups::find(pid, trace, threads, classifier, pools),
        };
        walked.unwrap_or_else(|| by_sums::of_process(trace, threads, pid, pools))
    };
    let path = of(root);
    match busiest(trace, threads).filter(|pid| *pid != root) {
        Some(pid) => more_work(path, of(pid)),
        None => path,
    }
}

/// Returns the process of the tree with the most CPU time among those that were alive at the end. If a
/// process is observed for a while, there is no end that shows what it was working for. It may only wait for
/// signals and leave the work to processes that don't end either, as servers do.
fn busiest(trace: &Trace, threads: &[ThreadTimes]) -> Option<u32> {
    trace.attached.as_ref()?;
    let there = trace.processes.iter().filter(|one| one.ended_ns.is_none());
    let cpu = |pid: u32| -> f64 {
        let own = threads.iter().filter(|times| times.pid == pid);
        own.map(|times| times.on_cpu_ns).sum()
    };
    let busiest = there.max_by(|a, b| cpu(a.pid).total_cmp(&cpu(b.pid)))?;
    Some(busiest.pid)
}

/// Returns whichever path has more work.
fn more_work(one: CriticalPath, other: CriticalPath) -> CriticalPath {
    let work = |path: &CriticalPath| {
        let sums = path.sums.iter();
        let on_cpu =
            sums.filter(|(spent, _)| *spent == TimeCategory::UserCode || spent.is_in_kernel());
        on_cpu.map(|(_, ns)| ns).sum::<f64>()
    };
    match work(&other) > work(&one) {
        true => other,
        false => one,
    }
}
