//! Calls wait for the storage device.

use std::collections::BTreeSet;

use fathom_model::{Finding, Spent};
use fathom_trace::OffCpuRow;

use super::sync_writes;
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
        let rows = view.trace.syscalls.iter().filter(|row| row.pid == pid);
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
    let mut files = view.trace.files.iter().filter(|file| file.pid == pid);
    let again =
        files.any(|file| file.opens >= t::MANY_OPENS_TO_REPLACE && file.name.starts_with('/'));
    written > 0 && written * 2 >= read && !again
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
        .filter(|pid| makes_files_once(view, *pid))
        .collect();
    let replaces =
        |row: &OffCpuRow, call: &str| REPLACING.contains(&call) && makers.contains(&row.pid);
    let (wait, waits) = view.off(|row| {
        let call = row.call.as_deref().unwrap_or_default();
        let in_call = !call.is_empty() && !call.starts_with("execve");
        let from_disk = classify::from_disk(view.trace, row.cause, row.call.as_deref());
        from_disk && in_call && !is_synced(row, call) && !replaces(row, call)
    });
    let wait = wait.min(view.spent_ns(Spent::Disk));
    let by_chance = waits.is_some_and(|n| n < t::LEAST_DISK_WAITS);
    if by_chance || !wait_matters(view, wait) {
        return None;
    }
    let who = match waits {
        Some(n) => format!("{} waits", count(n)),
        None => "Waiting".to_owned(),
    };
    let statement = format!(
        "{who} for the disk took {}, {} of the wall time.",
        time(wait),
        percent(view, wait),
    );
    Some(
        Draft::new("waiting-for-disk", view, wait, statement)
            .evidence_if("waits", waits, "calls")
            .advice("Read in order and in large blocks, keep several reads in flight, or read ahead (`posix_fadvise`); leave out O_DIRECT unless it is needed. A second run may find the file in memory.")
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
