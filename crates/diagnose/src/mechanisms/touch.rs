//! Much memory is touched for the first time.

use fathom_model::{FindingId, TimeCategory};

use crate::analysis::Analysis;
use crate::claim::{Claim, Least};
use crate::numbers::count;
use crate::runtimes::Topic;
use crate::thresholds as t;

pub(crate) fn faults(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = analysis.fault_cost();
    // Timed ones are a part of the account: 88 % were found where it had 79.
    let most = match all.measured {
        true => analysis.spent_ns(TimeCategory::PageFaults),
        false => analysis.spent_on(&[
            TimeCategory::PageFaults,
            TimeCategory::KernelMemory,
            TimeCategory::UserCode,
            TimeCategory::Kernel,
        ]),
    };
    let cost = analysis.within_kernel(all.ns).min(most);
    let faults = all.count;
    let many = faults.max(analysis.trace.accounts.minor_faults) >= t::MANY_FAULTS;
    let least = match many {
        true => t::FAULT_SHARE,
        false if all.measured && faults >= t::FAULTS_THAT_RULE => t::FAULTS_RULE,
        false => return None,
    };
    // A page that is read first and written later faults twice: faults are no measure of memory.
    let statement = format!(
        "{} page faults, at first touches of memory, cost {}{}.",
        count(faults),
        if all.measured { "" } else { "about " },
        analysis.time_and_share(cost),
    );
    let each = match all.measured {
        true => "cost of a fault",
        false => "cost of a fault (modelled)",
    };
    let limits = &analysis.observation.limits;
    Some(
        Claim::new(FindingId::PageFaultHeavy, analysis, cost, statement)
            .evidence("minor faults", faults as f64, "faults")
            .evidence(each, all.each_ns, "ns")
            .advice(analysis.runtime(None).advice(Topic::Memory))
            .takes_here("a first touch", limits.page_fault_seconds)
            .likely()
            .least(Least::share(least)),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    fn touches(pages: u64) -> Fake {
        let mut fake = Fake::new(200);
        fake.trace.threads[0].minor_faults = Some(pages);
        fake
    }

    #[test]
    fn much_memory_touched_once_is_found() {
        assert_eq!(touches(250_000).ids(), ["page-fault-heavy"]);
    }

    #[test]
    fn a_start_is_not() {
        assert!(touches(3_000).ids().is_empty());
    }
}
