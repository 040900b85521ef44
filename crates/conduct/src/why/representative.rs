//! Checks whether the observed run was like the timed ones.
//!
//! On a busy machine, one run may have the CPUs to itself while the next one has to wait for them. The
//! account of such a run says little about the others. Therefore the command is observed again, and the run
//! most like the timed ones is explained.

use fathom_model::Run;
use fathom_trace::{Process, Tier, Trace};

/// The maximum number of observed runs.
pub(super) const MOST_RUNS: usize = 3;
/// The duration, in nanoseconds, above which a command is observed only once, because its user is waiting.
const LONGEST_NS: u64 = 4_000_000_000;
/// If a run differs from the timed runs by more than this part of their median, the command is observed
/// again.
const FAR: f64 = 0.1;

/// A summary of the timed runs. All values in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference {
    least: u64,
    median: u64,
    longest: u64,
    /// The longest time that a run's main thread was ready but had no CPU.
    waited: Option<u64>,
    /// The maximum CPU time.
    cpu: u64,
}

impl Reference {
    /// Summarizes the runs; `None` if there are none.
    pub(super) fn of(runs: &[Run]) -> Option<Self> {
        let mut walls: Vec<u64> = runs.iter().map(|run| run.wall_ns).collect();
        walls.sort_unstable();
        Some(Self {
            least: *walls.first()?,
            median: walls[walls.len() / 2],
            longest: *walls.last()?,
            waited: runs.iter().filter_map(|run| run.run_queue_wait_ns).max(),
            cpu: runs.iter().map(|run| run.cpu_ns).max()?,
        })
    }

    /// Returns how far a run is from the timed ones, as a part of their median. This is the sum of four
    /// amounts: how much quicker the run was than the quickest one, how much longer its main thread waited
    /// for a CPU, how much waiting time and CPU time were confused, and how much more CPU time it took than
    /// tracing can explain.
    pub(super) fn distance(&self, trace: &Trace) -> f64 {
        let quicker = self.least.saturating_sub(trace.duration_ns);
        let main = trace.processes.first().map(|process| process.pid);
        let main = trace.threads.iter().find(|thread| Some(thread.tid) == main);
        let waited = main.and_then(|thread| thread.ready_ns).unwrap_or(0);
        let longer = waited.saturating_sub(self.waited.unwrap_or(u64::MAX));
        let slower = trace.accounts.user_ns + trace.accounts.system_ns;
        let slower = slower.saturating_sub(self.cpu + may_have_added_ns(trace));
        (quicker + longer + missed_switches_ns(trace) + slower) as f64 / self.median.max(1) as f64
    }

    /// Reports whether to observe again.
    pub(super) fn is_far_from(&self, trace: &Trace) -> bool {
        self.longest <= LONGEST_NS && !trace.end.cut_short && self.distance(trace) > FAR
    }
}

/// Returns the CPU time, in nanoseconds, that tracing the calls and faults may have added to a run. Tracing
/// takes longer when the program fills the caches than when the tracer has them to itself.
fn may_have_added_ns(trace: &Trace) -> u64 {
    let (Some(calls), Some(faults)) = (trace.call_overhead, trace.fault_overhead) else {
        return u64::MAX / 2;
    };
    let of_calls: u64 = trace.syscalls.iter().map(|row| row.calls).sum();
    let of_faults: u64 = trace.threads.iter().filter_map(|t| t.timed_faults).sum();
    let ns = of_calls as f64 * calls.tracer_ns + of_faults as f64 * faults.tracer_ns;
    (2.0 * ns) as u64
}

/// The maximum number of processes for which the remainder means something: the start and end of a child are
/// not attributed to any thread.
const FEW_PROCESSES: usize = 10;
/// An upper limit, in nanoseconds, on the time of the starts and ends of a few processes. They also take a
/// smaller part of the CPU time than the constant below.
const STARTS_NS: u64 = 10_000_000;
const OF_CPU_TIME: f64 = 0.2;

/// Returns the sum of the time that the tracer counted as on-CPU but that the kernel didn't charge to any
/// process, and of the time that was charged but not traced. One of some hundred thousand context switches is
/// not reported. In one of some hundred runs, this was the main thread's switch into a long wait, and 0.4 of
/// 1.6 s appeared as 'in the kernel'. Processes that outlive the command aren't charged either.
fn missed_switches_ns(trace: &Trace) -> u64 {
    let end = trace.processes.first().and_then(|root| root.ended_ns);
    let outlives = |process: &Process| process.ended_ns.is_none_or(|ended| Some(ended) > end);
    if trace.tier != Some(Tier::Kernel) || trace.processes.iter().any(outlives) {
        return 0;
    }
    let on_cpu: u64 = trace.threads.iter().filter_map(|t| t.on_cpu_ns).sum();
    let charged = trace.accounts.user_ns + trace.accounts.system_ns;
    let not_traced = charged.saturating_sub(on_cpu);
    let is_much = not_traced > STARTS_NS && not_traced as f64 > OF_CPU_TIME * charged as f64;
    match is_much && trace.processes.len() < FEW_PROCESSES {
        true => not_traced,
        false => on_cpu.saturating_sub(charged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::{CallOverhead, FaultOverhead, Thread};

    const MS: u64 = 1_000_000;

    fn trace(wall_ms: u64, ready_ms: u64) -> Trace {
        Trace {
            duration_ns: wall_ms * MS,
            processes: vec![Process {
                pid: 7,
                ..Process::default()
            }],
            threads: vec![Thread {
                pid: 7,
                tid: 7,
                ready_ns: Some(ready_ms * MS),
                ..Thread::default()
            }],
            ..Trace::default()
        }
    }

    const REFERENCE: Reference = Reference {
        least: 90 * MS,
        median: 100 * MS,
        longest: 120 * MS,
        waited: Some(5 * MS),
        cpu: 100 * MS,
    };

    #[test]
    fn a_run_like_the_others_and_one_that_tracing_made_slower_are_not_far() {
        assert_eq!(REFERENCE.distance(&trace(100, 4)), 0.0);
        assert_eq!(REFERENCE.distance(&trace(250, 4)), 0.0);
        assert!(!REFERENCE.is_far_from(&trace(85, 8)));
    }

    #[test]
    fn one_that_was_much_quicker_or_waited_much_longer_is() {
        assert!(REFERENCE.is_far_from(&trace(60, 0)));
        assert!(REFERENCE.is_far_from(&trace(140, 40)));
        // If the waits are unknown, the only thing that counts is whether the run was quicker.
        let waited = None;
        assert!(
            !Reference {
                waited,
                ..REFERENCE
            }
            .is_far_from(&trace(140, 40))
        );
    }

    #[test]
    fn one_whose_waits_were_taken_for_cpu_time_is() {
        let mut observed = trace(100, 4);
        observed.tier = Some(Tier::Kernel);
        observed.processes[0].ended_ns = Some(100 * MS);
        observed.threads[0].on_cpu_ns = Some(90 * MS);
        observed.accounts.user_ns = 85 * MS;
        assert!(!REFERENCE.is_far_from(&observed));
        observed.accounts.user_ns = 60 * MS;
        assert!(REFERENCE.is_far_from(&observed));
        // The switch of a thread back to the CPU was missed.
        observed.accounts.user_ns = 180 * MS;
        assert!(REFERENCE.is_far_from(&observed));
        observed.accounts.user_ns = 60 * MS;
        observed.processes.push(Process {
            pid: 8,
            ended_ns: Some(101 * MS),
            ..Process::default()
        });
        assert!(!REFERENCE.is_far_from(&observed));
    }

    #[test]
    fn one_that_took_more_cpu_time_than_tracing_explains_is() {
        let mut observed = trace(250, 4);
        observed.accounts.system_ns = 200 * MS;
        assert!(
            !REFERENCE.is_far_from(&observed),
            "nobody knows what tracing takes"
        );
        let (outside_ns, tracer_ns) = (0.0, 300.0);
        observed.call_overhead = Some(CallOverhead {
            outside_ns,
            tracer_ns,
            tick_skid_ns: None,
        });
        observed.fault_overhead = Some(FaultOverhead {
            outside_ns,
            tracer_ns,
            tick_skid_share: None,
        });
        assert!(REFERENCE.is_far_from(&observed));
        // 150,000 faults, each of which may have taken 600 ns more.
        observed.threads[0].timed_faults = Some(150_000);
        assert!(!REFERENCE.is_far_from(&observed));
    }

    #[test]
    fn a_long_command_is_observed_once() {
        let longest = 5_000 * MS;
        assert!(
            !Reference {
                longest,
                ..REFERENCE
            }
            .is_far_from(&trace(60, 0))
        );
    }
}
