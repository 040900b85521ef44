//! Detects frequent queries of the time, with or without calls.

use crate::mechanisms::prelude::*;
use crate::runtimes::is_clock;

/// Finds queries by calls.
pub(crate) fn clock_calls(analysis: &Analysis<'_>) -> Option<Claim> {
    let asks = |row: &SyscallRow| calls::is_clock(&row.name);
    let clocks = analysis.tally(asks);
    let calls = count(analysis.shown_calls(clocks.calls as f64));
    let statement = format!("{calls} calls asked the kernel for the time; they");
    let cost = CallCost::with(&clocks, analysis, asks);
    Some(
        cost.finding(FindingId::ClockCalls, analysis, &statement)
            .evidence("time calls", clocks.calls, "calls")
            .evidence("cost of a call (modelled)", clocks.each_ns(), "ns")
            .advice(analysis.runtime(clocks.pid).advice(&[Topic::ClockCalls]))
            .pid(clocks.pid),
    )
}

/// Finds queries without calls, through the vDSO.
pub(crate) fn clock_reads(analysis: &Analysis<'_>) -> Option<Claim> {
    let cost = analysis.in_functions(is_clock);
    let first = analysis.main_function(is_clock)?;
    let statement = format!(
        "Reading clocks in the program's own code (through the vDSO, without system calls) took {}.",
        analysis.time_and_share(cost),
    );
    Some(
        Claim::new(FindingId::ClockCalls, analysis, cost, statement)
            .evidence("time spent reading clocks", cost, "ns")
            .advice(
                analysis
                    .runtime(Some(first.pid))
                    .advice(&[Topic::ClockReads]),
            )
            .pid(first.pid)
            // The counter is read only after earlier instructions have finished, so the time includes some of
            // the work.
            .likely(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::{Fake, ROOT};

    #[test]
    fn asking_the_kernel_for_the_time_is_found() {
        let mut fake = Fake::new(1000);
        fake.calls("clock_gettime", None, 500_000, 0, 300);
        assert_eq!(fake.ids(), ["clock-calls"]);
    }

    #[test]
    fn reading_the_clock_for_most_of_the_time_is_found() {
        let reported = |reading: u64| {
            let mut fake = Fake::new(1000);
            fake.in_function(ROOT, "[vdso]", "", reading);
            fake.in_function(ROOT, "/bin/program", "work", 1000 - reading);
            fake.ids()
        };
        assert_eq!(reported(400), ["clock-calls"]);
        assert!(reported(60).is_empty());
    }
}
