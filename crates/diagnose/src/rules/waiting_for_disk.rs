//! Calls wait for the storage device.

use std::collections::BTreeSet;

use fathom_model::{Finding, Spent};
use fathom_trace::OffCpuRow;

use super::{fetching, sync_writes};
use crate::classify;
use crate::draft::{Draft, count, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

/// Calls that wait until what a file held before is on the disk, or gone: of a file that is made anew.
const REPLACING: &[&str] = &[
    "open",
    "openat",
    "openat2",
    "creat",
    "close",
    "truncate",
    "ftruncate",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
];

/// Calls that copy from file to file in the kernel.
const COPYING: &[&str] = &["copy_file_range", "sendfile", "splice"];

/// Whether a process writes files as copies and archives are written: half of what it reads or more, and
/// each file once. That it then waits in [`REPLACING`] is since the run before made the same files a moment ago:
/// `cp -r` of 1,500 files over themselves waited for 53 % of its time, to a new place not at all.
fn makes_files_once(view: &View<'_>, pid: u32) -> bool {
    let beyond_standard = |fd: Option<i32>| fd.is_some_and(|fd| fd > 2);
    let moved = |is: fn(&str) -> bool| {
        let rows = view.rows_of_process(pid);
        let rows = rows.filter(|row| beyond_standard(row.fd));
        rows.filter(|row| is(&row.name))
            .map(|row| row.bytes)
            .sum::<u64>()
    };
    let copied = moved(|name| COPYING.contains(&name));
    let (read, written) = (
        moved(classify::is_read) + copied,
        moved(classify::is_write) + copied,
    );
    let mut files = view.files_of(pid);
    let again = files
        .any(|file| file.opens >= t::MANY_OPENS_TO_REPLACE && file.name.text().starts_with('/'));
    written > 0 && written * 2 >= read && !again
}

/// Calls that change what is in a folder.
const REMOVING: &[&str] = &[
    "unlink",
    "unlinkat",
    "rmdir",
    "rename",
    "renameat",
    "renameat2",
];

/// As much as a program and its libraries read of files at their start.
const READ_AT_START: u64 = 64 << 10;

/// Calls that wait for the file system's own data, its folders and its journal.
fn is_on_names(call: &str) -> bool {
    REPLACING.contains(&call) || REMOVING.contains(&call) || ["mkdir", "mkdirat"].contains(&call)
}

/// Whether a process removes files and does nothing else to them, as `rm -r`: there is no other way to do it.
fn only_removes(view: &View<'_>, pid: u32) -> bool {
    let rows = || view.rows_of_process(pid);
    let removed: u64 = rows()
        .filter(|row| REMOVING.contains(&row.name.as_str()))
        .map(|row| row.calls)
        .sum();
    let moved: u64 = rows()
        .filter(|row| row.fd.is_some_and(|fd| fd > 2))
        .filter(|row| classify::is_read(&row.name) || classify::is_write(&row.name))
        .map(|row| row.bytes)
        .sum();
    removed >= t::LEAST_DISK_WAITS && moved <= READ_AT_START
}

fn advice(on_names: bool, block_bytes: f64) -> &'static str {
    match on_names {
        _ if block_bytes >= t::LARGE_READ_BYTES => {
            "The blocks are large already: read the next one while this one is worked on (a second thread, `posix_fadvise`), read less, or keep the data in memory. A second run may find the file there."
        }
        true => {
            "These waits are for folders and for the file system's journal, in opening, closing, renaming and removing files: do several at once, make fewer files, or write over a file in its place instead of emptying it or making it anew (unless it must never be seen half written, as what is written aside and renamed). In memory (`/dev/shm`) such calls wait for nothing."
        }
        false => {
            "Read in order and in large blocks, keep several reads in flight, or read ahead (`posix_fadvise`); leave out O_DIRECT unless it is needed. A second run may find the file in memory."
        }
    }
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    // Waits outside of calls are faults in mapped files; those for a sync are asked for.
    let synced = sync_writes::synced_files(view);
    let is_synced = |row: &OffCpuRow, call: &str| {
        let file = row.fd.map(|fd| (row.pid, fd));
        let write = classify::is_write(call) && file.is_some_and(|file| synced.contains(&file));
        classify::is_sync(call) || write
    };
    let pids: BTreeSet<u32> = view.trace.processes.iter().map(|p| p.pid).collect();
    let makers: BTreeSet<u32> = pids
        .into_iter()
        .filter(|pid| makes_files_once(view, *pid) || only_removes(view, *pid))
        .collect();
    let replaces = |row: &OffCpuRow, call: &str| is_on_names(call) && makers.contains(&row.pid);
    let counts = |row: &OffCpuRow| {
        let call = row.call.as_deref().unwrap_or_default();
        let in_call = !call.is_empty() && !call.starts_with("execve");
        let from_disk = classify::from_disk(view.trace, row.cause, row.call.as_deref());
        from_disk && in_call && !is_synced(row, call) && !replaces(row, call)
    };
    let (wait, waits) = view.off(counts);
    let (on_names, _) = view.off(|row| counts(row) && row.call.as_deref().is_some_and(is_on_names));
    let on_names = on_names * 2.0 > wait;
    let wait = wait.min(view.spent_ns(Spent::Disk));
    let by_chance = waits.is_some_and(|n| n < t::LEAST_DISK_WAITS);
    if by_chance || !wait_matters(view, wait) {
        return None;
    }
    let who = match waits {
        Some(n) => format!("{} waits", count(n)),
        None => "Waiting".to_owned(),
    };
    let reads = fetching::reads(view, counts);
    let fetching = fetching::by_reads(view, wait, &reads);
    let win = wait + fetching;
    let statement = format!(
        "{who} for the disk took {}{}, {} of the wall time.",
        time(wait),
        fetching::told(fetching, wait),
        percent(view, win),
    );
    Some(
        Draft::new("waiting-for-disk", view, win, statement)
            .evidence_if("waits", waits, "calls")
            .evidence("CPU time of fetching", fetching.round(), "ns")
            .advice(advice(on_names, reads.bytes_per_call()))
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn reads_that_wait_for_the_device_are_told() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("pread64"), Some(3), Cause::Disk, 5_000, 100);
        assert_eq!(fake.ids(), ["waiting-for-disk"]);
    }

    #[test]
    fn what_an_earlier_run_left_unwritten_is_not_the_programs() {
        let told = |opens, written: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(3), 1_500, 8_000, 3_000);
            fake.calls("write", Some(4), 1_500, written, 3_000);
            fake.file("/tmp/state.json", opens, 1, 8_000, 0);
            fake.waits(Some("openat"), None, Cause::Disk, 1_500, 300);
            fake.ids()
        };
        assert!(told(1, 8_000).is_empty());
        // One file that is made anew again and again, and many that are only read.
        assert_eq!(told(1_500, 8_000), ["waiting-for-disk"]);
        assert_eq!(told(1, 10), ["waiting-for-disk"]);
    }

    #[test]
    fn waits_for_folders_get_an_advice_of_their_own_and_removing_none() {
        let waits_in = |call: &str, moved: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(3), 1_500, moved, 3_000);
            fake.calls(call, None, 1_500, 0, 3_000);
            let fd = (call == "read").then_some(3);
            fake.waits(Some(call), fd, Cause::Disk, 1_500, 300);
            fake.findings()
        };
        assert!(waits_in("unlinkat", 1).is_empty());
        let found = waits_in("renameat2", 8_000);
        assert_eq!(found[0].id, "waiting-for-disk");
        assert!(found[0].advice.contains("journal"));
        assert!(waits_in("pread64", 8_000)[0].advice.contains("O_DIRECT"));
        let large = waits_in("read", 1 << 20);
        assert!(large[0].advice.contains("large already"));
    }

    #[test]
    fn one_long_wait_is_chance() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("pread64"), Some(3), Cause::Disk, 1, 300_000);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn a_few_waits_are_nothing() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("pread64"), Some(3), Cause::Disk, 50, 1_000);
        assert!(fake.ids().is_empty());
    }
}
