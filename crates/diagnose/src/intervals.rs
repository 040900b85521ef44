//! The off-CPU intervals of each thread, and the part of each interval that was a wait.

use std::collections::HashMap;

use fathom_trace::{Cause, Interval, Trace};

/// Returns the nonempty intervals of each thread in order; empty if the trace doesn't have them in order.
pub(crate) fn by_thread(trace: &Trace) -> HashMap<u32, Vec<&Interval>> {
    let mut of: HashMap<u32, Vec<&Interval>> = HashMap::new();
    let all = trace.timeline.iter().flatten();
    for interval in all.filter(|interval| interval.from_ns < interval.to_ns) {
        of.entry(interval.tid).or_default().push(interval);
    }
    for list in of.values_mut() {
        list.sort_by_key(|interval| interval.from_ns);
    }
    of
}

/// Returns how many of these spans, each with its begin and its end, include the same moment, at most.
pub(crate) fn most_at_once(spans: Vec<(u64, u64)>) -> usize {
    let open_at = |at: u64| {
        let open = spans
            .iter()
            .filter(|(from, to)| (*from..=*to).contains(&at));
        open.count()
    };
    let begins = spans.iter().map(|(from, _)| open_at(*from));
    begins.max().unwrap_or(0)
}

/// Returns the time at which a wait was over and only a CPU was missing.
pub(crate) fn woken_ns(interval: &Interval) -> u64 {
    match (interval.cause, interval.woken_ns) {
        (Cause::Preempted | Cause::Ready, _) => interval.from_ns,
        (_, Some(woken)) => woken.clamp(interval.from_ns, interval.to_ns),
        (_, None) => interval.to_ns,
    }
}
