//! Much memory is touched for the first time.

use fathom_model::{FindingId, TimeCategory};

use super::process_spawning::faults_are_of_copies;
use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::finding_builder::{FindingBuilder, percent};
use crate::findings::within_account;
use crate::numbers::{count, time};
use crate::runtimes::Topic;
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = analysis.fault_cost();
    // Timed ones are a part of the account: 88 % were found where it had 79.
    let most = match all.measured {
        true => analysis.spent_ns(TimeCategory::PageFaults),
        false => 0.97 * analysis.cpu_ns,
    };
    let cost = analysis.within_kernel(all.ns).min(most);
    let cost = within_account(analysis, FindingId::PageFaultHeavy, cost);
    let faults = all.count;
    let many = faults.max(analysis.trace.accounts.minor_faults) >= t::MANY_FAULTS;
    let rule =
        all.measured && faults >= t::FAULTS_THAT_RULE && analysis.share(cost) >= t::FAULTS_RULE;
    if !(many || rule)
        || analysis.share(cost) < t::FAULT_SHARE
        || !all.measured && faults_are_of_copies(analysis)
    {
        return None;
    }
    // A page that is read first and written later faults twice: faults are no measure of memory.
    let statement = format!(
        "{} page faults, at first touches of memory, cost {}{}, {} of the wall time.",
        count(faults),
        if all.measured { "" } else { "about " },
        time(cost),
        percent(analysis, cost),
    );
    let each = match all.measured {
        true => "cost of a fault",
        false => "cost of a fault (modelled)",
    };
    Some(
        FindingBuilder::new(FindingId::PageFaultHeavy, analysis, cost, statement)
            .evidence("minor faults", faults as f64, "faults")
            .evidence(each, all.each_ns, "ns")
            .advice(analysis.runtime(None).advice(Topic::Memory))
            .limit(
                analysis
                    .observation
                    .limits
                    .page_fault_seconds
                    .map(|s| format!("a first touch takes {} here", time(s * 1e9))),
            )
            .likely()
            .finish(),
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
