//! Detects child processes that run one after another although they could run in parallel.

use crate::mechanisms::make::children::{Repeated, alike, repeated};
use crate::mechanisms::prelude::*;

/// Children that a parent could have run in parallel.
struct InTurn {
    pid: u32,
    children: usize,
    /// The sum of their lifetimes, in ns.
    total_ns: f64,
    saving_ns: f64,
    /// The single command that all of them ran, if they ran the same.
    repeated: Option<Repeated>,
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let parents = analysis.trace.processes.iter().filter_map(|p| p.parent);
    let parents: BTreeSet<u32> = parents.collect();
    let found = parents
        .into_iter()
        .filter_map(|pid| of_parent(analysis, pid));
    let InTurn {
        pid,
        children,
        total_ns: total,
        saving_ns: saving,
        repeated,
    } = largest(found, |it| it.saving_ns)?;
    if let Some(Repeated { line, times }) = repeated {
        let statement = format!(
            "`{line}` ran {times} times with the same arguments, for {} in all; run once, it would take {} less, {} \
             of the wall time.",
            time(analysis.untraced(total)),
            time(saving),
            analysis.percent(saving),
        );
        return Some(
            Claim::new(FindingId::WaitingForChild, analysis, saving, statement)
                .evidence("times", times, "processes")
                .evidence("their lives", analysis.untraced(total), "ns")
                .advice(Repeated::ADVICE)
                .pid(pid)
                .likely(),
        );
    }
    let statement = format!(
        "{children} child processes ran one after another for {}; in parallel on {} CPUs they would take {} less, \
         {} of the wall time.",
        time(analysis.untraced(total)),
        analysis.observation.cpus,
        time(saving),
        analysis.percent(saving),
    );
    Some(
        Claim::new(FindingId::WaitingForChild, analysis, saving, statement)
            .evidence("children in turn", children, "processes")
            .evidence("their lives", analysis.untraced(total), "ns")
            .advice("Start the children that don't need each other together, as many at a time as there are CPUs, or do their work in one pass.")
            .pid(pid)
            .likely(),
    )
}

fn of_parent(analysis: &Analysis<'_>, parent: u32) -> Option<InTurn> {
    let waits = |times: &ThreadTimes| {
        times.sums.get(TimeCategory::WaitingForChild) + times.sums.get(TimeCategory::WaitingForPipe)
    };
    // Any of the parent's threads may be the one that waits, because Go moves work between them.
    let threads = analysis.threads_of(parent);
    let on_path = |times: &ThreadTimes| waits(times) * analysis.weight(times.tid);
    let waiter = largest(threads, |times| on_path(times))?;
    let end = analysis.trace.duration_ns;
    let children: Vec<(u32, u64, u64)> = analysis
        .children_of(parent)
        // Processes that a shim or wrapper runs before it becomes the program are needed for that step.
        .filter(|p| became(analysis, parent).is_none_or(|at| p.started_ns >= at))
        .map(|p| (p.pid, p.started_ns, p.ended_ns.unwrap_or(end)))
        // Short children are covered by the finding process-spawning.
        .filter(|c| {
            span_ns(c) > t::SHORT_CHILD_CPU_NS && analysis.tree_cpu(c.0) > t::SHORT_CHILD_CPU_NS
        })
        .collect();
    let sum = |of: &[(u32, u64, u64)]| of.iter().map(span_ns).sum::<f64>();
    if children.len() < 2
        || sum(&children) > covered_ns(&children) as f64 * t::OVERLAP_OF_SERIAL_CHILDREN
    {
        return None;
    }
    let pids: Vec<u32> = children.iter().map(|child| child.0).collect();
    let groups = alike(analysis, &pids).into_iter();
    let found = groups.filter(|group| group.len() >= 2).map(|group| {
        let own = children.iter().copied().filter(|c| group.contains(&c.0));
        let children: Vec<_> = own.collect();
        let total = sum(&children);
        let longest = children.iter().map(span_ns).fold(0.0, f64::max);
        let pids: HashSet<u32> = children.iter().map(|child| child.0).collect();
        let repeated = repeated(analysis, &pids).filter(|it| it.times == children.len());
        // In parallel, the children take as long as the longest of them, or as long as the CPUs permit. A
        // repeated command that is run only once takes as long as one run.
        let least = match repeated {
            Some(_) => total / children.len() as f64,
            None => longest.max(total / analysis.observation.cpus.max(1) as f64),
        };
        // Other programs would still take their share of the CPUs.
        let undisturbed = (total.min(waits(waiter)) - least) * analysis.quiet;
        let on_path = analysis.weight(waiter.tid).max(weight(analysis, &children));
        let saving = analysis.untraced(undisturbed * on_path);
        InTurn {
            pid: parent,
            children: children.len(),
            total_ns: total,
            saving_ns: saving,
            repeated,
        }
    });
    largest(found, |it| it.saving_ns)
}

/// Returns the part of the CPU time of these processes and their descendants that is on the critical path.
/// The process that waits for them may have too little CPU time to tell (`xargs` in a pipeline).
fn weight(analysis: &Analysis<'_>, children: &[(u32, u64, u64)]) -> f64 {
    let trees = children.iter().flat_map(|child| analysis.tree(child.0));
    let threads: Vec<&ThreadTimes> = trees.flat_map(|pid| analysis.threads_of(pid)).collect();
    let on_path = threads
        .iter()
        .map(|times| times.on_cpu_ns * analysis.weight(times.tid));
    on_path.sum::<f64>() / threads.cpu_ns().max(1.0)
}

/// Returns when a process became another program, which then took most of the time.
fn became(analysis: &Analysis<'_>, pid: u32) -> Option<u64> {
    let execs = &analysis.process(pid)?.execs;
    let at = execs.last().filter(|_| execs.len() > 1)?.at_ns;
    (at * 2 < analysis.trace.duration_ns).then_some(at)
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    fn children(spans: &[(u64, u64)]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("wait4"), None, Cause::Asleep, 3, 300_000);
        for (pid, (from, to)) in (200..).zip(spans) {
            fake.child(pid, *from, *to, to - from);
        }
        fake
    }

    #[test]
    fn children_in_turn_are_found() {
        assert_eq!(
            children(&[(0, 300), (310, 610), (620, 920)]).ids(),
            ["waiting-for-child"]
        );
    }

    #[test]
    fn the_same_command_again_and_again_needs_to_run_once() {
        let mut fake = children(&[(0, 150), (160, 310), (320, 470), (480, 630)]);
        let statement = |fake: &mut Fake| fake.findings()[0].statement.clone();
        assert!(statement(&mut fake).contains("4 child processes ran one after another"));
        for process in &mut fake.trace.processes[1..] {
            process.execs[0].arguments = vec!["git".to_owned(), "describe".to_owned()];
        }
        assert!(
            statement(&mut fake).contains("ran one after another"),
            "it prints nothing"
        );
        for process in &mut fake.trace.processes[1..] {
            process.first_output_ns = process.ended_ns;
        }
        let words = "`child describe` ran 4 times with the same arguments";
        assert!(
            statement(&mut fake).contains(words),
            "{}",
            statement(&mut fake)
        );
        for pid in 200..204 {
            fake.descriptor_of(pid, 0, "pipe");
        }
        fake.descriptor(0, "/dev/null");
        assert!(
            !statement(&mut fake).contains(words),
            "{}",
            statement(&mut fake)
        );
    }

    #[test]
    fn what_a_shim_asks_before_it_becomes_the_program_is_not() {
        let mut fake = children(&[(0, 150), (160, 310)]);
        let mut program = fake.trace.processes[0].execs[0].clone();
        program.at_ns = 320 * crate::fake::MS;
        fake.trace.processes[0].execs.push(program);
        assert_eq!(fake.ids(), ["startup-dominated"]);
    }

    #[test]
    fn steps_that_are_not_alike_may_need_each_other() {
        let mut fake = children(&[(0, 300), (310, 610)]);
        for (process, step) in fake.trace.processes[1..]
            .iter_mut()
            .zip(["repack", "prune"])
        {
            process.execs[0].arguments = vec!["git".to_owned(), step.to_owned()];
        }
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn another_thread_than_the_first_may_wait() {
        let mut fake = Fake::new(1000);
        fake.language = Some(crate::Language::Go);
        fake.waits(Some("futex"), None, Cause::Asleep, 1, 990_000);
        fake.thread(crate::fake::ROOT, 101, 0, 1000, 1000);
        fake.waits_of(101, Some("waitid"), None, Cause::Asleep, 3, 300_000);
        for (pid, from) in (200..203).zip([0, 310, 620]) {
            fake.child(pid, from, from + 300, 300);
        }
        assert_eq!(fake.ids(), ["waiting-for-child"]);
    }

    #[test]
    fn a_single_child_is_the_command_itself() {
        assert!(children(&[(0, 900)]).ids().is_empty());
    }

    #[test]
    fn children_together_are_not() {
        assert!(children(&[(0, 900), (10, 900), (20, 900)]).ids().is_empty());
    }
}
