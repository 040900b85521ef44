//! Computes the time lost to pauses between checks of whether a child has ended.
//!
//! The pauses last as long as the child does. The time lost is the rest of the pause during which it ended.

use super::tries::actor;
use crate::mechanisms::prelude::*;

/// The number of consecutive pauses that make a polling loop.
const PAUSES: usize = 3;
/// The maximum time that a check between two pauses takes, in ns. If it is longer, it is work, and the next
/// pause belongs to another loop.
const LOOK_NS: u64 = 2_000_000;

/// How a command's pauses are divided, relative to the ends of its children.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Looks {
    /// The fraction of all pause time, 0 to 1, during which the child that had ended by the last pause was
    /// still running.
    pub awaited: f64,
    /// The fraction of all pause time during which that child had already ended.
    pub late: f64,
}

/// Classifies the pauses on the critical path by their positions in the timeline.
pub(super) fn for_children(analysis: &Analysis<'_>) -> Looks {
    let mut pauses: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for wait in analysis.trace.timeline.iter().flatten() {
        let sleeps = wait.call.as_deref().is_some_and(calls::is_sleep);
        if sleeps && wait.cause == Cause::Asleep && analysis.weight(wait.tid) > 0.0 {
            let woken = wait.woken_ns.unwrap_or(wait.to_ns);
            let of_actor = pauses.entry(actor(analysis, wait.pid)).or_default();
            of_actor.push((wait.from_ns, woken));
        }
    }
    if pauses.is_empty() {
        return Looks::default();
    }
    // A script's pauses are child processes too; the script doesn't poll for those.
    let waits = analysis.trace.off_cpu.iter().enumerate();
    let waits = waits.filter(|(at, _)| analysis.wait_of_row(*at).0 == TimeCategory::Sleeping);
    let pausing: HashSet<u32> = waits.map(|(_, row)| row.pid).collect();
    let is_pause = |child: &Process| {
        pausing.contains(&child.pid) && child.parent == Some(actor(analysis, child.pid))
    };
    let (mut all, mut awaited, mut late) = (0, 0, 0);
    for (pid, mut of_actor) in pauses {
        of_actor.sort_unstable();
        all += of_actor.iter().map(|(from, to)| to - from).sum::<u64>();
        let children = analysis.children_of(pid).filter(|child| !is_pause(child));
        let ends = children.filter_map(|child| Some((child.started_ns, child.ended_ns?)));
        let ends: Vec<(u64, u64)> = ends.collect();
        for of_loop in of_actor.chunk_by(|one, next| next.0 <= one.1 + LOOK_NS) {
            let (last, before) = of_loop.split_last().unwrap_or((&(0, 0), &[]));
            let ended_in = |(from, to): &&(u64, u64)| {
                *from <= of_loop[0].0 && (last.0.saturating_sub(LOOK_NS)..=last.1).contains(to)
            };
            if of_loop.len() >= PAUSES
                && let Some((_, ended)) = ends.iter().find(ended_in)
            {
                let cut = (*ended).clamp(last.0, last.1);
                awaited += before.iter().map(|(from, to)| to - from).sum::<u64>() + cut - last.0;
                late += last.1 - cut;
            }
        }
    }
    let part = |ns: u64| ns as f64 / all.max(1) as f64;
    Looks {
        awaited: part(awaited),
        late: part(late),
    }
}

/// Returns whether a process that pauses has a child that ended and for which it never waited. If the pauses
/// have no positions in the timeline, all of them may be for that child's end.
pub(super) fn may_be_for_children(analysis: &Analysis<'_>) -> bool {
    let trace = analysis.trace;
    if trace.timeline.is_some() {
        return false;
    }
    let in_calls = |is: fn(&str) -> bool| -> HashSet<u32> {
        analysis.asleep_in(is).map(|row| row.pid).collect()
    };
    let (pause, wait) = (in_calls(calls::is_sleep), in_calls(calls::is_child_wait));
    pause.difference(&wait).any(|pid| {
        let end = analysis.process(*pid).and_then(|process| process.ended_ns);
        let end = end.unwrap_or(trace.duration_ns);
        let mut children = analysis.children_of(*pid);
        children.any(|child| child.ended_ns.is_some_and(|ended| ended < end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, ROOT};

    /// Adds pauses of 10 ms, one after another, starting at 100 ms.
    fn pause(fake: &mut Fake, times: u64) {
        for turn in 0..times {
            let from = 100 + turn * 10;
            let asleep = (from, from + 10, from + 10);
            fake.wait_for(ROOT, "clock_nanosleep", None, asleep, None);
        }
    }

    /// Returns the result for pauses, the fourth of which ends at 140 ms, and a child that ends at
    /// `child_ends_ms`.
    fn looks(child_ends_ms: u64, more: u64) -> Looks {
        let mut fake = Fake::new(300);
        fake.child(200, 20, child_ends_ms, 100);
        pause(&mut fake, 4 + more);
        let observation = fake.observation(&[]);
        for_children(&Analysis::new(&observation))
    }

    #[test]
    fn pauses_until_a_child_ends_are_its_time_but_for_the_rest_of_the_last() {
        let Looks { awaited, late } = looks(134, 0);
        assert!((awaited - 0.85).abs() < 1e-9 && (late - 0.15).abs() < 1e-9);
    }

    #[test]
    fn pauses_that_go_on_after_it_are_for_something_else() {
        assert_eq!(looks(134, 3), Looks::default());
        assert_eq!(looks(90, 0), Looks::default(), "it ended before");
    }

    #[test]
    fn pauses_between_looks_for_a_child_are_not_a_finding() {
        let reported = |child: bool| {
            let mut fake = Fake::new(190);
            if child {
                fake.child(200, 20, 139, 60);
            }
            pause(&mut fake, 4);
            fake.ids().contains(&"sleeping")
        };
        assert!(reported(false));
        assert!(!reported(true));
    }

    #[test]
    fn without_places_in_time_a_good_part_must_be_pauses() {
        let reported = |asleep_ms: u64, waits: bool| {
            let mut fake = Fake::new(300);
            fake.trace.tier = Some(fathom_trace::Tier::Sample);
            fake.child(200, 20, 139, 100);
            fake.waits(
                Some("clock_nanosleep"),
                None,
                Cause::Asleep,
                asleep_ms,
                1_000,
            );
            if waits {
                fake.waits(Some("wait4"), None, Cause::Asleep, 20, 1_000);
            }
            fake.ids().contains(&"sleeping")
        };
        assert!(!reported(60, false));
        assert!(reported(60, true));
        assert!(reported(200, false));
    }
}
