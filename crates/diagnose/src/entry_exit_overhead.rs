//! What do calls and faults cost beside the time in which the tracer sees them?
//!
//! The tracer sees a call from its last clock reading on the way in to its first one on the way
//! out. The way into the kernel and back is missing, and a part of the tracer's own work is in it.
//! Two measurements say what that comes to for each call, and both scatter:
//!
//! - the tracer tries cheap calls and faults of its own right before the run, on a machine whose
//!   speed moves;
//! - the kernel counts, at each tick of its timer in the timed runs, whether the program was in the
//!   kernel, which says how long all of them took when nobody traced.
//!
//! They are averaged, each by what it is worth: a program of a million cheap calls is measured by
//! the ticks, one of a thousand by the tracer's own calls.

use fathom_model::Run;
use fathom_trace::{SyscallRow, Trace};

use crate::cpu_split::{self, CpuSplit, Uncertainty};
use crate::faults;
use crate::ticks::{self, Ticks};

/// The way in and out of a call. 45 ns with 2.9 million writes of `ppbert` 0.8.3, whose whole CPU
/// time falls by 1.04 s without them.
pub(crate) const ENTRY_EXIT_NS: f64 = 45.0;

/// What ticks charge to the program of each call, where nobody measured it: 49 ns of the calls of a
/// program that knew their time (43 million one-byte reads on the third machine). 23 to 31 on the
/// first two, with a program that took its own clock readings, 5 to 13 ns of each call, for the
/// calls'.
const UNTICKED_CALL: Unticked = Unticked {
    each_ns: 40.0,
    scatter_ns: 10.0,
};
/// Of what was measured.
const LATE_CALL_SCATTER_NS: f64 = 5.0;

/// The same of each first touch of a page: 74 to 105 ns (200 000 in each run, 75 runs) on two
/// machines, 190 on a third.
const UNTICKED_FAULT: Unticked = Unticked {
    each_ns: 85.0,
    scatter_ns: 60.0,
};
/// Of what was measured.
const LATE_FAULT_SCATTER_NS: f64 = 35.0;

/// How far the tracer's own cheap calls are from those of a program, as a standard deviation: 20 to
/// 30 ns, as what it computes between them differs; 60 on a machine whose neighbours come and go.
const OWN_CALLS_SCATTER_NS: f64 = 45.0;

/// The same for faults: of those before the run, and of those before and after it by what was seen
/// of the program's.
const OWN_FAULTS_SCATTER_NS: f64 = 80.0;
const OWN_FAULTS_AGAIN_SCATTER_NS: f64 = 25.0;

/// The same where most calls come through the 32-bit entry, of which the tracer makes none: it took
/// 0.1 to 6 us.
const FOREIGN_CALLS_SCATTER_NS: f64 = 10_000.0;
const MOST_AROUND_FOREIGN_NS: f64 = 20_000.0;

/// What is more than that is something else, such as the memory that the kernel takes back at the
/// end.
const MOST_AROUND_NS: f64 = 400.0;

/// Fewer ticks say nothing of how time is divided.
const ENOUGH_TICKS: f64 = 50.0;

/// CPU time that the calls of a row cost: what is neither asleep nor waiting for a CPU, and what
/// they take beside the timed part. 0 where calls aren't timed.
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
pub(crate) struct EntryExitOverhead {
    /// What a call takes beside its timed part, ns; negative where the tracer's part in that is
    /// longer.
    pub call_ns: f64,
    /// What a fault takes beside what the tracer's own faults took, ns; negative where that was too
    /// much.
    pub fault_ns: f64,
}

/// What ticks charge to the program of each call or fault, and how far that may be off, as a
/// standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unticked {
    each_ns: f64,
    scatter_ns: f64,
}

/// As the tracer's own calls and faults have it, of which the tracer's part in the faults came true
/// by `fault_tracing` (0 to 1), and the ticks of the timed runs: what these say more or less is
/// shared among calls and faults by how uncertain each of the sums is.
///
/// `own_cpu` is the CPU time of the traced run without the tracer's part, ns, and `cpu_factor` what
/// the timed runs' is of it.
pub(crate) fn of(
    trace: &Trace,
    runs: &[Run],
    fault_tracing: f64,
    own_cpu: f64,
    cpu_factor: f64,
) -> EntryExitOverhead {
    let own = EntryExitOverhead {
        call_ns: trace.call_overhead.map_or(ENTRY_EXIT_NS, |e| e.outside_ns),
        fault_ns: 0.0,
    };
    let calls = calls(trace);
    let faults = timed_faults(trace);
    // Without their time, faults would be taken for calls.
    let faults_known =
        trace.fault_overhead.is_some() || trace.accounts.minor_faults as f64 * 50.0 < calls;
    let ticks = Ticks::of_runs(runs);
    if trace.call_overhead.is_none() || ticks.count() < ENOUGH_TICKS || !faults_known {
        return own;
    }
    let share = ticks.system_share();
    let own_cpu_timed = own_cpu * cpu_factor;
    let faults_took = ns_in_faults(trace, fault_tracing);
    let late = trace.fault_overhead.and_then(|edges| edges.tick_skid_share);
    let of_fault = late.map_or(UNTICKED_FAULT, |share| Unticked {
        each_ns: share * faults_took * cpu_factor / faults.max(1.0),
        scatter_ns: LATE_FAULT_SCATTER_NS,
    });
    let own_faults_scatter = match late {
        Some(_) => OWN_FAULTS_AGAIN_SCATTER_NS,
        None => OWN_FAULTS_SCATTER_NS,
    };
    let late = trace.call_overhead.and_then(|edges| edges.tick_skid_ns);
    let of_call = late.map_or(UNTICKED_CALL, |each_ns| Unticked {
        each_ns,
        scatter_ns: LATE_CALL_SCATTER_NS,
    });
    // A tick that comes due on the way back to the program waits until it is there: that way is
    // counted as the program's own.
    let unticked = calls * of_call.each_ns + faults * of_fault.each_ns;
    let in_kernel = ticks::system_of(runs, own_cpu_timed) + unticked;
    let scatter = own_cpu_timed * (share * (1.0 - share) / ticks.count()).sqrt();
    let unticked_scatter = calls * of_call.scatter_ns + faults * of_fault.scatter_ns;
    let in_timed_parts: f64 = timed_rows(trace).map(timed).sum();
    let kernel = in_timed_parts + calls * own.call_ns + faults_took;
    let observed = CpuSplit {
        own: (own_cpu - kernel).max(0.0),
        kernel,
    };
    let parts = cpu_split::parts(observed, uncertainty(trace, fault_tracing), cpu_factor);
    let missing = in_kernel - kernel * cpu_factor * parts.kernel;
    let (call_scatter, most_around) = match trace.calls_by_32_bit_entry() as f64 > calls / 2.0 {
        true => (FOREIGN_CALLS_SCATTER_NS, MOST_AROUND_FOREIGN_NS),
        false => (OWN_CALLS_SCATTER_NS, MOST_AROUND_NS),
    };
    let of_calls = (calls * call_scatter).powi(2);
    let of_faults = (faults * own_faults_scatter).powi(2);
    let part =
        missing / (of_calls + of_faults + scatter.powi(2) + unticked_scatter.powi(2)).max(1.0);
    let within = |ns: f64, most: f64| ns.clamp(-most, most);
    EntryExitOverhead {
        call_ns: within(own.call_ns + part * of_calls / calls, most_around),
        fault_ns: within(part * of_faults / faults.max(1.0), MOST_AROUND_NS),
    }
}

/// What makes the kernel's part of the traced run differ from that of others.
pub(crate) fn uncertainty(trace: &Trace, fault_tracing: f64) -> Uncertainty {
    let threads = trace.threads.iter();
    let waits: u64 = threads.filter_map(|thread| thread.voluntary_switches).sum();
    Uncertainty {
        tracer_ns: fault_tracing * faults::tracer_ns(trace),
        waits: waits as f64,
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
    match trace.fault_overhead {
        Some(_) => trace.threads.iter().map(of).sum::<u64>() as f64,
        None => 0.0,
    }
}

/// What all faults took, by what the tracer's own faults took.
fn ns_in_faults(trace: &Trace, fault_tracing: f64) -> f64 {
    let of = |thread| faults::untraced_ns(trace, thread, fault_tracing);
    trace.threads.iter().filter_map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::CallOverhead;

    const MS: u64 = 1_000_000;

    fn trace(calls: u64, total_ms: u64, outside_ns: f64) -> Trace {
        Trace {
            syscalls: vec![SyscallRow {
                calls,
                total_ns: total_ms * MS,
                ..SyscallRow::default()
            }],
            call_overhead: Some(CallOverhead {
                outside_ns,
                tracer_ns: 500.0,
                tick_skid_ns: None,
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
    fn a_million_cheap_calls_are_measured_by_the_ticks() {
        // 240 ms in the kernel by the ticks, and 40 ms on the ways back; 400 ms as the tracer saw
        // it, and 20 less by its own calls, which are believed by a sixth.
        let mut trace = trace(1_000_000, 400, -20.0);
        let around = |trace: &Trace| of(trace, &runs(5, 460, 240), 1.0, 700e6, 1.0).call_ns;
        let reported = around(&trace);
        assert!((-115.0..-105.0).contains(&reported), "{reported}");
        // Where the ways back were measured to take 30 ns more.
        trace.call_overhead.as_mut().unwrap().tick_skid_ns = Some(70.0);
        let later = around(&trace) - reported;
        assert!((24.0..32.0).contains(&later), "{later}");
    }

    #[test]
    fn faults_are_measured_by_the_ticks_too_where_there_are_many() {
        // 200 000 faults that took 1.9 us each by the tracer's own, and 1.755 by the ticks, of
        // which 85 ns were counted as the program's: of the 145 between them two thirds are
        // believed.
        let mut trace = trace(1_000, 1, -20.0);
        trace.fault_overhead = Some(fathom_trace::FaultOverhead {
            outside_ns: 100.0,
            tracer_ns: 0.0,
            tick_skid_share: None,
        });
        trace.threads = vec![fathom_trace::Thread {
            timed_faults: Some(200_000),
            fault_ns: Some(360 * MS),
            ..fathom_trace::Thread::default()
        }];
        let edges = of(&trace, &runs(15, 266, 334), 1.0, 600e6, 1.0);
        assert!((-105.0..-85.0).contains(&edges.fault_ns), "{edges:?}");
        assert!((-21.0..-19.0).contains(&edges.call_ns), "{edges:?}");
        // Of a run that took longer than the timed ones, by 40 ms in the kernel, that much is no
        // edge.
        trace.threads[0].fault_ns = Some(400 * MS);
        let longer = of(&trace, &runs(15, 266, 334), 1.0, 640e6, 600.0 / 640.0);
        let more = longer.fault_ns - edges.fault_ns;
        assert!((-20.0..20.0).contains(&more), "{longer:?}");
    }

    #[test]
    fn a_foreign_way_into_the_kernel_is_measured_by_the_ticks_alone() {
        // 500 000 calls of which the tracer saw 250 ms, and the kernel charged 3.1 s.
        let mut trace = trace(500_000, 250, -20.0);
        let around = |trace: &Trace| of(trace, &runs(3, 50, 3_100), 1.0, 3_150e6, 1.0).call_ns;
        assert_eq!(around(&trace), MOST_AROUND_NS);
        trace.syscalls[0].number = fathom_trace::calls::ENTRY_32 | 1;
        let reported = around(&trace);
        assert!((5_600.0..5_800.0).contains(&reported), "{reported}");
    }

    #[test]
    fn a_few_calls_are_measured_by_the_tracers_own() {
        let around = of(&trace(1_000, 1, -20.0), &runs(5, 699, 1), 1.0, 700e6, 1.0).call_ns;
        assert!((-20.0..-19.0).contains(&around), "{around}");
    }

    #[test]
    fn short_runs_have_too_few_ticks() {
        let around = of(&trace(10_000, 4, -20.0), &runs(3, 4, 8), 1.0, 12e6, 1.0).call_ns;
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
