//! The same folders are listed again and again.

use std::collections::BTreeMap;

use fathom_model::{Finding, Place};
use fathom_trace::{FileRow, SyscallRow};

use super::call_cost::CallCost;
use super::made_up_files::is_of_system;
use super::reread_cost::{Cost, part_of};
use super::rereading::{is_around_reads, is_open};
use crate::classify;
use crate::draft::{count, matters};
use crate::thresholds as t;
use crate::view::View;

/// Calls that a listing takes at least: the last of them brings nothing.
const CALLS_OF_A_LISTING: u64 = 2;

/// What one process opens again and again and neither reads nor writes.
fn opened_again<'a>(view: &View<'a>) -> Option<(u32, Vec<&'a FileRow>)> {
    let mut by_process: BTreeMap<u32, Vec<&'a FileRow>> = BTreeMap::new();
    for file in &view.trace.files {
        let untouched = file.reads + file.writes == 0;
        if file.opens >= t::MANY_OPENS_OF_ONE_FILE
            && untouched
            && file.name.starts_with('/')
            && !is_of_system(&file.name)
        {
            by_process.entry(file.pid).or_default().push(file);
        }
    }
    by_process.into_iter().max_by_key(|(_, files)| opens(files))
}

pub(super) fn opens(files: &[&FileRow]) -> u64 {
    files.iter().map(|file| file.opens).sum()
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let (pid, folders) = opened_again(view)?;
    let own = |is: fn(&str) -> bool| move |row: &SyscallRow| row.pid == pid && is(&row.name);
    let lists = own(classify::lists_folder);
    let listed = view.tally(lists);
    let stretch = view.stretch(own(is_open));
    let opened = (opens(&folders) as f64 * stretch).round() as u64;
    // Others are opened to be mapped, or to see whether they are there.
    if listed.calls < CALLS_OF_A_LISTING * opened {
        return None;
    }
    let again = 1.0 - folders.len() as f64 / opened.max(1) as f64;
    let around = CallCost::of(view, own(is_around_reads));
    let of_opens = part_of(opened, view.tally(own(is_open)).calls);
    let calls = CallCost::with(&listed, view, lists).plus(around);
    let cost = Cost {
        // A program opens other folders as often as it lists them.
        calls: calls.part(of_opens * again),
        work_ns: 0.0,
    };
    if !matters(view, cost.ns(view)) {
        return None;
    }
    let most = folders.iter().max_by_key(|folder| folder.opens)?;
    let who = match folders.len() {
        1 => format!("The folder `{}` was", most.name),
        n => format!("{} folders such as `{}` were", count(n as u64), most.name),
    };
    let statement = format!("{who} listed {} times; {}", count(opened), cost.told(view));
    Some(
        cost.draft(view, statement)
            .evidence("listings", opened as f64, "calls")
            .evidence("folders", folders.len() as f64, "files")
            .advice("List each folder once and keep the names, or ask the kernel to tell what changes in it (`inotify`).")
            .place(Place {
                pid: Some(pid),
                tid: None,
                fd: None,
                path: Some(most.name.clone()),
            })
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn folders_that_are_listed_again_are_told_and_files_that_are_mapped_are_not() {
        for (listings, told) in [(8_000, true), (10, false)] {
            let mut fake = Fake::new(1000);
            fake.calls("openat", None, 4_000, 0, 5_000);
            fake.calls("getdents64", Some(3), listings, 0, 100_000);
            fake.file("/srv/spool/in", 2_000, 0, 0, 0);
            fake.file("/srv/spool/out", 2_000, 0, 0, 0);
            let findings = fake.findings();
            let found = findings.iter().find(|found| found.id == "rereading");
            assert_eq!(found.is_some(), told);
            if let Some(found) = found {
                let words = "2 folders such as `/srv/spool/out` were listed 4,000 times";
                assert!(found.statement.starts_with(words), "{}", found.statement);
            }
        }
    }
}
