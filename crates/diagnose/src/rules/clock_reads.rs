//! The time is read so often that reading it weighs, though no call is made for it.

use fathom_model::FindingId;

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::finding_builder::{FindingBuilder, is_significant, percent};
use crate::numbers::time;
use crate::runtimes::{Topic, is_clock};
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let cost = analysis.in_functions(is_clock);
    if !is_significant(analysis, cost) || analysis.share(cost) < t::CLOCK_READS_SHARE {
        return None;
    }
    let first = analysis.main_function(is_clock)?;
    let statement = format!(
        "The program's own code read clocks (without calls, by the vDSO) for {}, {} of the wall time.",
        time(cost),
        percent(analysis, cost),
    );
    Some(
        FindingBuilder::new(FindingId::ClockCalls, analysis, cost, statement)
            .evidence("time in reading clocks", cost, "ns")
            .advice(analysis.runtime(Some(first.pid)).advice(Topic::ClockReads))
            .pid(Some(first.pid))
            // The counter is read when what was begun before has ended: some of the work is in it.
            .likely()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::{Fake, ROOT};

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
