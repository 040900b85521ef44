//! Computes how long the page faults of a trace took, and what tracing them added.

use fathom_trace::{Thread, Trace};

/// Returns the on-CPU time of faults in a thread's own code in the traced run, including the part that the
/// tracer doesn't see; `None` if they aren't timed.
///
/// `more` is the additional cost of each fault, compared with the tracer's own faults, in ns.
pub(crate) fn traced_ns(trace: &Trace, thread: &Thread, more: f64) -> Option<f64> {
    let outside = trace.fault_overhead?.outside_ns + more;
    let ns = thread.fault_ns? as f64 + thread.timed_faults? as f64 * outside;
    Some(ns.max(0.0))
}

/// Returns the CPU time that the tracer added to the faults of a thread.
pub(crate) fn tracer_of_ns(trace: &Trace, thread: &Thread) -> f64 {
    let each = trace.fault_overhead.map_or(0.0, |edges| edges.tracer_ns);
    thread.timed_faults.unwrap_or(0) as f64 * each
}

/// Returns the time of a thread's faults without the tracer's part, which is based on the tracer's own
/// faults.
///
/// `tracing` is the part of the tracer's measured cost, 0 to 1, that actually occurred.
pub(crate) fn untraced_ns(trace: &Trace, thread: &Thread, tracing: f64) -> Option<f64> {
    Some((traced_ns(trace, thread, 0.0)? - tracing * tracer_of_ns(trace, thread)).max(0.0))
}

/// Returns the CPU time that the tracer added to all faults.
pub(crate) fn tracer_ns(trace: &Trace) -> f64 {
    let threads = trace.threads.iter();
    threads.map(|thread| tracer_of_ns(trace, thread)).sum()
}
