//! Builds an analysis from an observation. The order of the steps is fixed, because each step needs the ones
//! before it.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use fathom_model::{Run, TimeAccount, TimeCategory};
use fathom_trace::{Cause, OffCpuRow, Tier, Trace};

use super::Analysis;
use super::call_extrapolation::CallExtrapolation;
use super::index::Index;
use super::median::median;
use super::oversubscription::{is_oversubscribed, ready_share, runnable_threads};
use super::programs;
use crate::classify::Classifier;
use crate::cpu_split::{self, CpuSplit};
use crate::critical_path::{self, CriticalPath};
use crate::descriptors::Descriptors;
use crate::observation::Observation;
use crate::overhead_correction::{self, Known};
use crate::runtimes::Works;
use crate::thread_account::{self, Estimates};
use crate::thread_times::ThreadTimes;
use crate::{entry_exit_overhead, faults, kernel_outside, ticks};

/// Returns the part of the runs' wall time in which they were ready and waiting for a CPU; 0 if unknown.
fn queued_share(timed: &[Run]) -> f64 {
    let waits = timed.iter().filter_map(|run| run.run_queue_wait_ns);
    let walls = timed.iter().map(|run| run.wall_ns);
    match (median(waits.collect()), median(walls.collect())) {
        (Some(wait), Some(wall)) if wall > 0.0 => (wait / wall).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// Returns the wall time for which the runs were stopped by the CPU limit of their group. The kernel adds up
/// the stopped time of all CPUs, of which there are as many as the command keeps busy.
fn throttled_ns(observation: &Observation, timed: &[Run], threads: &[ThreadTimes]) -> f64 {
    let runs = timed.iter();
    let throttled = median(runs.filter_map(|run| run.throttled_ns).collect());
    let busy = runnable_threads(threads, &observation.trace);
    throttled.unwrap_or(0.0) / busy.clamp(1.0, observation.cpus.max(1) as f64)
}

/// Returns the untraced runs' CPU time divided by the traced run's, at most 1.5. The ticks of short runs and
/// shared caches change this ratio by less than a half.
fn cpu_factor(untraced_ns: f64, traced_ns: f64) -> f64 {
    if untraced_ns <= 0.0 || traced_ns <= 0.0 {
        return 1.0;
    }
    (untraced_ns / traced_ns).min(1.5)
}

/// Returns how the tree's CPU time in the traced run is divided. What the tracer added to calls (which counts
/// as computing) and to faults is excluded.
fn divided(threads: &[ThreadTimes], in_calls_ns: f64, in_faults_ns: f64) -> CpuSplit {
    let of = |fits: fn(TimeCategory) -> bool| {
        threads.iter().map(|times| times.sums.of(fits)).sum::<f64>()
    };
    CpuSplit {
        own: (of(|spent| spent == TimeCategory::UserCode) - in_calls_ns).max(0.0),
        kernel: (of(TimeCategory::is_in_kernel) - in_faults_ns).max(0.0),
    }
}

/// Returns the number of calls, with the calls of each thread weighted by the part of its time that is on the
/// critical path.
fn calls_on_path(trace: &Trace, path: &CriticalPath) -> f64 {
    let rows = trace.syscalls.iter();
    rows.map(|row| row.calls as f64 * path.weight(row.tid))
        .sum()
}

/// Returns the CPU time that the tracer added to the faults on the critical path.
fn tracing_faults_on_path_ns(trace: &Trace, path: &CriticalPath) -> f64 {
    let threads = trace.threads.iter();
    threads
        .map(|thread| path.weight(thread.tid) * faults::tracer_of_ns(trace, thread))
        .sum()
}

/// Returns the part of all threads' CPU time that is on the critical path.
fn part_on_path(traced: &TimeAccount, threads: &[ThreadTimes]) -> f64 {
    let all: f64 = threads.iter().map(|times| times.on_cpu_ns).sum();
    (overhead_correction::on_cpu_ns(traced) / all.max(1.0)).min(1.0)
}

/// Returns the minimum wall time for this CPU time: all of it if it belongs to one thread, and otherwise the
/// time divided among the CPUs.
fn least_wall_ns(threads: &[ThreadTimes], cpu_ns: f64, cpus: usize) -> f64 {
    let all: f64 = threads.iter().map(|times| times.on_cpu_ns).sum();
    let most = threads
        .iter()
        .map(|times| times.on_cpu_ns)
        .fold(0.0, f64::max);
    let alone = most >= 0.9 * all;
    cpu_ns / if alone { 1.0 } else { cpus.max(1) as f64 }
}

/// The CPU time that the tracer itself added to the traced run.
struct TracingCost {
    /// The CPU time added to page faults.
    faults_ns: f64,
    /// The actual cost of tracing a fault as a part of the measured cost, 0 to 1.
    fault_part: f64,
    /// The CPU time added to all calls together.
    calls_ns: f64,
    /// The CPU time added to each call.
    call_ns: f64,
}

impl TracingCost {
    /// Computes the cost. `traced_ns` is the CPU time of the traced run, and `timed_ns` that of the timed
    /// runs, if there are any.
    fn of(trace: &Trace, timed: &[Run], traced_ns: f64, timed_ns: f64) -> Self {
        // The cost of tracing a fault was measured with a few hundred faults before the run; the total can't
        // exceed the additional CPU time of the traced run.
        let estimate = faults::tracer_ns(trace);
        let faults_ns = match timed {
            [] => estimate,
            _ => estimate.min((traced_ns - timed_ns).max(0.0)),
        };
        let calls: u64 = trace.syscalls.iter().map(|row| row.calls).sum();
        // More than 1 µs per call is due to other load on the machine, not to the tracer.
        let call_ns = ((traced_ns - faults_ns - timed_ns) / calls.max(1) as f64).clamp(0.0, 1000.0);
        Self {
            faults_ns,
            fault_part: faults_ns / estimate.max(1.0),
            calls_ns: call_ns * calls as f64,
            call_ns,
        }
    }
}

/// Returns the part of the traced run's waits for a CPU that the tracer caused, 0 to 1.
fn held_back(trace: &Trace) -> f64 {
    let of_cpu = |row: &&OffCpuRow| matches!(row.cause, Cause::Preempted | Cause::Ready);
    let waits = trace.off_cpu.iter().filter(of_cpu);
    let waited: u64 = waits.map(|row| row.total_ns).sum();
    (trace.held_back_ns as f64 / waited.max(1) as f64).min(1.0)
}

/// Returns the part of the traced run in which no other program had the CPU, 0 to 1.
///
/// Threads of the command wait for each other's CPUs as well, so at most the time that others had the CPUs
/// counts. On a busy machine, waits for a CPU stretch everything that takes CPU time. They are counted separately;
/// otherwise, shares would shrink with the load of other programs.
fn quiet_part(
    observation: &Observation,
    timed: &[Run],
    threads: &[ThreadTimes],
    pools: &HashSet<u32>,
    traced: &TimeAccount,
) -> f64 {
    let trace = &observation.trace;
    let root = trace.processes.first();
    let of_pool = root.is_some_and(|root| pools.contains(&root.pid));
    let ready = match of_pool {
        true => traced.share(TimeCategory::Ready).min(ready_share(threads)),
        false => traced.share(TimeCategory::Ready),
    };
    if is_oversubscribed(threads, observation.cpus, trace) {
        1.0
    } else if trace.tier == Some(Tier::Ptrace) {
        // This tier sees no waits, but the timed runs know how long they waited for a CPU.
        1.0 - queued_share(timed).min(0.95)
    } else {
        1.0 - ready.min(others_share(trace)).min(0.95)
    }
}

/// Returns the time for which other programs, or a hypervisor, had the CPUs of the traced run, as a share of
/// its duration; infinite if unknown.
pub(super) fn others_share(trace: &Trace) -> f64 {
    let own = trace.accounts.user_ns + trace.accounts.system_ns;
    let others = trace
        .busy_cpus_ns
        .map(|busy| busy.saturating_sub(own) as f64);
    others.map_or(f64::INFINITY, |ns| ns / trace.duration_ns.max(1) as f64)
}

impl<'a> Analysis<'a> {
    pub(crate) fn new(observation: &'a Observation) -> Self {
        Self::of_runs(observation, &observation.timed)
    }

    /// Builds an analysis, using `timed` instead of the observation's timed runs.
    pub(crate) fn of_runs(observation: &'a Observation, timed: &'a [Run]) -> Self {
        let trace = &observation.trace;
        let descriptors = Descriptors::new(trace);
        let classifier = Classifier::new(trace, &descriptors);
        let of = |value: fn(&Run) -> u64| median(timed.iter().map(value).collect());
        let charged = trace.accounts.user_ns + trace.accounts.system_ns;
        let traced_cpu = charged.saturating_sub(trace.held_back_ns) as f64;
        let cpu_ns = of(|run| run.cpu_ns).unwrap_or(traced_cpu);
        let tracing = TracingCost::of(trace, timed, traced_cpu, cpu_ns);
        let own_cpu = traced_cpu - tracing.faults_ns - tracing.calls_ns;
        let factor = cpu_factor(cpu_ns, own_cpu);
        let entry_exit = entry_exit_overhead::of(trace, timed, tracing.fault_part, own_cpu, factor);
        let estimates = Estimates {
            entry_exit,
            kernel_share: ticks::kernel_share(trace, timed),
        };
        let mut threads = thread_account::times(trace, &classifier, estimates);
        let works = Works::new(trace);
        for times in &mut threads {
            times.of_runtime = works.is_of_runtime(times.tid);
        }
        let measured = trace.call_overhead.map_or(0.0, |it| it.tracer_ns);
        let calls: u64 = trace.syscalls.iter().map(|row| row.calls).sum();
        let tracer_ns = tracing.calls_ns.max(measured * calls as f64) + tracing.faults_ns;
        kernel_outside::set_apart(trace, timed, tracer_ns, &mut threads);
        let pools = programs::pools(observation);
        let path = critical_path::find(trace, &threads, &classifier, &pools);
        let traced = path.sums.clone().into_account(trace.duration_ns);
        let quiet = quiet_part(observation, timed, &threads, &pools, &traced);
        let timed_ns = of(|run| run.wall_ns)
            .unwrap_or(trace.duration_ns as f64)
            .max(1.0);
        // The timed runs may have been disturbed less than the observed one; still, no run can be shorter
        // than its work takes.
        let least_wall = least_wall_ns(&threads, cpu_ns, observation.cpus).min(timed_ns);
        let known = Known {
            wall_ns: timed_ns,
            cpu_factor: factor,
            parts: cpu_split::parts(
                divided(&threads, tracing.calls_ns, tracing.faults_ns),
                entry_exit_overhead::uncertainty(trace, tracing.fault_part),
                factor,
            ),
            tracing_ns: calls_on_path(trace, &path) * tracing.call_ns,
            tracing_faults_ns: tracing.fault_part * tracing_faults_on_path_ns(trace, &path),
            held_back: held_back(trace),
            queued_ns: match trace.threads.len() {
                1 => queued_share(timed) * timed_ns,
                _ => 0.0,
            },
            throttled_ns: throttled_ns(observation, timed, &threads),
            cpu_ns,
            on_path: part_on_path(&traced, &threads),
        };
        let (account, factors) = match trace.tier {
            Some(Tier::Ptrace) => {
                let in_kernel = ticks::Ticks::of_runs(timed).system_share();
                let charged = overhead_correction::charged(known, in_kernel);
                (charged, HashMap::new())
            }
            _ => overhead_correction::account(&traced, known),
        };
        let unanswered = classifier.unanswered();
        let off_spent = trace.off_cpu.iter();
        let off_spent = off_spent.map(|row| classifier.row(row)).collect();
        let lock_waits = classifier.lock_waits;
        let mut analysis = Self {
            observation,
            timed,
            trace,
            works,
            off_spent,
            unanswered,
            index: Index::new(trace, &threads),
            descriptors,
            threads,
            path,
            account,
            factors,
            timed_ns,
            wall_ns: (timed_ns * quiet).max(least_wall),
            quiet,
            cpu_ns,
            traced_ns: trace.duration_ns.max(1) as f64 * quiet,
            overhead_ns: tracing.call_ns,
            entry_exit,
            fault_tracing: tracing.fault_part,
            untraced_io: Default::default(),
            extrapolation: CallExtrapolation::NONE,
            small_calls: OnceLock::new(),
            routes: OnceLock::new(),
            entries: OnceLock::new(),
            library_kinds: OnceLock::new(),
            lock_waits,
        };
        analysis.untraced_io = analysis.count_untraced_io();
        analysis.extrapolation = analysis.extrapolate_calls();
        analysis
    }
}
