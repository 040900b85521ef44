//! Calls wait for the storage device.

use std::collections::BTreeSet;

use fathom_model::{FindingId, TimeCategory};
use fathom_trace::OffCpuRow;

use super::{io_latency, sync_writes};
use crate::analysis::Analysis;
use crate::calls;
use crate::claim::Claim;
use crate::classify;
use crate::finding_builder::{FindingBuilder, is_significant_wait, percent};
use crate::numbers::{count, time};
use crate::thresholds as t;

/// Whether a process writes files as copies and archives are written: half of what it reads or
/// more, and each file once. That it then waits in such calls is since the run before made the same
/// files a moment ago: `cp -r` of 1,500 files over themselves waited for 53 % of its time, to a new
/// place not at all.
fn makes_files_once(analysis: &Analysis<'_>, pid: u32) -> bool {
    let beyond_standard = |fd: Option<i32>| fd.is_some_and(|fd| fd > 2);
    let moved = |is: fn(&str) -> bool| {
        let rows = analysis.rows_of_process(pid);
        let rows = rows.filter(|row| beyond_standard(row.fd));
        rows.filter(|row| is(&row.name))
            .map(|row| row.bytes)
            .sum::<u64>()
    };
    let copied = moved(calls::is_copy);
    let (read, written) = (
        moved(calls::is_read) + copied,
        moved(calls::is_write) + copied,
    );
    let mut files = analysis.files_of(pid);
    let again = files
        .any(|file| file.opens >= t::MANY_OPENS_TO_REPLACE && file.name.text().starts_with('/'));
    written > 0 && written * 2 >= read && !again
}

/// As much as a program and its libraries read of files at their start.
const READ_AT_START: u64 = 64 << 10;

/// Whether a process removes files and does nothing else to them, as `rm -r`: there is no other way
/// to do it.
fn only_removes(analysis: &Analysis<'_>, pid: u32) -> bool {
    let rows = || analysis.rows_of_process(pid);
    let removed: u64 = rows()
        .filter(|row| calls::removes(&row.name))
        .map(|row| row.calls)
        .sum();
    let moved: u64 = rows()
        .filter(|row| row.fd.is_some_and(|fd| fd > 2))
        .filter(|row| calls::is_read(&row.name) || calls::is_write(&row.name))
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

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    // Waits outside of calls are faults in mapped files; those for a sync are asked for.
    let synced = sync_writes::synced_files(analysis);
    let is_synced = |row: &OffCpuRow, call: &str| {
        let file = row.fd.map(|fd| (row.pid, fd));
        let write = calls::is_write(call) && file.is_some_and(|file| synced.contains(&file));
        calls::is_sync(call) || write
    };
    let pids: BTreeSet<u32> = analysis.trace.processes.iter().map(|p| p.pid).collect();
    let makers: BTreeSet<u32> = pids
        .into_iter()
        .filter(|pid| makes_files_once(analysis, *pid) || only_removes(analysis, *pid))
        .collect();
    let replaces =
        |row: &OffCpuRow, call: &str| calls::waits_for_journal(call) && makers.contains(&row.pid);
    let counts = |row: &OffCpuRow| {
        let call = row.call.as_deref().unwrap_or_default();
        let in_call = !call.is_empty() && !call.starts_with("execve");
        let from_disk = classify::from_disk(analysis.trace, row.cause, row.call.as_deref());
        from_disk && in_call && !is_synced(row, call) && !replaces(row, call)
    };
    let (wait, waits) = analysis.off(counts);
    let (on_names, _) = analysis
        .off(|row| counts(row) && row.call.as_deref().is_some_and(calls::waits_for_journal));
    let on_names = on_names * 2.0 > wait;
    let wait = wait.min(analysis.spent_ns(TimeCategory::Disk));
    let by_chance = waits.is_some_and(|n| n < t::LEAST_DISK_WAITS);
    if by_chance || !is_significant_wait(analysis, wait) {
        return None;
    }
    let who = match waits {
        Some(n) => format!("{} waits", count(n)),
        None => "Waiting".to_owned(),
    };
    let reads = io_latency::reads(analysis, counts);
    let io_latency = io_latency::by_reads(analysis, wait, &reads);
    let saving = wait + io_latency;
    let statement = format!(
        "{who} for the disk took {}{}, {} of the wall time.",
        time(wait),
        io_latency::in_words(io_latency, wait),
        percent(analysis, saving),
    );
    Some(
        FindingBuilder::new(FindingId::WaitingForDisk, analysis, saving, statement)
            .evidence_if("waits", waits, "calls")
            .evidence("CPU time of fetching", io_latency.round(), "ns")
            .advice(advice(on_names, reads.bytes_per_call()))
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn reads_that_wait_for_the_device_are_found() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("pread64"), Some(3), Cause::Disk, 5_000, 100);
        assert_eq!(fake.ids(), ["waiting-for-disk"]);
    }

    #[test]
    fn what_an_earlier_run_left_unwritten_is_not_the_programs() {
        let reported = |opens, written: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(3), 1_500, 8_000, 3_000);
            fake.calls("write", Some(4), 1_500, written, 3_000);
            fake.file("/tmp/state.json", opens, 1, 8_000, 0);
            fake.waits(Some("openat"), None, Cause::Disk, 1_500, 300);
            fake.ids()
        };
        assert!(reported(1, 8_000).is_empty());
        // One file that is made anew again and again, and many that are only read.
        assert_eq!(reported(1_500, 8_000), ["waiting-for-disk"]);
        assert_eq!(reported(1, 10), ["waiting-for-disk"]);
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
        assert_eq!(found[0].id, FindingId::WaitingForDisk);
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
