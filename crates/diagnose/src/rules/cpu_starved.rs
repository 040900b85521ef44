//! More threads want a CPU than there are CPUs.

use fathom_model::{Finding, Spent};

use crate::draft::{Draft, percent, time};
use crate::thresholds as t;
use crate::view::{View, crowded, hungry};

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let cpus = view.subject.cpus.max(1) as f64;
    let hungry: Vec<_> = view.lives.iter().filter(|life| hungry(life, view.trace)).collect();
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
            .evidence("busy threads", hungry.len() as f64, "threads")
            .evidence("CPUs", cpus, "CPUs")
            .evidence("ready and not running, share of their lives", waiting, "1")
            .advice("Start as many busy threads or processes as there are CPUs, and give them the work from a queue.")
            .pid(hungry.first().map(|life| life.pid))
            .finish(),
    )
}
