//! A program that has several threads uses one CPU.

use std::collections::BTreeMap;

use fathom_model::Finding;

use crate::Language;
use crate::account::Life;
use crate::draft::{Draft, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;

/// Threads of one process that were made to share work: of one name, alive together, each with a
/// part of the CPU time.
fn workers<'a>(view: &'a View<'_>, pid: u32, go: bool) -> Vec<&'a Life> {
    let mut named: BTreeMap<&str, Vec<&Life>> = BTreeMap::new();
    for (thread, life) in view.trace.threads.iter().zip(&view.lives) {
        if life.pid == pid
            && (life.tid != pid || go)
            && life.on_cpu_ns >= if go { 0.05 } else { 0.01 } * view.trace.duration_ns as f64
        {
            let stem = thread
                .name
                .trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
            named.entry(stem).or_default().push(life);
        }
    }
    let cpu = |lives: &[&Life]| lives.iter().map(|l| l.on_cpu_ns).sum::<f64>();
    named
        .into_values()
        .max_by(|a, b| cpu(a).total_cmp(&cpu(b)))
        .unwrap_or_default()
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let cpus = view.subject.cpus;
    let found = view.trace.processes.iter().filter_map(|process| {
        let language = view.language(Some(process.pid));
        // Their runtimes' own threads share one name and work beside the program's single one.
        if cpus < 2 || matches!(language, Some(Language::Node | Language::Java)) {
            return None;
        }
        let workers = workers(view, process.pid, language == Some(Language::Go));
        if workers.len() < 2 {
            return None;
        }
        // Go moves one goroutine over many threads; only threads that are bound to their
        // goroutines get equal parts of the work and still take turns.
        let least = workers.iter().map(|l| l.on_cpu_ns).fold(f64::MAX, f64::min);
        let most = workers.iter().map(|l| l.on_cpu_ns).fold(0.0, f64::max);
        if language == Some(Language::Go) && (workers.len() <= cpus.max(3) || least < 0.7 * most) {
            return None;
        }
        let cpu: f64 = workers.iter().map(|l| l.on_cpu_ns).sum();
        let busiest = workers.iter().map(|l| l.on_cpu_ns).fold(0.0, f64::max);
        let from = workers.iter().map(|l| l.from_ns).min()?;
        let to = workers.iter().map(|l| l.to_ns).max()?;
        let span = (to - from) as f64;
        let ready: f64 = workers
            .iter()
            .map(|l| l.sums.get(fathom_model::Spent::Ready))
            .sum();
        let used = (cpu + ready) / span.max(1.0);
        // One works while the rest wait, in turn or all the time.
        let alone = used < 1.25 && used > 0.7;
        let lopsided = busiest > t::BUSY_THREAD * span;
        let in_turn = workers.len() > cpus || !lopsided;
        let win =
            view.untraced(span - (span / cpus.min(workers.len()) as f64).max(cpu / cpus as f64));
        (alone && (lopsided || in_turn) && matters(view, win)).then_some((
            process.pid,
            workers.len(),
            used,
            win,
        ))
    });
    let (pid, threads, used, win) = found.max_by(|a, b| a.3.total_cmp(&b.3))?;
    let statement = format!(
        "{threads} threads share the work and use {used:.2} of {cpus} CPUs; evenly spread they would take {} less, {} of the wall time.",
        time(win),
        percent(view, win),
    );
    Some(
        Draft::new("idle-cores", view, win, statement)
            .evidence("threads", threads as f64, "threads")
            .evidence("CPUs used", used, "CPUs")
            .advice("Cut the work into more and smaller pieces, and see that no lock or single stage makes the threads take turns.")
            .pid(Some(pid))
            .likely()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT};

    fn workers(cpu: [u64; 2]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 2, 499_000);
        for (tid, cpu) in (101..).zip(cpu) {
            fake.thread(ROOT, tid, 0, 1000, 1000);
            fake.waits_of(
                tid,
                Some("futex"),
                None,
                Cause::Asleep,
                3,
                (1000 - cpu) * 333,
            );
        }
        fake
    }

    #[test]
    fn one_worker_with_all_the_work_is_told() {
        assert_eq!(workers([980, 30]).ids(), ["idle-cores"]);
    }

    #[test]
    fn work_that_is_shared_is_not() {
        assert!(workers([980, 950]).ids().is_empty());
    }
}
