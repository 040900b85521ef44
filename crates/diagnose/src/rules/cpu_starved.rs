//! More threads want a CPU than there are CPUs.

use fathom_model::{Finding, Spent};

use crate::draft::{Draft, percent, time};
use crate::thresholds as t;
use crate::view::{View, crowded, hungry};

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let cpus = view.subject.cpus.max(1) as f64;
    let hungry: Vec<_> = view
        .lives
        .iter()
        .filter(|life| hungry(life, view.trace))
        .collect();
    let ready: f64 = hungry.iter().map(|life| life.sums.get(Spent::Ready)).sum();
    let lives: f64 = hungry.iter().map(|life| life.ns()).sum();
    let waiting = ready / lives.max(1.0);
    let crowded = crowded(&view.lives, view.subject.cpus, view.trace)
        && hungry.len() as f64 > t::CROWD_PER_CPU * cpus;
    if !crowded || waiting < 0.4 {
        return None;
    }
    // Each thread's wait is another's work: fewer threads finish the whole no sooner, but each
    // item in the time that it takes.
    let delay = view.untraced(ready / hungry.len() as f64);
    let statement = format!(
        "{} busy threads share {} CPUs: each was ready and did not run for {} on average, {} of the wall time.",
        hungry.len(),
        view.subject.cpus,
        time(delay),
        percent(view, delay),
    );
    Some(
        Draft::new("cpu-starved", view, delay, statement)
            .of_latency(view.timed_ns - view.cpu_ns / cpus)
            .evidence("busy threads", hungry.len() as f64, "threads")
            .evidence("CPUs", cpus, "CPUs")
            .evidence("ready and not running, share of their lives", waiting, "1")
            .advice("Start as many busy threads or processes as there are CPUs, and give them the work from a queue.")
            .pid(hungry.first().map(|life| life.pid))
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT};

    fn crowd(threads: u32) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 1, 999_000);
        let each = 2000 / u64::from(threads);
        for tid in 101..101 + threads {
            fake.thread(ROOT, tid, 0, 1000, 1000);
            fake.waits_of(
                tid,
                None,
                None,
                Cause::Preempted,
                100,
                (1000 - each.min(1000)) * 10,
            );
        }
        fake
    }

    #[test]
    fn sixteen_busy_threads_on_two_cpus_are_told() {
        assert_eq!(crowd(16).ids(), ["cpu-starved"]);
    }

    #[test]
    fn one_for_each_cpu_is_right() {
        assert!(crowd(2).ids().is_empty());
    }
}
