//! The time is asked for by real calls.

use fathom_model::FindingId;
use fathom_trace::SyscallRow;

use super::call_cost::CallCost;
use super::small_io::Small;
use crate::analysis::Analysis;
use crate::calls;
use crate::finding_builder::is_significant;
use crate::findings::Claim;
use crate::numbers::count;
use crate::runtimes::Topic;
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let asks = |row: &SyscallRow| calls::is_clock(&row.name);
    let clocks = analysis.tally(asks);
    if clocks.calls < t::MANY_CLOCK_CALLS || !is_significant(analysis, clocks.cost_ns) {
        return None;
    }
    let cost = CallCost::with(&clocks, analysis, asks);
    let statement = format!(
        "{} calls asked the kernel for the time; they {}",
        count(analysis.shown_calls(clocks.calls as f64)),
        cost.in_words(analysis),
    );
    Some(
        cost.finding(FindingId::ClockCalls, analysis, statement)
            .evidence("time calls", clocks.calls as f64, "calls")
            .evidence("cost of a call (modelled)", clocks.each_ns(), "ns")
            .advice(analysis.runtime(clocks.pid).advice(Topic::ClockCalls))
            .limit(Small::limit(analysis))
            .pid(clocks.pid)
            .finish(),
    )
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
