//! Threads or processes wake each other more than they work.

use std::collections::{HashMap, HashSet};

use fathom_model::Finding;
use fathom_trace::{Cause, OffCpuRow, Trace};

use crate::classify;
use crate::descriptors::Kind;
use crate::draft::{Draft, count, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    // Samples of one long wait are no wake-ups.
    if !view.counts_waits() {
        return None;
    }
    let by_each_other = ended_by_own_threads(view.trace);
    let of_partner = |row: &OffCpuRow| {
        let call = row.call.as_deref().unwrap_or_default();
        let moves = classify::is_read(call) || classify::is_write(call);
        let inner = |fd| {
            let kind = view.descriptors.waited_for(row.pid, fd);
            let standard = fd <= 2 && view.descriptors.is_of_command(row.pid, fd);
            matches!(kind, Kind::Pipe | Kind::Events | Kind::Socket) && !standard
        };
        let polls = classify::is_poll(call) && by_each_other.contains(&row.tid);
        row.cause == Cause::Asleep
            && (classify::is_lock(call) || polls || moves && row.fd.is_some_and(inner))
    };
    let mut threads: std::collections::BTreeMap<u32, (u64, f64)> = Default::default();
    for row in view.trace.off_cpu.iter().filter(|row| of_partner(row)) {
        let sums = threads.entry(row.tid).or_default();
        sums.0 += row.count;
        sums.1 += row.total_ns as f64;
    }
    // Partners: at least two that wait often; the waits of the one are the turns of the other.
    threads.retain(|_, (waits, _)| *waits >= t::MANY_WAKEUPS / 4);
    let waits: u64 = threads.values().map(|(n, _)| n).sum();
    let busy: f64 = view
        .lives
        .iter()
        .filter(|l| threads.contains_key(&l.tid))
        .map(|l| l.on_cpu_ns)
        .sum();
    let per_wait = busy / waits.max(1) as f64;
    if threads.len() < 2 || waits < t::MANY_WAKEUPS || per_wait > t::STORM_CPU_PER_WAIT_NS {
        return None;
    }
    // What a hand-over costs: the part of the wall time that no one of them computes.
    let idle = threads.values().map(|(_, ns)| *ns).sum::<f64>() / threads.len() as f64;
    let cost = view.untraced(idle.min(view.trace.duration_ns as f64));
    if !wait_matters(view, cost) {
        return None;
    }
    let statement = format!(
        "{} threads waited for each other {} times, {} apart; the hand-overs take about {}, {} of the wall time.",
        threads.len(),
        count(waits),
        time(per_wait),
        time(cost),
        percent(view, cost),
    );
    Some(
        Draft::new("wakeup-storm", view, cost, statement)
            .evidence("waits", waits as f64, "calls")
            .evidence("CPU time for each wait", per_wait, "ns")
            .evidence("threads", threads.len() as f64, "threads")
            .advice("Hand over more at a time: batches through the queue or pipe, or do both steps in one thread.")
            .likely()
            .finish(),
    )
}

/// Threads whose polls mostly ended because another thread of their process did something: messages between
/// event loops, not a server's requests.
fn ended_by_own_threads(trace: &Trace) -> HashSet<u32> {
    let pids: HashMap<u32, u32> = trace.threads.iter().map(|t| (t.tid, t.pid)).collect();
    let mut ends: HashMap<u32, (u64, u64)> = HashMap::new();
    for interval in trace.timeline.iter().flatten() {
        let polls = interval.call.as_deref().is_some_and(classify::is_poll);
        if interval.cause == Cause::Asleep && polls {
            let by = interval.woken_by.filter(|by| *by != interval.tid);
            let own = by.and_then(|by| pids.get(&by)) == Some(&interval.pid);
            let sums = ends.entry(interval.tid).or_default();
            sums.0 += u64::from(own);
            sums.1 += 1;
        }
    }
    let mostly = ends
        .into_iter()
        .filter(|(_, (own, all))| own * 5 >= all * 4);
    mostly.map(|(tid, _)| tid).collect()
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT};

    fn pair(waits: u64, us: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "pipe");
        fake.descriptor(4, "pipe");
        fake.waits(Some("read"), Some(3), Cause::Asleep, waits, us);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        fake.waits_of(101, Some("read"), Some(4), Cause::Asleep, waits, us);
        fake
    }

    #[test]
    fn ping_pong_is_told() {
        assert_eq!(pair(30_000, 20).ids(), ["wakeup-storm"]);
    }

    /// Two threads with event loops that wait 5000 times each, woken by `wakers`.
    fn loops(wakers: [Option<u32>; 2]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        for (tid, waker) in [ROOT, 101].into_iter().zip(wakers) {
            fake.waits_of(tid, Some("epoll_wait"), Some(3), Cause::Asleep, 5_000, 170);
            fake.wait_for(tid, "epoll_wait", Some(3), (10, 11, 11), waker);
        }
        fake
    }

    #[test]
    fn event_loops_that_wake_each_other_are_told_and_a_servers_are_not() {
        let storm = "wakeup-storm".to_owned();
        assert_eq!(loops([Some(101), Some(ROOT)]).ids(), ["wakeup-storm"]);
        assert!(!loops([None, Some(7)]).ids().contains(&storm));
    }

    #[test]
    fn samples_are_no_wake_ups() {
        let mut fake = pair(30_000, 20);
        fake.trace.tier = Some(fathom_trace::Tier::Sample);
        assert!(!fake.ids().contains(&"wakeup-storm".to_owned()));
    }

    #[test]
    fn a_few_hand_overs_of_much_work_are_not() {
        assert!(!pair(100, 3_000).ids().contains(&"wakeup-storm".to_owned()));
    }
}
