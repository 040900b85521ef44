//! Detects calls, or faults in mapped files and programs, that wait for the storage device.

use super::fetching;
use super::syncs::Synced;
use crate::mechanisms::prelude::*;

/// The number of bytes that a program and its libraries read from files at startup.
const READ_AT_START: u64 = 64 << 10;

/// Returns whether a process has no choice but to wait for folders and the journal. This is true of a process
/// that writes files like `cp` or an archiver, that is, at least half of what it reads, and each file once.
/// Such a process waits for its previous run, which created the same files a moment ago: `cp -r` of 1,500
/// files over themselves waited for 53 % of its time, but not at all when copying to a new place. It is also
/// true of a process that only removes files, like `rm -r`.
fn must_wait_for_journal(analysis: &Analysis<'_>, pid: u32) -> bool {
    let bytes = |is: fn(&str) -> bool| {
        let rows = analysis.rows_of_process(pid);
        let rows = rows.filter(|row| row.fd.is_some_and(|fd| fd > 2) && is(&row.name));
        rows.map(|row| row.bytes).sum::<u64>()
    };
    let copied = bytes(calls::is_copy);
    let (read, written) = (bytes(calls::is_read), bytes(calls::is_write));
    let removes = analysis.rows_of_process(pid);
    let removes = removes.filter(|row| calls::removes(&row.name));
    let removed: u64 = removes.map(|row| row.calls).sum();
    let again = |file: &FileRow| {
        file.opens >= t::MANY_OPENS_TO_REPLACE && file.name.text().starts_with('/')
    };
    let makes = written + copied > 0 && (written + copied) * 2 >= read + copied;
    makes && !analysis.files_of(pid).any(again)
        || removed >= t::LEAST_DISK_WAITS && read + written <= READ_AT_START
}

fn advice(on_names: bool, block_bytes: f64) -> &'static str {
    match on_names {
        _ if block_bytes >= t::LARGE_READ_BYTES => {
            "The blocks are already large: read the next block while this one is processed (a second thread, \
             `posix_fadvise`), read less, or keep the data in memory. A second run may find the file in memory."
        }
        true => {
            "These waits are for folders and for the file system's journal, when files are opened, closed, renamed \
             and removed: do several at once, create fewer files, or overwrite a file in place instead of \
             truncating or recreating it (unless readers must never see it half written, which is why some programs \
             write a new file and rename it). In memory (`/dev/shm`) such calls do not wait."
        }
        false => {
            "Read in order and in large blocks, keep several reads in flight, or read ahead (`posix_fadvise`); \
             avoid O_DIRECT unless it is needed. A second run may find the file in memory."
        }
    }
}

/// Returns the call that waited for the disk; empty for a fault or a program that is being loaded.
fn call_of<'a>(analysis: &Analysis<'_>, row: &'a OffCpuRow) -> Option<&'a str> {
    let call = row.call.as_deref();
    let is_disk = classify::from_disk(analysis.trace, row.cause, call);
    let call = call.filter(|call| !call.starts_with("execve"));
    is_disk.then(|| call.unwrap_or_default())
}

pub(crate) fn disk(analysis: &Analysis<'_>) -> Option<Claim> {
    // The program intends waits for a sync.
    let synced = Synced::of(analysis);
    let pids = analysis.trace.processes.iter().map(|process| process.pid);
    let bound = pids.filter(|pid| must_wait_for_journal(analysis, *pid));
    let bound: BTreeSet<u32> = bound.collect();
    let counts = |row: &OffCpuRow| {
        call_of(analysis, row).is_some_and(|call| {
            let journal = calls::waits_for_journal(call) && bound.contains(&row.pid);
            !call.is_empty() && !synced.has(row.pid, row.fd, call) && !journal
        })
    };
    let (wait, waits) = analysis.off(counts);
    let (on_names, _) = analysis
        .off(|row| counts(row) && row.call.as_deref().is_some_and(calls::waits_for_journal));
    let on_names = on_names * 2.0 > wait;
    let wait = wait.min(analysis.spent_ns(TimeCategory::Disk));
    if waits.is_some_and(|n| n < t::LEAST_DISK_WAITS) {
        return None;
    }
    let reads = fetching::reads(analysis, counts);
    let fetching = fetching::by_reads(analysis, wait, &reads);
    let who = match waits {
        Some(n) => format!("{} waits", count(n)),
        None => "Waiting".to_owned(),
    };
    let statement = format!("{who} for the disk took {}", time(wait));
    Some(
        finding(
            FindingId::WaitingForDisk,
            analysis,
            (wait, fetching),
            statement,
        )
        .in_waits(analysis, wait, |row, _| counts(row))
        .evidence_if("waits", waits, "calls")
        .evidence("CPU time to fetch the data", fetching.round(), "ns")
        .advice(advice(on_names, reads.bytes_per_call())),
    )
}

/// Reports files that are fetched from the disk page by page.
pub(crate) fn cold_files(analysis: &Analysis<'_>) -> Option<Claim> {
    let is_fault = |row: &OffCpuRow| call_of(analysis, row) == Some("");
    let (wait, waits) = analysis.off(is_fault);
    let faults = analysis.trace.accounts.major_faults;
    if faults == 0 {
        return None;
    }
    let fetching = fetching::by_faults(analysis, wait);
    let statement = format!(
        "{} page faults waited for the disk, {} in all",
        count(faults),
        time(wait)
    );
    let finding = finding(FindingId::ColdFiles, analysis, (wait, fetching), statement);
    let finding = finding.in_waits(analysis, wait, |row, _| is_fault(row));
    let is_short = faults < t::MANY_MAJOR_FAULTS && wait < t::LONG_FETCH_NS;
    let mut least = Least::OF_WAITING;
    if is_short {
        (least.ns, least.share) = (t::LONG_FETCH_NS / 2.0, t::FETCH_RULES);
    }
    let finding = finding.least(least);
    let finding = finding.evidence("major faults", faults, "faults");
    let finding = finding.evidence("CPU time to fetch the data", fetching.round(), "ns");
    let finding = finding.evidence_if("waits", waits, "calls");
    Some(finding.advice("Read the file ahead in order (`madvise(MADV_WILLNEED)`, `posix_fadvise`, or plain reads), or keep it in memory between runs."))
}

/// Builds a claim about a wait, including the CPU time for fetching the data.
fn finding(
    id: FindingId,
    analysis: &Analysis<'_>,
    (wait, fetching): (f64, f64),
    statement: String,
) -> Claim {
    let saving = wait + fetching;
    let is_much = fetching >= wait * t::FETCH_CPU_WORTH_REPORTING;
    let fetching = if_so(is_much, || {
        format!(" and {} of CPU time to fetch the data", time(fetching))
    });
    let share = analysis.percent(saving);
    let statement = format!("{statement}{fetching}, {share} of the wall time.");
    Claim::new(id, analysis, saving, statement).weighing(wait)
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
        // One file is created again and again, and many others are only read.
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
        assert!(large[0].advice.contains("already large"));
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
            // The waits take 2 ms each.
            fake.waits(None, None, Cause::Disk, waits, 2_000);
            assert_eq!(fake.ids().contains(&"cold-files"), reported, "{wall_ms}");
        }
    }
}
