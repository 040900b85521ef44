//! Detects programs whose garbage collector works in threads of its own, or in functions that only it calls.

use fathom_trace::Activity;

use super::stopping;
use crate::mechanisms::prelude::*;

pub(crate) fn collecting(analysis: &Analysis<'_>) -> Option<Claim> {
    let stacks = analysis.trace.stacks.as_ref()?;
    if stopping::collects(analysis) {
        return None;
    }
    let (mut all, mut all_cpu, mut samples) = (0.0, 0.0, 0);
    let (mut collected, mut on_path) = (0.0, 0.0);
    let mut first = None;
    for (at, row) in stacks.rows.iter().enumerate() {
        if row.activity != Activity::OwnCode {
            continue;
        }
        let ns = row.ns as f64;
        all_cpu += ns;
        all += ns * analysis.weight(row.tid);
        let of_stack = analysis.works.of_stack(at).map(|(work, _)| work);
        let work = of_stack.or_else(|| analysis.works.of_thread(row.tid));
        if let Some(work) = work.filter(|work| work.role == ThreadRole::Collector) {
            samples += row.samples;
            collected += ns;
            on_path += ns * analysis.weight(row.tid);
            first = first.or(Some((row.pid, work)));
        }
    }
    let (pid, work) = first.filter(|_| samples >= t::LEAST_SAMPLES)?;
    let cost = analysis.spent_ns(TimeCategory::UserCode) * on_path / all.max(1.0);
    let statement = format!(
        "The garbage collector took {}; it used {:.0} % of the CPU time outside of the kernel.",
        analysis.time_and_share(cost),
        100.0 * collected / all_cpu.max(1.0),
    );
    let sets = |argument: &&String| {
        work.changed_by
            .iter()
            .any(|it| argument.starts_with(it.as_str()))
    };
    let mut processes = analysis.trace.processes.iter();
    let process = processes.find(|process| process.pid == pid && !process.execs.is_empty());
    let last = process.and_then(|process| process.execs.last());
    let given = last.and_then(|exec| exec.arguments.iter().find(sets));
    let fewer =
        "create fewer objects: reuse them, and keep numbers in arrays instead of in objects";
    let advice = match given {
        Some(given) => format!(
            "If most of the heap is in use, give it more room than with `{given}`; otherwise {fewer}."
        ),
        None => {
            let names: Vec<String> = work.changed_by.iter().map(|it| format!("`{it}`")).collect();
            format!(
                "If most of the heap is in use, give it more room; otherwise {fewer}. {} change how it collects.",
                names.join(", ")
            )
        }
    };
    Some(
        Claim::new(FindingId::AllocatorChurn, analysis, cost, statement)
            .weighing(analysis.in_own_part(cost))
            .evidence("time in the collector", cost, "ns")
            .evidence("CPU time of the collector", collected, "ns")
            .advice(advice)
            .pid(pid)
            .pieces(vec![Piece::of(TimeCategory::UserCode, cost)]),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;
    use fathom_stacks::Frame;
    use fathom_trace::Activity;

    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns a Java program that waits this long for its collector, which has a thread of its own.
    fn program(collecting: u64, argument: &str) -> Fake {
        let mut fake = Fake::new(1000);
        let exec = &mut fake.trace.processes[0].execs[0];
        exec.path = "/usr/bin/java".to_owned();
        exec.arguments = vec!["java".to_owned(), argument.to_owned()];
        fake.thread(ROOT, 101, 0, 1000, 1000);
        fake.trace.threads.last_mut().expect("just made").name = "GC Thread#0".to_owned();
        let end = 10 + collecting;
        fake.wait_for(ROOT, "futex", None, (10, end, end), Some(101));
        fake.wait_for(101, "futex", None, (end, 1000, 1000), None);
        for (tid, function, milliseconds) in [
            (ROOT, "Cache.fill", 1000 - collecting),
            (101, "G1ParScanThreadState::trim_queue", collecting),
        ] {
            let frame = Frame {
                function: Some(function.to_owned()),
                binary: "//anon".to_owned(),
                ..Frame::default()
            };
            fake.stack(Activity::OwnCode, None, [frame], milliseconds);
            let rows = fake.trace.stacks.iter_mut().flat_map(|it| &mut it.rows);
            rows.last().expect("just made").tid = tid;
        }
        fake
    }

    #[test]
    fn a_collector_that_threads_wait_for_is_named_with_the_limit_of_the_heap() {
        let found = program(600, "-Xmx40m").findings();
        assert_eq!(found[0].id, FindingId::AllocatorChurn, "{found:?}");
        hold_words("collecting", &found[0]);
        let begin = "The garbage collector took 596 ms, 60 % of the wall time";
        assert!(found[0].statement.starts_with(begin), "{found:?}");
        assert!(found[0].advice.contains("`-Xmx40m`"), "{}", found[0].advice);
        assert!(!program(200, "-cp").ids().contains(&"allocator-churn"));
    }

    #[test]
    fn a_collector_is_found_however_long_the_program_waits_for_a_cpu() {
        let fake = program(600, "-Xmx40m");
        for run in [1000, 6000] {
            let mut timed = crate::fake::run(run * crate::fake::MS, 1000 * crate::fake::MS);
            timed.run_queue_wait_ns = Some((run - 1000) * crate::fake::MS);
            let timed = [timed];
            let found = crate::diagnose(&fake.observation(&timed)).findings;
            assert_eq!(found[0].id, FindingId::AllocatorChurn, "{run}: {found:?}");
        }
    }
}
