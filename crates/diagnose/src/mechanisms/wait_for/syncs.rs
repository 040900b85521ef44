//! Each of many writes waits until it is on the disk.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::{FindingId, TimeCategory};
use fathom_trace::{Cause, OffCpuRow};

use super::fetching;
use crate::analysis::Analysis;
use crate::calls;
use crate::claim::Claim;
use crate::classify;
use crate::numbers::{count, time};
use crate::thresholds as t;

/// What the disk makes its caller do, in the kernel alone.
pub(crate) const ON_DISK: &[TimeCategory] = &[
    TimeCategory::Disk,
    TimeCategory::KernelIo,
    TimeCategory::KernelFiles,
    TimeCategory::KernelMemory,
    TimeCategory::PageFaults,
];

/// Files whose writes wait for the disk nearly each time, as O_SYNC and O_DSYNC make them. Other
/// writes go to memory and wait only when too much of it is unwritten.
pub(super) struct Synced(BTreeSet<(u32, i32)>);

impl Synced {
    pub(super) fn of(analysis: &Analysis<'_>) -> Self {
        let mut of_file = BTreeMap::<(u32, i32), u64>::new();
        for row in &analysis.trace.off_cpu {
            let call = row.call.as_deref();
            let from_disk = classify::from_disk(analysis.trace, row.cause, call);
            if let Some(fd) = row
                .fd
                .filter(|_| from_disk && call.is_some_and(calls::is_write))
            {
                *of_file.entry((row.pid, fd)).or_default() += row.count;
            }
        }
        of_file.retain(|(pid, fd), waits| {
            let writes = analysis
                .tally(|row| (row.pid, row.fd) == (*pid, Some(*fd)) && calls::is_write(&row.name));
            analysis.counts_waits() && writes.calls >= t::MANY_SYNCS && *waits * 2 >= writes.calls
        });
        Self(of_file.into_keys().collect())
    }

    /// Whether a call puts data on the disk at once.
    pub(super) fn has(&self, pid: u32, fd: Option<i32>, call: &str) -> bool {
        let is_file = fd.is_some_and(|fd| self.0.contains(&(pid, fd)));
        calls::is_sync(call) || calls::is_write(call) && is_file
    }
}

pub(crate) fn syncs(analysis: &Analysis<'_>) -> Option<Claim> {
    let synced = Synced::of(analysis);
    let tally = analysis.tally(|row| synced.has(row.pid, row.fd, &row.name));
    let is_wait = |row: &OffCpuRow| {
        let call = row.call.as_deref();
        let off_the_disk = matches!(row.cause, Cause::Ready | Cause::Preempted);
        !off_the_disk && call.is_some_and(|call| synced.has(row.pid, row.fd, call))
    };
    let (waits, _) = analysis.off(is_wait);
    // Nobody timed calls that were stopped at: what putting data on the disk costs the CPU is a
    // guess there.
    let cpu = match analysis.by_stops() {
        true => fetching::guessed(analysis, waits).max(tally.cost_ns),
        false => tally.cost_ns,
    };
    // Waits are those of whole threads, and what is guessed knows nothing of them.
    let most = analysis.spent_on(ON_DISK) + analysis.spent_ns(TimeCategory::Kernel);
    let total = (cpu + waits).min(most);
    let calls = tally.calls;
    if calls < t::MANY_SYNCS {
        return None;
    }
    let statement = format!(
        "{} calls put data on the disk at once ({}), {} in all, {} of the wall time.",
        count(calls),
        match synced.0.is_empty() {
            true => "fsync and kin",
            false => "fsync and kin, or writes to a file opened with O_SYNC",
        },
        time(total),
        analysis.percent(total),
    );
    Some(
        Claim::new(FindingId::SyncWrites, analysis, total, statement)
            .evidence("sync calls", calls as f64, "calls")
            .evidence("mean", total / calls as f64, "ns")
            .advice("Sync once for many records: put them in one transaction or batch, or sync at the end. Leave it out where the data can be made again."),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn writes_that_wait_for_the_disk_each_time_are_synced() {
        let writes_that_wait = |waits: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("write", Some(3), 400, 500, 1_000_000);
            fake.waits(Some("write"), Some(3), Cause::Disk, waits, 400_000 / waits);
            fake.ids()
        };
        assert_eq!(writes_that_wait(400), ["sync-writes"]);
        assert_eq!(writes_that_wait(4), ["waiting-for-disk"]);
    }

    #[test]
    fn a_sync_for_each_record_is_found() {
        let mut fake = Fake::new(1000);
        fake.calls("fsync", Some(3), 200, 0, 3_000_000);
        assert_eq!(fake.ids(), ["sync-writes"]);
    }

    #[test]
    fn one_at_the_end_is_a_promise() {
        let mut fake = Fake::new(1000);
        fake.calls("fsync", Some(3), 1, 0, 300_000_000);
        assert!(fake.ids().is_empty());
    }
}
