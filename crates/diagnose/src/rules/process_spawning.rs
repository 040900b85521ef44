//! Many short processes are made.

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
    if short.len() < t::MANY_PROCESSES {
        return None;
    }
    // Their lives are gone whole; a probe of this machine tells the least that making them costs.
    let lives = view.untraced(covered_ns(&short) as f64);
    let least = short.len() as f64 * view.spawn_ns() * 0.5;
    let win = lives.max(least.min(view.wall_ns)).min(0.97 * view.wall_ns);
    if !matters(view, win) {
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
    fn thirty_are_a_shim() {
        assert!(spawns(30).ids().is_empty());
    }
}
