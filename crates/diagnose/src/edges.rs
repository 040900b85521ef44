//! What do calls and faults cost beside the time in which the tracer sees them?
//!
//! The tracer sees a call from its last look at the clock on the way in to its first one on the way
//! out. The way into the kernel and back is missing, and a part of the tracer's own work is in it.
//! Two measurements tell what that comes to for each call, and both scatter:
//!
//! - the tracer tries cheap calls and faults of its own right before the run, on a machine whose speed moves;
//! - the kernel counts, at each tick of its timer in the timed runs, whether the program was in the
//!   kernel, which says how long all of them took when nobody looked.
//!
//! They are averaged, each by what it is worth: a program of a million cheap calls is told by the
//! ticks, one of a thousand by the tracer's own calls.

use fathom_model::Run;
use fathom_trace::{SyscallRow, Trace};

use crate::faults;
use crate::ticks::Ticks;

/// The way in and out of a call. 45 ns with 2.9 million writes of `ppbert` 0.8.3, whose whole CPU
/// time falls by 1.04 s without them.
pub(crate) const AROUND_CALL_NS: f64 = 45.0;

/// What ticks charge to the program of each call: 23 to 31 ns of the calls of a program that knew their time
/// (1.6 million one-byte reads in each run, 33 runs on one machine, 45 on another).
const UNTICKED_CALL_NS: f64 = 27.0;

/// The same of each first touch of a page: 74 to 105 ns (200 000 in each run, 75 runs), and as much before on
/// another machine.
const UNTICKED_FAULT_NS: f64 = 85.0;

/// How far the tracer's own cheap calls are from those of a program, as a standard deviation: 60 ns on a machine
/// whose neighbours come and go.
const OWN_CALLS_SCATTER_NS: f64 = 60.0;

/// The same for faults: those of a program of 200 000 were told to take 110 ns too long on one machine and 190 on
/// another.
const OWN_FAULTS_SCATTER_NS: f64 = 150.0;

/// What is more than that is something else, such as the memory that the kernel takes back at the end.
const MOST_AROUND_NS: f64 = 400.0;

/// Fewer ticks say nothing of how time is divided.
const ENOUGH_TICKS: f64 = 50.0;

/// CPU time that the calls of a row cost: what is neither asleep nor waiting for a CPU, and what they
/// take beside the timed part. 0 where calls aren't timed.
pub(crate) fn cpu_in_calls(row: &SyscallRow, around_ns: f64) -> f64 {
    match row.total_ns {
        0 => 0.0,
        _ => (timed(row) + row.calls as f64 * around_ns).max(0.0),
    }
}

fn timed(row: &SyscallRow) -> f64 {
    let waits = row.blocked_ns.unwrap_or(0) + row.ready_ns.unwrap_or(0);
    row.total_ns.saturating_sub(waits) as f64
}

/// What calls and faults take beside what the trace says of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edges {
    /// What a call takes beside its timed part, ns; negative where the tracer's part in that is longer.
    pub call_ns: f64,
    /// What a fault takes beside what the tracer's own told of it, ns; negative where that was too much.
    pub fault_ns: f64,
}

/// As the tracer's own calls and faults have it, of which the tracer's part in the faults came true by
/// `fault_tracing` (0 to 1), and the ticks of the timed runs: what these say more or less is
/// shared among calls and faults by how uncertain each of the sums is.
///
/// `own_cpu` is the CPU time of the traced run without the tracer's part, ns: a run in which faults took longer than in
/// the timed ones is divided as they are, and not held against their length.
pub(crate) fn of(trace: &Trace, runs: &[Run], fault_tracing: f64, own_cpu: f64) -> Edges {
    let own = Edges {
        call_ns: trace.call_edges.map_or(AROUND_CALL_NS, |e| e.outside_ns),
        fault_ns: 0.0,
    };
    let calls = calls(trace);
    let faults = timed_faults(trace);
    // Without their time, faults would be taken for calls.
    let faults_known =
        trace.fault_edges.is_some() || trace.accounts.minor_faults as f64 * 50.0 < calls;
    let ticks = Ticks::of_runs(runs);
    if trace.call_edges.is_none() || ticks.count() < ENOUGH_TICKS || !faults_known {
        return own;
    }
    let share = ticks.system_share();
    // A tick that comes due on the way back to the program waits until it is there: that way is counted as the
    // program's own.
    let in_kernel = own_cpu * share + calls * UNTICKED_CALL_NS + faults * UNTICKED_FAULT_NS;
    let scatter = own_cpu * (share * (1.0 - share) / ticks.count()).sqrt();
    let scatter = scatter.max(calls);
    let seen: f64 = timed_rows(trace).map(timed).sum();
    let missing = in_kernel - seen - calls * own.call_ns - ns_in_faults(trace, fault_tracing);
    let of_calls = (calls * OWN_CALLS_SCATTER_NS).powi(2);
    let of_faults = (faults * OWN_FAULTS_SCATTER_NS).powi(2);
    let part = missing / (of_calls + of_faults + scatter * scatter).max(1.0);
    let each = |ns: f64| ns.clamp(-MOST_AROUND_NS, MOST_AROUND_NS);
    Edges {
        call_ns: each(own.call_ns + part * of_calls / calls),
        fault_ns: each(part * of_faults / faults.max(1.0)),
    }
}

fn timed_rows(trace: &Trace) -> impl Iterator<Item = &SyscallRow> {
    trace.syscalls.iter().filter(|row| row.total_ns > 0)
}

fn calls(trace: &Trace) -> f64 {
    let calls: u64 = timed_rows(trace).map(|row| row.calls).sum();
    calls.max(1) as f64
}

fn timed_faults(trace: &Trace) -> f64 {
    let of = |thread: &fathom_trace::Thread| thread.timed_faults.unwrap_or(0);
    match trace.fault_edges {
        Some(_) => trace.threads.iter().map(of).sum::<u64>() as f64,
        None => 0.0,
    }
}

/// What all faults took, by what the tracer's own told of them.
fn ns_in_faults(trace: &Trace, fault_tracing: f64) -> f64 {
    let of = |thread| faults::untraced_ns(trace, thread, fault_tracing);
    trace.threads.iter().filter_map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::CallEdges;

    const MS: u64 = 1_000_000;

    fn trace(calls: u64, total_ms: u64, outside_ns: f64) -> Trace {
        Trace {
            syscalls: vec![SyscallRow {
                calls,
                total_ns: total_ms * MS,
                ..SyscallRow::default()
            }],
            call_edges: Some(CallEdges {
                outside_ns,
                tracer_ns: 500.0,
            }),
            ..Trace::default()
        }
    }

    fn runs(count: usize, user_ms: u64, system_ms: u64) -> Vec<Run> {
        let both = (user_ms + system_ms) * MS;
        let mut run = crate::fake::run(both, both);
        (run.user_ns, run.system_ns) = (user_ms * MS, system_ms * MS);
        vec![run; count]
    }

    #[test]
    fn a_million_cheap_calls_are_told_by_the_ticks() {
        // 240 ms in the kernel by the ticks, and 27 ms on the ways back; 400 ms as the tracer saw it.
        let around = of(
            &trace(1_000_000, 400, -20.0),
            &runs(5, 460, 240),
            1.0,
            700e6,
        )
        .call_ns;
        assert!((-140.0..-125.0).contains(&around), "{around}");
    }

    #[test]
    fn faults_are_told_by_the_ticks_too_where_there_are_many() {
        // 200 000 faults that took 1.9 us each by the tracer's own, and 1.755 by the ticks, of which 85 ns
        // were counted as the program's.
        let mut trace = trace(1_000, 1, -20.0);
        trace.fault_edges = Some(fathom_trace::FaultEdges {
            outside_ns: 100.0,
            tracer_ns: 0.0,
        });
        trace.threads = vec![fathom_trace::Thread {
            timed_faults: Some(200_000),
            fault_ns: Some(360 * MS),
            ..fathom_trace::Thread::default()
        }];
        let edges = of(&trace, &runs(15, 266, 334), 1.0, 600e6);
        assert!((-150.0..-135.0).contains(&edges.fault_ns), "{edges:?}");
        assert!((-21.0..-19.0).contains(&edges.call_ns), "{edges:?}");
        // The same trace in a run that took a tenth more than the timed ones: it is divided as they are, so that the
        // kernel has 33 ms more, 167 ns of each fault, of which nearly all is believed.
        let longer = of(&trace, &runs(15, 266, 334), 1.0, 660e6);
        let more = longer.fault_ns - edges.fault_ns;
        assert!((150.0..170.0).contains(&more), "{longer:?}");
    }

    #[test]
    fn a_few_calls_are_told_by_the_tracers_own() {
        let around = of(&trace(1_000, 1, -20.0), &runs(5, 699, 1), 1.0, 700e6).call_ns;
        assert!((-20.0..-19.0).contains(&around), "{around}");
    }

    #[test]
    fn short_runs_have_too_few_ticks() {
        let around = of(&trace(10_000, 4, -20.0), &runs(3, 4, 8), 1.0, 12e6).call_ns;
        assert_eq!(around, -20.0);
    }

    #[test]
    fn what_calls_cost_is_never_less_than_nothing() {
        let row = trace(10, 1, 0.0).syscalls.remove(0);
        assert_eq!(cpu_in_calls(&row, 50.0), 1_000_500.0);
        assert_eq!(cpu_in_calls(&row, -200_000.0), 0.0);
        assert_eq!(cpu_in_calls(&SyscallRow::default(), 45.0), 0.0);
    }
}
