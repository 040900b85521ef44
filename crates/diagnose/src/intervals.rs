//! Which part of an interval off the CPU was a wait?

use fathom_trace::{Cause, Interval};

/// When a wait was over and only a CPU was missing.
pub(crate) fn woken_ns(interval: &Interval) -> u64 {
    match (interval.cause, interval.woken_ns) {
        (Cause::Preempted | Cause::Ready, _) => interval.from_ns,
        (_, Some(woken)) => woken.clamp(interval.from_ns, interval.to_ns),
        (_, None) => interval.to_ns,
    }
}
