//! Files that the kernel generates on each read are read repeatedly.

use super::ReopenedFile;
use crate::mechanisms::prelude::*;

pub(crate) fn made_up(analysis: &Analysis<'_>) -> Option<Claim> {
    let is_read = |file: &FileRow| is_made_up(&file.name.text()) && file.read_bytes > 0;
    let files = ReopenedFile::most(analysis, is_read, |file| file.opens)?;
    let FileRow { opens, reads, .. } = files.together;
    let is_read = files.own(calls::is_read);
    let all_reads = analysis.tally(is_read);
    let cost = CallCost::with(&all_reads, analysis, is_read)
        .part(part_of(reads, all_reads.calls))
        .plus(files.cost_of_opening(analysis));
    let statement = format!(
        "{} opened and read {} times, and the kernel generates its content each time; that",
        files.subject("files", &files.together.name.text()),
        count(opens),
    );
    let claim = cost.finding(FindingId::KernelBound, analysis, &statement);
    let claim = claim.weighing(cost.ns(analysis));
    let claim = claim.likely();
    let claim = claim.evidence("opens", opens, "calls");
    let claim = claim.evidence("reads", reads, "calls");
    let advice =
        "Read it less often, or keep the file open and read it from its beginning (`pread`).";
    Some(files.claimed(claim.advice(advice)))
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, hold_words};

    #[test]
    fn what_the_kernel_makes_up_again_and_again_is_found() {
        let reported = |name: &str, opens: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, opens, 0, 2_000);
            fake.calls("openat", None, opens, 0, 2_000);
            fake.calls("read", Some(3), 2 * opens, 30, 1_000);
            fake.calls("close", None, opens, 0, 500);
            fake.descriptor(3, name);
            fake.file(name, opens, 2 * opens, 30 * opens, 0);
            let found = fake.findings();
            let first = found.into_iter().next();
            first.filter(|found| found.statement.contains("generates its content"))
        };
        let found = reported("/proc/self/statm", 80_000).expect("a finding");
        assert_eq!(found.id, FindingId::KernelBound);
        hold_words("made_up", &found);
        let begins = "`/proc/self/statm` was opened and read 80,000 times";
        assert!(found.statement.starts_with(begins), "{}", found.statement);
        assert!(
            reported("/proc/self/statm", 20_000).is_none(),
            "8 % of the time"
        );
        assert!(reported("/srv/statm", 80_000).is_none());
    }
}
