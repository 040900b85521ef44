//! Threads queue for a lock.

use std::collections::BTreeMap;

use fathom_model::Finding;

use crate::account::Life;
use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;
use crate::{Language, account};

/// Threads of one process that queue, and what that brought about.
pub(super) struct Queue {
    pub pid: u32,
    pub threads: usize,
    pub waits: u64,
    pub waited_ns: f64,
    pub cpu_ns: f64,
    /// From the first of them to the last, as traced.
    pub span_ns: f64,
}

impl Queue {
    pub(super) fn cpu_per_wait(&self) -> f64 {
        self.cpu_ns / self.waits.max(1) as f64
    }
}

/// Processes several of whose threads wait for locks again and again while they share the work.
pub(super) fn queues(view: &View<'_>) -> Vec<Queue> {
    let mut lives: BTreeMap<u32, Vec<&Life>> = BTreeMap::new();
    for life in &view.lives {
        lives.entry(life.pid).or_default().push(life);
    }
    lives
        .into_iter()
        .filter_map(|(pid, lives)| queue(view, pid, &lives))
        .collect()
}

fn queue(view: &View<'_>, pid: u32, lives: &[&account::Life]) -> Option<Queue> {
    let all_cpu: f64 = lives.iter().map(|life| life.on_cpu_ns).sum();
    let queueing: Vec<(&&Life, u64, f64)> = lives
        .iter()
        .filter_map(|life| {
            let (waits, ns) = view.lock_waits(life.tid);
            let queues = waits >= t::MANY_LOCK_WAITS
                && ns >= t::LOCK_SHARE * life.ns()
                && life.on_cpu_ns >= 0.03 * all_cpu;
            queues.then_some((life, waits, ns))
        })
        .collect();
    let cpu_ns: f64 = queueing.iter().map(|(life, ..)| life.on_cpu_ns).sum();
    // Where one thread does the work and others wait for it to hand some out, they are idle.
    if queueing.len() < 2 || cpu_ns < 0.7 * all_cpu {
        return None;
    }
    let from = queueing.iter().map(|(life, ..)| life.from_ns).min()?;
    let to = queueing.iter().map(|(life, ..)| life.to_ns).max()?;
    Some(Queue {
        pid,
        threads: queueing.len(),
        waits: queueing.iter().map(|q| q.1).sum(),
        waited_ns: queueing.iter().map(|q| q.2).sum(),
        cpu_ns,
        span_ns: (to - from) as f64,
    })
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let queue = queues(view)
        .into_iter()
        .filter(|q| q.cpu_per_wait() >= t::STORM_CPU_PER_WAIT_NS)
        .max_by(|a, b| a.waited_ns.total_cmp(&b.waited_ns))?;
    let language = view.language(Some(queue.pid));
    if language == Some(Language::Go) {
        // Its idle threads and its locks wait in the same call.
        return None;
    }
    let side_by_side = view.subject.cpus.min(queue.threads).max(1) as f64;
    let win = view.untraced(queue.span_ns - queue.cpu_ns / side_by_side);
    if !matters(view, win) {
        return None;
    }
    let statement = format!(
        "{} threads queued {} times for locks, {} in all, while they used {:.2} of {} CPUs; side by side they would take {} less, {} of the wall time.",
        queue.threads,
        count(queue.waits),
        time(queue.waited_ns),
        queue.cpu_ns / queue.span_ns.max(1.0),
        view.subject.cpus,
        time(win),
        percent(view, win),
    );
    let advice = match language {
        Some(Language::Python) => {
            "Compute outside of the lock; if the lock is the interpreter's own, use processes or calls that release it."
        }
        Some(Language::Java) => {
            "Compute outside of `synchronized`, and hold the monitor only to store the result."
        }
        _ => {
            "Compute outside of the lock and hold it only to store the result; keep a sum per thread, or split the lock."
        }
    };
    Some(
        Draft::new("lock-contention", view, win, statement)
            .evidence("threads that queue", queue.threads as f64, "threads")
            .evidence("waits", queue.waits as f64, "calls")
            .evidence("time queued, all threads", queue.waited_ns, "ns")
            .evidence("CPU time for each wait", queue.cpu_per_wait(), "ns")
            .advice(advice)
            .pid(Some(queue.pid))
            .likely()
            .finish(),
    )
}
