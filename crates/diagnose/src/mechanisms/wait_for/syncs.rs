//! Detects many writes that each wait until they are on the disk.

use super::fetching;
use crate::mechanisms::prelude::*;

/// What a disk costs its caller within the kernel.
pub(crate) const ON_DISK: &[TimeCategory] = &[
    TimeCategory::Disk,
    TimeCategory::KernelIo,
    TimeCategory::KernelFiles,
    TimeCategory::KernelMemory,
    TimeCategory::PageFaults,
];

/// The maximum number of syncs per call at which a commit's other calls count. SQLite syncs its journal, its
/// folder and its database, some of them twice.
const SYNCS_OF_A_COMMIT: u64 = 8;
/// The factor by which the other calls must change the time to be mentioned; a smaller change isn't visible
/// in the displayed time.
const BESIDE_WORTH_REPORTING: f64 = 1.03;

/// Files whose writes wait for the disk almost every time, as with O_SYNC and O_DSYNC. Other writes go to
/// memory, and wait only when too much of it has not been written back.
pub(super) struct Synced(BTreeSet<(u32, i32)>);

impl Synced {
    pub(super) fn of(analysis: &Analysis<'_>) -> Self {
        let waits = |row: &&OffCpuRow| {
            let call = row.call.as_deref();
            let from_disk = classify::from_disk(analysis.trace, row.cause, call);
            from_disk && call.is_some_and(calls::is_write)
        };
        let rows = analysis.trace.off_cpu.iter().filter(waits);
        let mut of_file = totals(rows.filter_map(|row| Some(((row.pid, row.fd?), row.count))));
        of_file.retain(|(pid, fd), waits| {
            let writes = analysis
                .tally(|row| (row.pid, row.fd) == (*pid, Some(*fd)) && calls::is_write(&row.name));
            analysis.counts_waits() && writes.calls >= t::MANY_SYNCS && *waits * 2 >= writes.calls
        });
        Self(of_file.into_keys().collect())
    }

    /// Returns whether a call puts data on the disk at once.
    pub(super) fn has(&self, pid: u32, fd: Option<i32>, call: &str) -> bool {
        let is_file = fd.is_some_and(|fd| self.0.contains(&(pid, fd)));
        calls::is_sync(call) || calls::is_write(call) && is_file
    }
}

/// Returns the calls that a commit makes in addition to its syncs, by process: creating and removing a
/// journal, replacing a file, taking and releasing locks.
fn commits<'a>(analysis: &Analysis<'a>, synced: &Synced) -> BTreeSet<(u32, &'a str)> {
    let syncs = analysis.calls(|row| synced.has(row.pid, row.fd, &row.name));
    let syncs = totals(syncs.map(|row| (row.pid, row.calls)));
    let beside = analysis.calls(|row| {
        let is_of_commit = calls::changes_folder(&row.name) || calls::is_file_lock(&row.name);
        is_of_commit && !synced.has(row.pid, row.fd, &row.name)
    });
    let beside = totals(beside.map(|row| ((row.pid, row.name.as_str()), row.calls)));
    let is_for_each = |((pid, _), calls): &((u32, &str), u64)| {
        let syncs = syncs.get(pid).copied().unwrap_or(0);
        syncs > 0 && calls * SYNCS_OF_A_COMMIT >= syncs
    };
    let beside = beside.into_iter().filter(is_for_each);
    beside.map(|(call, _)| call).collect()
}

/// Returns the descriptor and name of the file that most calls sync, and whether there are other files.
fn most_synced(analysis: &Analysis<'_>, synced: &Synced) -> Option<(i32, String, bool)> {
    let mut files: BTreeMap<String, (u64, i32)> = BTreeMap::new();
    for row in &analysis.trace.syscalls {
        let fd = row.fd.filter(|_| synced.has(row.pid, row.fd, &row.name));
        if let Some((fd, name)) = fd.and_then(|fd| Some((fd, analysis.name_of(row.pid, fd)?))) {
            files.entry(name).or_insert((0, fd)).0 += row.calls;
        }
    }
    let several = files.len() > 1;
    let (name, (_, fd)) = files.into_iter().max_by_key(|(_, (calls, _))| *calls)?;
    Some((fd, name, several))
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
    let commits = commits(analysis, &synced);
    let is_beside = |row: &SyscallRow| commits.contains(&(row.pid, row.name.as_str()));
    let waits_beside = |row: &OffCpuRow| {
        let call = row.call.as_deref();
        let is_disk = classify::from_disk(analysis.trace, row.cause, call);
        is_disk && call.is_some_and(|call| commits.contains(&(row.pid, call)))
    };
    let beside = Piece::of_calls(analysis, is_beside);
    let (waited_beside, _) = analysis.off(waits_beside);
    // If the run was stopped at its calls, they have no times, so the CPU cost of putting data on the disk is
    // an estimate.
    let cpu = match analysis.by_stops() {
        true => fetching::guessed(analysis, waits).max(tally.cost_ns),
        false => tally.cost_ns,
    };
    // Waits are counted for whole threads, and the estimate doesn't include them.
    let most = analysis.spent_on(ON_DISK) + analysis.spent_ns(TimeCategory::Kernel);
    let syncing = (cpu + waits).min(most);
    let total = (syncing + beside.ns + waited_beside).min(most);
    let calls = tally.calls;
    if calls < t::MANY_SYNCS {
        return None;
    }
    let names: BTreeSet<String> = commits.iter().map(|(_, it)| format!("`{it}`")).collect();
    let names: Vec<String> = names.into_iter().collect();
    let file = most_synced(analysis, &synced);
    let what = match &file {
        Some((_, name, true)) if !name.ends_with(" others") => format!("{name} and others"),
        Some((_, name, _)) => name.clone(),
        None => "data".to_owned(),
    };
    let statement = format!(
        "{} calls forced {what} to the disk ({}), {} in all{}, {} of the wall time.",
        count(calls),
        match synced.0.is_empty() {
            true => "fsync and kin",
            false => "fsync and similar calls, or writes to a file opened with O_SYNC",
        },
        time(syncing),
        if_so(total > BESIDE_WORTH_REPORTING * syncing, || {
            let beside = time(total - syncing);
            format!(
                ", and {} along with them took {beside}",
                names.join(" and ")
            )
        }),
        analysis.percent(total),
    );
    let pieces = vec![
        Piece::of_waits(analysis, waits, |row, _| is_wait(row)),
        Piece::of_calls(analysis, |row| synced.has(row.pid, row.fd, &row.name)),
        beside,
        Piece::of_waits(analysis, waited_beside, |row, _| waits_beside(row)),
    ];
    let (fd, path) = file.map(|(fd, name, _)| (fd, name)).unzip();
    Some(
        Claim::new(FindingId::SyncWrites, analysis, total, statement)
            .on(fd, path)
            .pieces(pieces)
            .evidence("sync calls", calls, "calls")
            .evidence("mean", syncing / calls as f64, "ns")
            .advice("Sync once for many records: put them in one transaction or batch, or sync at the end. Omit the \
                 sync if the data can be recreated."),
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
    fn what_a_commit_does_beside_its_syncs_goes_with_them() {
        let saved_ms = |removed: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("fsync", Some(3), 800, 0, 500_000);
            fake.calls("unlink", None, removed, 0, 200_000);
            fake.waits(Some("unlink"), None, Cause::Disk, 100, 1_000);
            let found = fake.findings();
            (
                found[0].could_win_ns / 1_000_000,
                found[0].statement.clone(),
            )
        };
        let (saved, words) = saved_ms(400);
        // 400 ms of syncs, 80 ms of calls, and 100 ms of waits.
        assert!((575..=581).contains(&saved), "{saved} ms");
        assert!(words.contains("`unlink` along with them took 1"), "{words}");
        // Fewer calls don't belong to the commits.
        let (saved, words) = saved_ms(90);
        assert!((395..=401).contains(&saved), "{saved} ms");
        assert!(!words.contains("next to them"), "{words}");
    }

    #[test]
    fn one_at_the_end_is_a_promise() {
        let mut fake = Fake::new(1000);
        fake.calls("fsync", Some(3), 1, 0, 300_000_000);
        assert!(fake.ids().is_empty());
    }
}
