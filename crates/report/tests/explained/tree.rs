//! An explanation with any number of processes.

use std::collections::BTreeSet;

use fathom_model::Explanation;

use super::recorded;

/// A Python program that forks `children` workers one after another: 120 were recorded, and further ones
/// repeat them.
pub(crate) fn many(children: u32) -> Explanation {
    let mut explanation = recorded("process-spawning.python-prefork.slow.kernel");
    let whole = explanation.clone();
    let wanted = children as usize + 1;
    explanation.processes.truncate(wanted);
    let kept: BTreeSet<u32> = explanation.processes.iter().map(|row| row.pid).collect();
    explanation.threads.retain(|row| kept.contains(&row.pid));
    explanation.timeline.retain(|row| kept.contains(&row.pid));
    let mut shift = 0;
    while explanation.processes.len() < wanted {
        shift += 100_000;
        let missing = wanted - explanation.processes.len();
        let workers: Vec<_> = whole.processes[1..].iter().take(missing).cloned().collect();
        let pids: Vec<u32> = workers.iter().map(|row| row.pid).collect();
        explanation
            .processes
            .extend(workers.into_iter().map(|mut row| {
                row.pid += shift;
                row
            }));
        let threads = whole.threads.iter().filter(|row| pids.contains(&row.pid));
        explanation.threads.extend(threads.cloned().map(|mut row| {
            (row.pid, row.tid) = (row.pid + shift, row.tid + shift);
            row
        }));
        let timeline = whole.timeline.iter().filter(|row| pids.contains(&row.pid));
        explanation
            .timeline
            .extend(timeline.cloned().map(|mut row| {
                (row.pid, row.tid) = (row.pid + shift, row.tid + shift);
                row
            }));
    }
    explanation
}
