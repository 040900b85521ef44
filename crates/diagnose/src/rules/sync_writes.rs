//! Each of many writes waits until it is on the disk.

use std::collections::BTreeSet;

use fathom_model::FindingId;
use fathom_trace::Cause;

use super::io_latency;
use crate::analysis::Analysis;
use crate::calls;
use crate::claim::Claim;
use crate::classify;
use crate::finding_builder::{FindingBuilder, is_significant_wait, percent};
use crate::findings::within_account;
use crate::numbers::{count, time};
use crate::thresholds as t;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let synced = synced_files(analysis);
    let is_synced = |pid: u32, fd: Option<i32>, call: &str| {
        calls::is_sync(call)
            || calls::is_write(call) && fd.is_some_and(|fd| synced.contains(&(pid, fd)))
    };
    let tally = analysis.tally(|row| is_synced(row.pid, row.fd, &row.name));
    let (waits, _) = analysis.off(|row| {
        let call = row.call.as_deref();
        let off_the_disk = matches!(row.cause, Cause::Ready | Cause::Preempted);
        !off_the_disk && call.is_some_and(|call| is_synced(row.pid, row.fd, call))
    });
    // Nobody timed calls that were stopped at: what putting data on the disk costs the CPU is a
    // guess there.
    let cpu = match analysis.by_stops() {
        true => io_latency::guessed(analysis, waits).max(tally.cost_ns),
        false => tally.cost_ns,
    };
    // Waits are those of whole threads, and what is guessed knows nothing of them.
    let total = within_account(analysis, FindingId::SyncWrites, cpu + waits);
    let calls = tally.calls;
    if calls < t::MANY_SYNCS || !is_significant_wait(analysis, total) {
        return None;
    }
    let statement = format!(
        "{} calls put data on the disk at once ({}), {} in all, {} of the wall time.",
        count(calls),
        if synced.is_empty() {
            "fsync and kin"
        } else {
            "fsync and kin, or writes to a file opened with O_SYNC"
        },
        time(total),
        percent(analysis, total),
    );
    Some(
        FindingBuilder::new(FindingId::SyncWrites, analysis, total, statement)
            .evidence("sync calls", calls as f64, "calls")
            .evidence("mean", total / calls as f64, "ns")
            .advice("Sync once for many records: put them in one transaction or batch, or sync at the end. Leave it out where the data can be made again.")
            .finish(),
    )
}

/// Files whose writes wait for the disk nearly each time, as O_SYNC and O_DSYNC make them. Other
/// writes go to memory and wait only when too much of it is unwritten.
pub(super) fn synced_files(analysis: &Analysis<'_>) -> BTreeSet<(u32, i32)> {
    let waits = analysis.trace.off_cpu.iter().filter(|row| {
        let call = row.call.as_deref();
        classify::from_disk(analysis.trace, row.cause, call) && call.is_some_and(calls::is_write)
    });
    let waits = waits.filter_map(|row| Some(((row.pid, row.fd?), row.count)));
    let mut of_file = std::collections::BTreeMap::<(u32, i32), u64>::new();
    waits.for_each(|(file, count)| *of_file.entry(file).or_default() += count);
    let often = |file: &(u32, i32), waits: u64| {
        let writes = analysis
            .tally(|row| (row.pid, row.fd) == (file.0, Some(file.1)) && calls::is_write(&row.name));
        analysis.counts_waits() && writes.calls >= t::MANY_SYNCS && waits * 2 >= writes.calls
    };
    of_file.retain(|file, waits| often(file, *waits));
    of_file.into_keys().collect()
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
