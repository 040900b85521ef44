//! Calls wait for the storage device.

use fathom_model::{Finding, Spent};
use fathom_trace::{Cause, OffCpuRow};

use super::sync_writes;
use crate::classify;
use crate::draft::{Draft, count, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    // Waits outside of calls are faults in mapped files; those for a sync are asked for.
    let synced = sync_writes::synced_files(view);
    let is_synced = |row: &OffCpuRow, call: &str| {
        let file = row.fd.map(|fd| (row.pid, fd));
        let write = classify::is_write(call) && file.is_some_and(|file| synced.contains(&file));
        classify::is_sync(call) || write
    };
    let (wait, waits) = view.off(|row| {
        let call = row.call.as_deref().unwrap_or_default();
        let in_call = !call.is_empty() && !call.starts_with("execve");
        row.cause == Cause::Disk && in_call && !is_synced(row, call)
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
