//! Mapped files and programs come from the disk, page by page.

use fathom_model::FindingId;

use super::io_latency;
use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::classify;
use crate::finding_builder::{FindingBuilder, is_significant_wait, percent};
use crate::numbers::{count, time};
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let (wait, waits) = analysis.off(|row| {
        let call = row.call.as_deref().unwrap_or_default();
        let from_disk = classify::from_disk(analysis.trace, row.cause, row.call.as_deref());
        from_disk && (call.is_empty() || call.starts_with("execve"))
    });
    let faults = analysis.trace.accounts.major_faults;
    let long = wait >= t::LONG_FETCH_NS
        || wait >= t::LONG_FETCH_NS / 2.0 && analysis.share(wait) >= t::FETCH_RULES;
    let few = faults < t::MANY_MAJOR_FAULTS && !long;
    if faults == 0 || few || !is_significant_wait(analysis, wait) {
        return None;
    }
    let io_latency = io_latency::by_faults(analysis, wait);
    let saving = wait + io_latency;
    let statement = format!(
        "{} page faults waited for the disk, {} in all{}, {} of the wall time.",
        count(faults),
        time(wait),
        io_latency::in_words(io_latency, wait),
        percent(analysis, saving),
    );
    Some(
        FindingBuilder::new(FindingId::ColdFiles, analysis, saving, statement)
            .evidence("major faults", faults as f64, "faults")
            .evidence("CPU time of fetching", io_latency.round(), "ns")
            .evidence_if("waits", waits, "calls")
            .advice("Read the file ahead in order (`madvise(MADV_WILLNEED)`, `posix_fadvise`, or plain reads), or keep it in memory between runs.")
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn faults_that_wait_for_the_disk_are_found() {
        let mut fake = Fake::new(1000);
        fake.trace.accounts.major_faults = 4_000;
        fake.waits(None, None, Cause::Disk, 4_000, 100);
        assert_eq!(fake.ids(), ["cold-files"]);
    }

    #[test]
    fn a_few_faults_that_are_a_third_of_a_short_run_are_reported_and_a_start_is_not() {
        for (wall_ms, waits, reported) in [(200, 35, true), (400, 35, false), (90, 15, false)] {
            let mut fake = Fake::new(wall_ms);
            fake.trace.accounts.major_faults = waits;
            // 2 ms each.
            fake.waits(None, None, Cause::Disk, waits, 2_000);
            assert_eq!(fake.ids().contains(&"cold-files"), reported, "{wall_ms}");
        }
    }
}
