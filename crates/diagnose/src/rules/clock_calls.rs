//! The time is asked for by real calls.

use fathom_model::{FindingId, Place};
use fathom_trace::SyscallRow;

use crate::analysis::Analysis;
use crate::calls;
use crate::claim::Claim;
use crate::mechanisms::per_item::{CallCost, Items, Worth};
use crate::numbers::count;
use crate::runtimes::Topic;
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let asks = |row: &SyscallRow| calls::is_clock(&row.name);
    let clocks = analysis.tally(asks);
    if clocks.calls < t::MANY_CLOCK_CALLS {
        return None;
    }
    let calls = count(analysis.shown_calls(clocks.calls as f64));
    let items = Items {
        id: FindingId::ClockCalls,
        cost: CallCost::with(&clocks, analysis, asks),
        worth: Worth::InKernel(0.0),
        statement: format!("{calls} calls asked the kernel for the time; they"),
        evidence: vec![
            ("time calls", clocks.calls as f64, "calls"),
            ("cost of a call (modelled)", clocks.each_ns(), "ns"),
        ],
        advice: analysis.runtime(clocks.pid).advice(Topic::ClockCalls),
        place: Place {
            pid: clocks.pid,
            ..Place::default()
        },
        likely: false,
    };
    items.claim(analysis)
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn asking_the_kernel_for_the_time_is_found() {
        let mut fake = Fake::new(1000);
        fake.calls("clock_gettime", None, 500_000, 0, 300);
        assert_eq!(fake.ids(), ["clock-calls"]);
    }
}
