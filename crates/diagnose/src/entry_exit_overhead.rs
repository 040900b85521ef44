//! Estimates what calls and faults cost outside of the time that the tracer sees.
//!
//! For a call, the tracer sees the time from its last clock reading on entry to its first one on exit. The
//! entry into the kernel and the exit are missing, and a part of the tracer's own work is included. Two
//! measurements give the resulting error per call, and both are noisy:
//!
//! - the tracer makes cheap calls and faults itself right before the run, on a machine whose speed varies;
//! - at each timer tick of the timed runs, the kernel counts whether the program was in the kernel, which
//!   gives the total time of all calls without tracing.
//!
//! The two are averaged, weighted by their precision. For a program with a million cheap calls, the ticks
//! dominate; for one with a thousand, the tracer's own calls do.

use fathom_model::Run;
use fathom_trace::{SyscallRow, Trace};

use crate::cpu_split::{self, CpuSplit, Uncertainty};
use crate::faults;
use crate::ticks::{self, Ticks};

/// The cost of entering and leaving the kernel for a call, in nanoseconds. It is 45 ns for `ppbert` 0.8.3
/// with 2.9 million writes, whose total CPU time drops by 1.04 s without them.
pub(crate) const ENTRY_EXIT_NS: f64 = 45.0;

/// The part of each call that ticks charge to the program, if it wasn't measured. It was 49 ns for a program
/// that timed its own calls (43 million one-byte reads on the third machine). On the first two machines, it
/// was 23 to 31 ns with a program that attributed its own clock readings, which are 5 to 13 ns of each call,
/// to the calls.
const UNTICKED_CALL: Unticked = Unticked {
    each_ns: 40.0,
    scatter_ns: 10.0,
};
/// The standard deviation of that part, if it was measured.
const LATE_CALL_SCATTER_NS: f64 = 5.0;

/// The same for the first access to a page: 74 to 105 ns (200 000 accesses in each of 75 runs) on two
/// machines, and 190 ns on a third.
const UNTICKED_FAULT: Unticked = Unticked {
    each_ns: 85.0,
    scatter_ns: 60.0,
};
/// The standard deviation of that part, if it was measured.
const LATE_FAULT_SCATTER_NS: f64 = 35.0;

/// The standard deviation between the cost of the tracer's own cheap calls and that of a program's calls. It
/// is 20 to 30 ns, depending on what the program computes between them, and 60 ns on a machine with varying
/// load from others.
const OWN_CALLS_SCATTER_NS: f64 = 45.0;

/// The same for faults. It applies both to faults made before the run, and to those made before and after it
/// and adjusted to the program's faults.
const OWN_FAULTS_SCATTER_NS: f64 = 80.0;
const OWN_FAULTS_AGAIN_SCATTER_NS: f64 = 25.0;

/// The same if most calls use the 32-bit entry, which the tracer's own calls don't use; that entry took 0.1
/// to 6 µs.
const FOREIGN_CALLS_SCATTER_NS: f64 = 10_000.0;
const MOST_AROUND_FOREIGN_NS: f64 = 20_000.0;

/// The maximum cost; a larger value is due to something else, such as the kernel reclaiming memory at the
/// end.
const MOST_AROUND_NS: f64 = 400.0;

/// The minimum number of ticks; with fewer, the breakdown of time is unknown.
const ENOUGH_TICKS: f64 = 50.0;

/// Returns the CPU time of a row's calls: the time in which they neither sleep nor wait for a CPU, plus the
/// part outside of the timed interval. Returns 0 if calls aren't timed.
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

/// The cost of calls and faults in addition to what the trace shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EntryExitOverhead {
    /// The cost of a call outside of its timed interval, in ns; negative if the tracer's part within the
    /// interval is longer.
    pub call_ns: f64,
    /// The cost of a fault in addition to that of the tracer's own faults, in ns; negative if the latter took
    /// longer.
    pub fault_ns: f64,
}

/// The part of each call or fault that ticks charge to the program, with its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unticked {
    each_ns: f64,
    scatter_ns: f64,
}

/// Combines the costs of the tracer's own calls and faults with the ticks of the timed runs. The difference
/// is distributed between calls and faults by the uncertainty of each sum.
///
/// `fault_tracing` (0 to 1) is the part of the faults' tracing cost that actually occurred. `own_cpu` is the
/// CPU time of the traced run without the tracer's part, in ns, and `cpu_factor` is the ratio of the timed
/// runs' CPU time to it.
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
    // If the time of faults is unknown, it would be attributed to calls.
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
    // A tick that comes due on the way back to the program is delivered there, so that part counts as the
    // program's own.
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

/// Returns the reasons why the kernel's part of the traced run may differ from that of others.
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

/// Returns the time of all faults, based on the tracer's own faults.
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
        // The ticks show 240 ms in the kernel, plus 40 ms on the way back. The tracer shows 400 ms, from
        // which its own calls subtract 20; this estimate gets a weight of one sixth.
        let mut trace = trace(1_000_000, 400, -20.0);
        let around = |trace: &Trace| of(trace, &runs(5, 460, 240), 1.0, 700e6, 1.0).call_ns;
        let reported = around(&trace);
        assert!((-115.0..-105.0).contains(&reported), "{reported}");
        // Here, the way back was measured to take 30 ns more.
        trace.call_overhead.as_mut().unwrap().tick_skid_ns = Some(70.0);
        let later = around(&trace) - reported;
        assert!((24.0..32.0).contains(&later), "{later}");
    }

    #[test]
    fn faults_are_measured_by_the_ticks_too_where_there_are_many() {
        // 200 000 faults take 1.9 µs each according to the tracer's own faults, and 1.755 µs according to the
        // ticks, which charged 85 ns of each to the program. Two thirds of the difference of 145 ns are
        // accepted.
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
        // If the kernel time of a run was 40 ms longer than that of the timed runs, those 40 ms aren't
        // overhead.
        trace.threads[0].fault_ns = Some(400 * MS);
        let longer = of(&trace, &runs(15, 266, 334), 1.0, 640e6, 600.0 / 640.0);
        let more = longer.fault_ns - edges.fault_ns;
        assert!((-20.0..20.0).contains(&more), "{longer:?}");
    }

    #[test]
    fn a_foreign_way_into_the_kernel_is_measured_by_the_ticks_alone() {
        // There are 500 000 calls, of which the tracer saw 250 ms, while the kernel charged 3.1 s.
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
