//! Estimates what page faults cost an untraced run.
//!
//! The cost is measured if the trace times the faults; otherwise it is modelled as their number times the
//! cost of one.

use fathom_trace::Thread;

use super::Analysis;
use crate::entry_exit_overhead::cpu_in_calls;
use crate::faults::{traced_ns, tracer_of_ns};
use crate::thresholds as t;

/// The cost of page faults in an untraced run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FaultCost {
    /// Their time on the critical path, in nanoseconds.
    pub ns: f64,
    /// The number of faults on the critical path.
    pub count: u64,
    /// The number of all faults.
    pub all: u64,
    /// The cost of one fault.
    pub each_ns: f64,
    /// Whether the cost was measured rather than modelled.
    pub measured: bool,
}

impl Analysis<'_> {
    /// Returns the cost of the minor faults on the critical path.
    pub(crate) fn fault_cost(&self) -> FaultCost {
        measured(self).unwrap_or_else(|| modelled(self))
    }
}

fn measured(analysis: &Analysis<'_>) -> Option<FaultCost> {
    let trace = analysis.trace;
    trace.fault_overhead?;
    let (mut ns, mut count, mut all) = (0.0, 0.0, 0);
    for thread in &trace.threads {
        let took = traced_ns(trace, thread, analysis.entry_exit.fault_ns);
        let (Some(took), Some(faults)) = (took, thread.timed_faults) else {
            continue;
        };
        let weight = analysis.weight(thread.tid);
        let tracer = analysis.fault_tracing * tracer_of_ns(trace, thread);
        ns += weight * (took - tracer).max(0.0);
        count += weight * faults as f64;
        all += faults;
    }
    Some(FaultCost {
        ns,
        count: count as u64,
        all,
        each_ns: ns / f64::max(count, 1.0),
        measured: true,
    })
}

fn modelled(analysis: &Analysis<'_>) -> FaultCost {
    let trace = analysis.trace;
    let on_path = |t: &Thread| t.minor_faults.unwrap_or(0) as f64 * analysis.weight(t.tid);
    let known = trace.threads.iter().any(|t| t.minor_faults.is_some());
    let count: f64 = match known {
        true => trace.threads.iter().map(on_path).sum(),
        false => trace.accounts.minor_faults as f64,
    };
    let each_ns = modelled_each_ns(analysis);
    FaultCost {
        ns: count * each_ns,
        count: count as u64,
        all: trace.accounts.minor_faults.max(count as u64),
        each_ns,
        measured: false,
    }
}

/// Returns the cost of a minor fault. It is taken from a probe, or else from the kernel's tick-based time
/// outside of calls if there are enough ticks, or else it is that of an ordinary fault.
fn modelled_each_ns(analysis: &Analysis<'_>) -> f64 {
    let (trace, accounts) = (analysis.trace, &analysis.trace.accounts);
    let outside = match analysis.by_stops() {
        // If the number of calls is unknown, the ticks are attributed to calls.
        true => analysis.outside_of_calls_ns().unwrap_or(0.0),
        false => {
            let in_call = |row| cpu_in_calls(row, analysis.entry_exit.call_ns);
            let in_calls: f64 = trace.syscalls.iter().map(in_call).sum();
            let added = analysis.traced_calls(|_| true) as f64 * analysis.overhead_ns;
            accounts.system_ns as f64 - in_calls - added
        }
    };
    let enough = accounts.minor_faults >= t::FAULTS_TO_DIVIDE_BY && outside >= t::ENOUGH_TICKS_NS;
    let by_ticks = outside / accounts.minor_faults.max(1) as f64;
    // Faults of large pages take 100 µs and more. The program's own ticks show that; a probe of small pages
    // doesn't.
    match enough {
        true => by_ticks.clamp(100.0, t::MOST_OF_A_FAULT_NS),
        false => analysis.first_touch_ns(),
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::TimeCategory;
    use fathom_trace::FaultOverhead;

    use super::*;
    use crate::fake::Fake;

    /// Returns a run of 200 ms, in which 100 000 faults took 90 ms according to the kernel.
    fn timed() -> Fake {
        let mut fake = Fake::new(200);
        let thread = &mut fake.trace.threads[0];
        thread.minor_faults = Some(100_000);
        thread.timed_faults = Some(100_000);
        thread.fault_ns = Some(90_000_000);
        fake.trace.fault_overhead = Some(FaultOverhead {
            outside_ns: 300.0,
            tracer_ns: 200.0,
            tick_skid_share: None,
        });
        fake
    }

    #[test]
    fn measured_time_is_a_part_of_the_account_without_the_tracers() {
        let fake = timed();
        let account = crate::diagnose(&fake.observation(&[])).account;
        assert_eq!(account.ns(TimeCategory::PageFaults), 100_000_000);
        assert_eq!(account.wall_ns, 200_000_000);
    }

    #[test]
    fn an_untraced_run_does_not_pay_the_tracer() {
        let fake = timed();
        let observation = fake.observation(&[]);
        let cost = Analysis::new(&observation).fault_cost();
        assert!(cost.measured);
        assert_eq!(cost.count, 100_000);
        assert!((cost.ns - 100e6).abs() < 1.0, "{cost:?}");
        assert!((cost.each_ns - 1000.0).abs() < 1e-6, "{cost:?}");
    }

    #[test]
    fn tracing_faults_cost_no_more_than_the_traced_run_took_beyond_the_others() {
        let mut fake = timed();
        fake.trace.accounts.user_ns = 200_000_000;
        let timed = [crate::fake::run(200_000_000, 195_000_000)];
        let observation = fake.observation(&timed);
        // 20 ms were estimated, but at most 5 ms are possible.
        let cost = Analysis::new(&observation).fault_cost();
        assert!((cost.ns - 115e6).abs() < 1.0, "{cost:?}");
    }

    #[test]
    fn without_times_the_cost_is_modelled() {
        let mut fake = timed();
        fake.trace.fault_overhead = None;
        let observation = fake.observation(&[]);
        let cost = Analysis::new(&observation).fault_cost();
        assert!(!cost.measured);
        assert_eq!(
            crate::diagnose(&observation)
                .account
                .ns(TimeCategory::PageFaults),
            0
        );
    }

    #[test]
    fn faults_take_no_more_than_the_thread_ran() {
        let mut fake = timed();
        fake.trace.threads[0].fault_ns = Some(900_000_000);
        let account = crate::diagnose(&fake.observation(&[])).account;
        assert!(account.ns(TimeCategory::PageFaults) <= 200_000_000);
        assert_eq!(account.ns(TimeCategory::UserCode), 0);
    }
}
