//! What do calls cost beside the time in which the tracer sees them?
//!
//! The tracer sees a call from its last look at the clock on the way in to its first one on the way
//! out. The way into the kernel and back is missing, and a part of the tracer's own work is in it.
//! Two measurements tell what that comes to for each call, and both scatter:
//!
//! - the tracer tries cheap calls of its own right before the run, on a machine whose speed moves;
//! - the kernel counts, at each tick of its timer in the timed runs, whether the program was in the
//!   kernel, which says how long all calls took when nobody looked.
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

/// What ticks charge to the program of each call: 23 to 29 ns of the calls of a program that knew their time
/// (3 times 11 runs of 1.6 million one-byte reads).
const UNTICKED_NS: f64 = 25.0;

/// How far the tracer's own cheap calls are from those of a program, as a standard deviation: 60 ns on a machine
/// whose neighbours come and go.
const OWN_CALLS_SCATTER_NS: f64 = 60.0;

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

/// What a call takes beside its timed part, ns; negative where the tracer's part in that is longer.
pub(crate) fn around_call_ns(trace: &Trace, runs: &[Run]) -> f64 {
    let own = trace.call_edges.map_or(AROUND_CALL_NS, |e| e.outside_ns);
    let Some((by_ticks, scatter)) = by_ticks(trace, runs) else {
        return own;
    };
    let weight = |scatter: f64| 1.0 / (scatter * scatter);
    let (ours, ticks) = (weight(OWN_CALLS_SCATTER_NS), weight(scatter));
    (own * ours + by_ticks * ticks) / (ours + ticks)
}

/// The same by the ticks of the timed runs, with its standard deviation.
fn by_ticks(trace: &Trace, runs: &[Run]) -> Option<(f64, f64)> {
    let rows = || trace.syscalls.iter().filter(|row| row.total_ns > 0);
    let calls = rows().map(|row| row.calls).sum::<u64>().max(1) as f64;
    let ticks = Ticks::of_runs(runs);
    // Without their time, faults would be taken for calls.
    let faults_known =
        trace.fault_edges.is_some() || trace.accounts.minor_faults as f64 * 50.0 < calls;
    if trace.call_edges.is_none() || ticks.count() < ENOUGH_TICKS || !faults_known {
        return None;
    }
    let share = ticks.system_share();
    let cpu = ticks.cpu_ns() / runs.len() as f64;
    let in_faults: f64 = trace
        .threads
        .iter()
        .filter_map(|thread| faults::untraced_ns(trace, thread))
        .sum();
    // A tick that comes due on the way back to the program waits until it is there: that way is counted as the
    // program's own.
    let in_calls = cpu * share - in_faults + calls * UNTICKED_NS;
    let seen: f64 = rows().map(timed).sum();
    let scatter = cpu * (share * (1.0 - share) / ticks.count()).sqrt() / calls;
    let around = ((in_calls - seen) / calls).clamp(-MOST_AROUND_NS, MOST_AROUND_NS);
    Some((around, scatter.max(1.0)))
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
        // 240 ms in the kernel by the ticks, and 25 ms on the ways back; 400 ms as the tracer saw it.
        let around = around_call_ns(&trace(1_000_000, 400, -20.0), &runs(5, 460, 240));
        assert!((-140.0..-125.0).contains(&around), "{around}");
    }

    #[test]
    fn a_few_calls_are_told_by_the_tracers_own() {
        let around = around_call_ns(&trace(1_000, 1, -20.0), &runs(5, 699, 1));
        assert!((-20.0..-19.0).contains(&around), "{around}");
    }

    #[test]
    fn short_runs_have_too_few_ticks() {
        let around = around_call_ns(&trace(10_000, 4, -20.0), &runs(3, 4, 8));
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
