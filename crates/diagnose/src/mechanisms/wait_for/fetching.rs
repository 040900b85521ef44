//! Computes the CPU cost of fetching data from a disk.
//!
//! A process that waits for a disk also works for it: it makes room in memory, issues the request and is
//! woken. In a virtual machine, where each request leaves the machine, that takes as long as the wait: 80 to
//! 270 ms compared with waits of 110 to 250 ms in the ten programs of the corpus. This cost disappears with
//! the wait.

use crate::mechanisms::prelude::*;

/// Returns the CPU time of file-backed faults on the critical path, beyond what they take when the files are
/// in memory.
pub(super) fn by_faults(analysis: &Analysis<'_>, wait: f64) -> f64 {
    let all = analysis.fault_cost();
    if all.measured {
        return (all.ns - all.count as f64 * analysis.first_touch_ns()).max(0.0);
    }
    guessed(analysis, wait)
}

/// Like [`by_faults`], for the [`reads`] that waited.
pub(super) fn by_reads(analysis: &Analysis<'_>, wait: f64, reads: &Tally) -> f64 {
    if analysis.by_stops() {
        return guessed(analysis, wait);
    }
    let warm = reads.calls as f64 * analysis.call_ns() + reads.bytes as f64 * t::COPY_NS_PER_BYTE;
    (reads.cost_ns - warm).max(0.0)
}

/// Returns the read calls among the calls that waited.
pub(super) fn reads(analysis: &Analysis<'_>, waited: impl Fn(&OffCpuRow) -> bool) -> Tally {
    let rows = analysis.trace.off_cpu.iter().filter(|row| waited(row));
    let calls: HashSet<_> = rows
        .filter_map(|row| Some((row.tid, row.fd, row.call.as_deref()?)))
        .filter(|(.., call)| calls::is_read(call))
        .collect();
    analysis.tally(|row| calls.contains(&(row.tid, row.fd, row.name.as_str())))
}

/// Returns an estimate to use if calls and faults were not timed: the kernel time that neither the known
/// calls nor in-memory faults explain.
pub(super) fn guessed(analysis: &Analysis<'_>, wait: f64) -> f64 {
    let first_touches = analysis.trace.accounts.minor_faults as f64 * analysis.first_touch_ns();
    let left = analysis.outside_of_calls_ns().unwrap_or(0.0) - first_touches;
    // Some time always remains: the start, and the work on the data.
    let room = 0.97 * analysis.wall_ns - wait;
    let most = analysis.spent_ns(TimeCategory::Kernel).min(room);
    let most = most.min(wait * t::FETCH_CPU_PER_WAIT);
    left.clamp(0.0, most.max(0.0))
}

#[cfg(test)]
mod tests {
    use fathom_trace::{Cause, FaultOverhead};

    use crate::fake::{Fake, MS};

    fn won(fake: &mut Fake) -> (String, u64) {
        let first = &fake.findings()[0];
        (first.id.to_string(), first.could_win_ns / MS)
    }

    #[test]
    fn what_waiting_reads_take_beyond_the_copy_goes_with_the_wait() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("pread64"), Some(3), Cause::Disk, 5_000, 60);
        fake.calls("pread64", Some(3), 5_000, 4096, 50_000)
            .blocked_ns = Some(0);
        // A call that never waited is not counted.
        fake.calls("pread64", Some(4), 5_000, 4096, 10_000)
            .blocked_ns = Some(0);
        let (id, ms) = won(&mut fake);
        assert_eq!(id, "waiting-for-disk");
        // 300 ms of waiting, and 250 ms of calls without their copies.
        assert!((535..550).contains(&ms), "{ms}");
    }

    #[test]
    fn what_faults_in_files_take_beyond_a_first_touch_goes_with_the_wait() {
        let mut fake = Fake::new(1000);
        fake.trace.accounts.major_faults = 4_000;
        fake.trace.fault_overhead = Some(FaultOverhead::default());
        fake.trace.threads[0].fault_ns = Some(200 * MS);
        fake.trace.threads[0].timed_faults = Some(8_000);
        fake.waits(None, None, Cause::Disk, 4_000, 100);
        let (id, ms) = won(&mut fake);
        assert_eq!(id, "cold-files");
        assert_eq!(ms, 400 + 200 - 4);
    }
}
