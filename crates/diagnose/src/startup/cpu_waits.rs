//! Finds when a traced program wanted a CPU and had none.

use fathom_trace::{Cause, Interval, Thread, Trace};

/// Disjoint stretches of time, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CpuWaits(Vec<(u64, u64)>);

impl CpuWaits {
    /// Returns how much of this time is between two points in time, in ns.
    pub(super) fn within(&self, from: u64, to: u64) -> u64 {
        let part = |(begin, end): &(u64, u64)| (*end).min(to).saturating_sub((*begin).max(from));
        self.0.iter().map(part).sum()
    }
}

/// The change in the numbers of running and ready threads at one point in time.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    on_cpu: i64,
    ready: i64,
}

/// Returns the stretches in which a thread of the tree was ready to run and none was on a CPU. Other waits
/// aren't included, because while one thread runs, it is unknown how much another's wait costs the start.
/// Returns `None` if the tier keeps no intervals, or lost some.
pub(super) fn of(trace: &Trace) -> Option<CpuWaits> {
    let intervals = trace.timeline.as_ref()?;
    if trace.lost.intervals > 0 || trace.lost.records > 0 {
        return None;
    }
    let mut changes = Vec::new();
    let mut add = |from: u64, to: u64, change: Change| {
        if from < to {
            let back = Change {
                on_cpu: -change.on_cpu,
                ready: -change.ready,
            };
            changes.extend([(from, change), (to, back)]);
        }
    };
    let (on, ready) = (1, 1);
    for thread in &trace.threads {
        let (from, to) = lifetime(thread, trace);
        add(
            from,
            to,
            Change {
                on_cpu: on,
                ready: 0,
            },
        );
    }
    for interval in intervals {
        let Some(thread) = trace.threads.iter().find(|t| t.tid == interval.tid) else {
            continue;
        };
        let (born, dead) = lifetime(thread, trace);
        let inside = |at: u64| at.clamp(born, dead);
        let off = (inside(interval.from_ns), inside(interval.to_ns));
        add(
            off.0,
            off.1,
            Change {
                on_cpu: -on,
                ready: 0,
            },
        );
        if let Some(since) = ready_since(interval) {
            add(inside(since), off.1, Change { on_cpu: 0, ready });
        }
    }
    Some(CpuWaits(waits(changes)))
}

fn lifetime(thread: &Thread, trace: &Trace) -> (u64, u64) {
    let end = thread.ended_ns.unwrap_or(trace.duration_ns);
    (thread.started_ns, end.max(thread.started_ns))
}

/// Returns the time from which a thread that was off its CPU only lacked a CPU.
fn ready_since(interval: &Interval) -> Option<u64> {
    match interval.cause {
        Cause::Preempted | Cause::Ready => Some(interval.from_ns),
        _ => interval.woken_ns,
    }
}

fn waits(mut changes: Vec<(u64, Change)>) -> Vec<(u64, u64)> {
    changes.sort_by_key(|(at, _)| *at);
    let mut now = Change::default();
    let mut waits = Vec::new();
    let mut since = 0;
    for (at, change) in changes {
        if now.on_cpu <= 0 && now.ready > 0 && since < at {
            waits.push((since, at));
        }
        now.on_cpu += change.on_cpu;
        now.ready += change.ready;
        since = at;
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::Losses;

    fn thread(tid: u32, from: u64, to: u64) -> Thread {
        Thread {
            pid: tid,
            tid,
            started_ns: from,
            ended_ns: Some(to),
            ..Thread::default()
        }
    }

    fn off(tid: u32, cause: Cause, from_ns: u64, woken_ns: Option<u64>, to_ns: u64) -> Interval {
        Interval {
            pid: tid,
            tid,
            from_ns,
            woken_ns,
            to_ns,
            cause,
            call: None,
            fd: None,
            woken_by: None,
            object: None,
        }
    }

    fn trace(threads: Vec<Thread>, timeline: Vec<Interval>) -> Trace {
        Trace {
            threads,
            timeline: Some(timeline),
            duration_ns: 1000,
            ..Trace::default()
        }
    }

    #[test]
    fn preempted_and_woken_are_waits_and_sleep_is_none() {
        let timeline = vec![
            off(1, Cause::Preempted, 100, None, 150),
            off(1, Cause::Asleep, 300, Some(400), 420),
            off(1, Cause::Asleep, 600, None, 700),
        ];
        let waits = of(&trace(vec![thread(1, 0, 1000)], timeline)).unwrap();
        assert_eq!(waits, CpuWaits(vec![(100, 150), (400, 420)]));
        assert_eq!(waits.within(0, 1000), 70);
        assert_eq!(waits.within(120, 410), 40);
        assert_eq!(waits.within(500, 900), 0);
    }

    #[test]
    fn a_wait_beside_a_thread_that_works_is_none_and_beside_a_parent_that_waits_is_one() {
        let works = vec![off(2, Cause::Ready, 100, None, 200)];
        let threads = || vec![thread(1, 0, 1000), thread(2, 100, 500)];
        assert_eq!(of(&trace(threads(), works)).unwrap().within(0, 1000), 0);
        let waits = vec![
            off(1, Cause::Asleep, 110, Some(500), 510),
            off(2, Cause::Ready, 100, None, 200),
        ];
        let waits = of(&trace(threads(), waits)).unwrap();
        assert_eq!(waits, CpuWaits(vec![(110, 200), (500, 510)]));
    }

    #[test]
    fn without_all_intervals_nothing_is_known() {
        assert_eq!(of(&Trace::default()), None);
        let lossy = Trace {
            lost: Losses {
                intervals: 1,
                ..Losses::default()
            },
            ..trace(vec![thread(1, 0, 1000)], Vec::new())
        };
        assert_eq!(of(&lossy), None);
    }
}
