//! Detects commands that need more CPUs than there are.

use fathom_model::TimeCategory;
use fathom_trace::Trace;

use super::Analysis;
use super::build::others_share;
use crate::overhead_correction;
use crate::thread_times::ThreadTimes;
use crate::thresholds as t;

/// Reports whether the command itself has more busy threads than there are CPUs.
pub(super) fn is_oversubscribed(threads: &[ThreadTimes], cpus: usize, trace: &Trace) -> bool {
    runnable_threads(threads, trace) > t::OVERSUBSCRIBED_PER_CPU * cpus.max(1) as f64
}

/// Returns the average number of threads that want a CPU.
pub(crate) fn runnable_threads(threads: &[ThreadTimes], trace: &Trace) -> f64 {
    let busy = threads.iter().filter(|times| is_runnable(times, trace));
    busy.map(ThreadTimes::ns).sum::<f64>() / trace.duration_ns.max(1) as f64
}

/// Reports whether a thread wanted a CPU for half of its life, and lived long enough to count. If other
/// programs used the CPUs, a thread that is often woken for a moment doesn't count: its waits for a CPU are
/// their doing.
pub(crate) fn is_runnable(times: &ThreadTimes, trace: &Trace) -> bool {
    let wants = times.on_cpu_ns + times.sums.get(TimeCategory::Ready);
    let each_ns = times.on_cpu_ns / times.sleeps.unwrap_or(0).max(1) as f64;
    let is_for_long = each_ns >= t::LEAST_AT_A_TIME_NS
        || times.on_cpu_ns >= 0.5 * (times.ns() - times.sums.get(TimeCategory::Ready));
    let others = others_share(trace);
    let is_shared = others.is_finite() && others >= t::NEIGHBOURS_SHARE;
    let is_long = times.ns() >= 0.2 * trace.duration_ns as f64;
    wants >= 0.5 * times.ns() && is_long && (is_for_long || !is_shared)
}

/// Returns the part of the threads' lives in which they were ready, weighted by CPU time. If a runtime moves
/// work between its threads, their waits for a CPU add up to more than what other programs took.
pub(super) fn ready_share(threads: &[ThreadTimes]) -> f64 {
    let cpu_ns: f64 = threads.iter().map(|times| times.on_cpu_ns).sum();
    let part = |times: &ThreadTimes| {
        times.on_cpu_ns * times.sums.get(TimeCategory::Ready) / times.ns().max(1.0)
    };
    threads.iter().map(part).sum::<f64>() / cpu_ns.max(1.0)
}

impl Analysis<'_> {
    /// See [`is_oversubscribed`].
    pub(crate) fn is_oversubscribed(&self) -> bool {
        is_oversubscribed(&self.threads, self.observation.cpus, self.trace)
    }

    /// Reports whether the untraced runs had all CPUs nearly all the time.
    pub(crate) fn had_all_cpus(&self) -> bool {
        self.cpu_ns >= t::BUSY_THREAD * self.timed_ns * self.observation.cpus.max(1) as f64
    }

    /// Scales a cost on the critical path if more threads of the command are busy than there are CPUs: while
    /// the path waits for a CPU, the other threads use as much time.
    pub(crate) fn when_oversubscribed(&self, on_path_ns: f64) -> f64 {
        if !self.is_oversubscribed() {
            return on_path_ns;
        }
        let of_each_cpu = self.cpu_ns / self.observation.cpus.max(1) as f64;
        on_path_ns * (of_each_cpu / overhead_correction::on_cpu_ns(&self.account).max(1.0)).max(1.0)
    }
}
