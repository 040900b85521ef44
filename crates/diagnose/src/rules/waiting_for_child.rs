//! Child processes that could run side by side run one after another.

use fathom_model::{Finding, Spent};

use crate::draft::{Draft, percent, time, wait_matters};
use crate::path::covered_ns;
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let end = view.trace.duration_ns;
    let found = view.lives.iter().filter_map(|life| {
        let wait = life.sums.get(Spent::WaitingForChild) + life.sums.get(Spent::WaitingForPipe);
        let children: Vec<(u32, u64, u64)> = view
            .trace
            .processes
            .iter()
            .filter(|p| p.parent == Some(life.pid) && life.pid == life.tid)
            // What a shim or wrapper asks before it becomes the program is needed for that.
            .filter(|p| became(view, life.pid).is_none_or(|at| p.started_ns >= at))
            .map(|p| (p.pid, p.started_ns, p.ended_ns.unwrap_or(end)))
            // Short ones are process-spawning's.
            .filter(|c| {
                (c.2 - c.1) as f64 > t::SHORT_CHILD_CPU_NS
                    && view.tree_cpu(c.0) > t::SHORT_CHILD_CPU_NS
            })
            .collect();
        let total: f64 = children.iter().map(|c| (c.2 - c.1) as f64).sum();
        let covered = covered_ns(&children) as f64;
        let longest = children.iter().map(|c| c.2 - c.1).max()? as f64;
        let in_turn = children.len() >= 2 && total <= covered * t::OVERLAP_OF_SERIAL_CHILDREN;
        // Side by side they take as long as the longest, or as the CPUs allow.
        let least = longest.max(total / view.subject.cpus.max(1) as f64);
        // What other programs took of the CPUs would be theirs then as well.
        let undisturbed = (total.min(wait) - least) * view.quiet;
        let win = view.untraced(undisturbed * view.weight(life.tid));
        (in_turn && wait_matters(view, win)).then_some((life, children.len(), total, win))
    });
    let (life, children, total, win) = found.max_by(|a, b| a.3.total_cmp(&b.3))?;
    let statement = format!(
        "{children} child processes ran one after another for {}; side by side on {} CPUs they would take {} less, {} of the wall time.",
        time(view.untraced(total)),
        view.subject.cpus,
        time(win),
        percent(view, win),
    );
    Some(
        Draft::new("waiting-for-child", view, win, statement)
            .evidence("children in turn", children as f64, "processes")
            .evidence("their lives", view.untraced(total), "ns")
            .advice("Start the children that don't need each other together and wait for all of them, or do their work in one pass.")
            .pid(Some(life.pid))
            .likely()
            .finish(),
    )
}

/// When a process became another program, which then took most of the time.
fn became(view: &View<'_>, pid: u32) -> Option<u64> {
    let execs = &view.process(pid)?.execs;
    let at = execs.last().filter(|_| execs.len() > 1)?.at_ns;
    (at * 2 < view.trace.duration_ns).then_some(at)
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
    fn children_in_turn_are_told() {
        assert_eq!(
            children(&[(0, 300), (310, 610), (620, 920)]).ids(),
            ["waiting-for-child"]
        );
    }

    #[test]
    fn what_a_shim_asks_before_it_becomes_the_program_is_not() {
        let mut fake = children(&[(0, 150), (160, 310)]);
        let mut program = fake.trace.processes[0].execs[0].clone();
        program.at_ns = 320 * crate::fake::MS;
        fake.trace.processes[0].execs.push(program);
        assert!(fake.ids().is_empty());
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
