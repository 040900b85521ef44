//! How long did the page faults of a trace take, and what did tracing them add?

use fathom_trace::{Thread, Trace};

/// Time on a CPU that faults of a thread's own code took in the traced run, with what they took
/// outside of the kernel's sight; `None` where they are not timed.
///
/// `more` is what each took beside what the tracer's own faults took, ns.
pub(crate) fn traced_ns(trace: &Trace, thread: &Thread, more: f64) -> Option<f64> {
    let outside = trace.fault_overhead?.outside_ns + more;
    let ns = thread.fault_ns? as f64 + thread.timed_faults? as f64 * outside;
    Some(ns.max(0.0))
}

/// CPU time that the tracer added to the faults of a thread.
pub(crate) fn tracer_of_ns(trace: &Trace, thread: &Thread) -> f64 {
    let each = trace.fault_overhead.map_or(0.0, |edges| edges.tracer_ns);
    thread.timed_faults.unwrap_or(0) as f64 * each
}

/// What the faults of a thread took without the tracer's part, by what the tracer's own faults
/// took.
///
/// `tracing` is the part of that, 0 to 1, that came true.
pub(crate) fn untraced_ns(trace: &Trace, thread: &Thread, tracing: f64) -> Option<f64> {
    Some((traced_ns(trace, thread, 0.0)? - tracing * tracer_of_ns(trace, thread)).max(0.0))
}

/// CPU time that the tracer added to all faults.
pub(crate) fn tracer_ns(trace: &Trace) -> f64 {
    let threads = trace.threads.iter();
    threads.map(|thread| tracer_of_ns(trace, thread)).sum()
}
