//! Detects folders that are listed repeatedly.

use super::{ON_READ, ReopenedFile, finding};
use crate::mechanisms::prelude::*;

/// The minimum number of calls that a listing takes; the last of them returns nothing.
const CALLS_OF_A_LISTING: u64 = 2;

/// Reports whether the path is only opened, as folders are.
fn is_untouched(file: &FileRow) -> bool {
    let untouched = file.reads + file.writes == 0;
    untouched && file.name.text().starts_with('/') && !is_of_system(&file.name.text())
}

pub(crate) fn listed(analysis: &Analysis<'_>) -> Option<Claim> {
    let folders = ReopenedFile::most(analysis, is_untouched, |file| file.opens)?;
    let lists = folders.own(calls::lists_folder);
    let listed = analysis.tally(lists);
    let opened = folders.together.opens;
    // Other paths are opened to be mapped, or to check that they exist.
    if listed.calls < CALLS_OF_A_LISTING * opened {
        return None;
    }
    // The program opens other folders as often as it lists them.
    let lists = CallCost::with(&listed, analysis, lists).part(folders.part_of_opens);
    let calls = lists.plus(folders.cost_of_opening(analysis));
    let calls = calls.part(folders.again());
    let who = folders.subject("folders", &folders.together.name.text());
    let statement = format!("{who} listed {} times", count(opened));
    let finding = finding(
        FindingId::Rereading,
        analysis,
        &calls,
        (0.0, ON_READ),
        &statement,
    );
    let finding = finding.evidence("listings", opened, "calls");
    let finding = finding.evidence("folders", folders.different, "files");
    let finding = finding.advice(
        "List each folder once and keep the names, or let the kernel report changes (`inotify`).",
    );
    Some(folders.claimed(finding))
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    #[test]
    fn folders_that_are_listed_again_are_reported_and_files_that_are_mapped_are_not() {
        for (listings, reported) in [(8_000, true), (10, false)] {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 4_000, 0, 5_000);
            fake.calls("getdents64", Some(3), listings, 0, 100_000);
            fake.file("/srv/spool/in", 2_000, 0, 0, 0);
            fake.file("/srv/spool/out", 2_000, 0, 0, 0);
            let findings = fake.findings();
            let found = findings
                .iter()
                .find(|found| found.id == FindingId::Rereading);
            assert_eq!(found.is_some(), reported);
            if let Some(found) = found {
                let words = "2 folders such as `/srv/spool/out` were listed 4,000 times";
                assert!(found.statement.starts_with(words), "{}", found.statement);
            }
        }
    }
}
