//! Many short processes are made.

use std::collections::{HashMap, HashSet};

use fathom_model::Finding;

use crate::Language;
use crate::draft::{Draft, count, matters, percent, time};
use crate::path::covered_ns;
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let end = view.trace.duration_ns;
    let short: Vec<(u32, u64, u64)> = view
        .trace
        .processes
        .iter()
        .skip(1)
        .filter(|p| view.cpu_of(p.pid) < t::SHORT_CHILD_CPU_NS)
        .map(|p| (p.pid, p.started_ns, p.ended_ns.unwrap_or(end)))
        .filter(|c| ((c.2 - c.1) as f64) < 20.0 * t::SHORT_CHILD_CPU_NS)
        .collect();
    let many = short.len() >= t::MANY_PROCESSES;
    if !many && most_of_one_program(view, &short) < t::MANY_OF_ONE_PROGRAM {
        return None;
    }
    // Their lives are gone whole; a probe of this machine tells the least that making them costs.
    let lives = view.untraced(covered_ns(&short) as f64);
    let least = short.len() as f64 * view.spawn_ns() * 0.5;
    let win = lives.max(least.min(view.wall_ns)).min(0.97 * view.wall_ns);
    if !matters(view, win) || !many && view.share(win) < t::LOOP_SHARE {
        return None;
    }
    let maker = view.process(short[0].0).and_then(|p| p.parent);
    let statement = format!(
        "{} short processes were made, {} apiece; they take {}, {} of the wall time.",
        count(short.len() as u64),
        time(win / short.len() as f64),
        time(win),
        percent(view, win),
    );
    let advice = match view.language(maker) {
        Some(Language::Shell) => {
            "Use what the shell has built in (`$((...))`, `${x#...}`, `case`), or hand the whole list to one `awk`, `sed` or `xargs`."
        }
        Some(Language::Python) => {
            "Call a function of the library instead of a program for each item, or give one program all items."
        }
        Some(Language::C) => "Call the library function instead of `system`/`popen`.",
        _ => {
            "Call a library instead of a program for each item, or give one program many items at once."
        }
    };
    Some(
        Draft::new("process-spawning", view, win, statement)
            .evidence("short processes", short.len() as f64, "processes")
            .evidence("wall time each", win / short.len() as f64, "ns")
            .advice(advice)
            .limit(view.subject.limits.spawn_seconds.map(|s| {
                format!(
                    "making and awaiting the empty program takes {} here",
                    time(s * 1e9)
                )
            }))
            .pid(maker)
            .finish(),
    )
}

/// How many of these processes one parent made to run one program, where that is the most. Those that
/// have children of their own do not count: a compiler's driver is short, and its work is not.
fn most_of_one_program(view: &View<'_>, short: &[(u32, u64, u64)]) -> usize {
    let processes = &view.trace.processes;
    let parents: HashSet<u32> = processes.iter().filter_map(|p| p.parent).collect();
    let short: HashSet<u32> = short.iter().map(|child| child.0).collect();
    let leaves = processes
        .iter()
        .filter(|p| short.contains(&p.pid) && !parents.contains(&p.pid));
    let mut made: HashMap<(Option<u32>, &str), usize> = HashMap::new();
    for process in leaves {
        // A copy of a shell runs no program: it is not what a loop is about.
        if let Some(exec) = process.execs.last() {
            *made.entry((process.parent, &exec.path)).or_default() += 1;
        }
    }
    made.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    fn spawns(children: u32) -> Fake {
        let mut fake = Fake::new(1000);
        let each = 900 / u64::from(children);
        fake.waits(
            Some("wait4"),
            None,
            Cause::Asleep,
            u64::from(children),
            each * 1000,
        );
        for i in 0..children {
            let from = u64::from(i) * each;
            fake.child(200 + i, from, from + each, 1);
        }
        fake
    }

    #[test]
    fn hundreds_of_short_processes_are_told() {
        assert_eq!(spawns(300).ids(), ["process-spawning"]);
    }

    #[test]
    fn fifty_of_one_program_are_a_loop() {
        assert_eq!(spawns(50).ids(), ["process-spawning"]);
    }

    #[test]
    fn thirty_of_several_programs_are_a_shim() {
        let mut fake = spawns(30);
        for (i, process) in fake.trace.processes.iter_mut().enumerate() {
            process.execs[0].path = format!("/bin/{}", i % 4);
        }
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn a_loop_that_takes_little_of_the_time_is_not_told() {
        let mut fake = Fake::new(1000);
        for i in 0..50 {
            fake.child(200 + i, u64::from(i) * 2, u64::from(i) * 2 + 2, 1);
        }
        assert!(!fake.ids().contains(&"process-spawning".to_owned()));
    }
}
