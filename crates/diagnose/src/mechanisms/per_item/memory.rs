//! Detects memory that is repeatedly allocated from the system and released.

use crate::mechanisms::prelude::*;

pub(crate) fn given_back(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = analysis.tally_calls(calls::is_memory);
    let given_back = analysis.tally_calls(calls::gives_back);
    if reads_ahead(analysis, given_back.calls) || maps_files(analysis, given_back.calls) {
        return None;
    }
    let touched_again = touched_again(analysis, all.pid, given_back.calls);
    let least = match touched_again {
        Some(_) => t::MANY_MEMORY_CALLS_TOUCHED_AGAIN,
        None => t::MANY_MEMORY_CALLS,
    };
    // A program that starts maps its libraries and unmaps little.
    if all.calls < least || given_back.calls * 5 < all.calls {
        return None;
    }
    // Released memory causes a fault again at its next first access.
    let faults = analysis.fault_cost().ns;
    let again = match touched_again {
        Some(part) => faults * part,
        None if given_back.calls * 3 >= all.calls => faults * 0.8,
        None => 0.0,
    };
    let cost = (all.cost_ns + again).min(0.97 * analysis.cpu_ns);
    let often = all.calls >= t::VERY_MANY_MEMORY_CALLS || touched_again.is_some();
    let dear = analysis.share(all.cost_ns) >= 2.0 * t::LEAST_SHARE;
    let of_heap = analysis.tally_calls(|name| name == "brk");
    let least = match 2 * of_heap.calls > all.calls {
        true => t::HEAP_SHARE,
        false => t::MEMORY_CALLS_SHARE,
    };
    if !(often || dear) {
        return None;
    }
    let library = analysis.library_ns(|row| calls::is_memory(&row.name));
    let in_kernel = cost;
    let cost = (in_kernel + library).min(0.97 * analysis.cpu_ns);
    let statement = format!(
        "{} calls took memory from the system and returned it; with the page faults that follow, they cost {}.",
        count(all.calls),
        analysis.time_and_share(cost),
    );
    Some(
        Claim::new(FindingId::AllocatorChurn, analysis, cost, statement)
            .evidence("memory calls", all.calls, "calls")
            .evidence("of these, calls that return memory", given_back.calls, "calls")
            .advice("Allocate large buffers once and reuse them; with glibc raise M_MMAP_THRESHOLD and M_TRIM_THRESHOLD \
                 (`mallopt`), or use an allocator that keeps memory. If a file is mapped again and again, map it \
                 once.")
            .pid(all.pid)
            .weighing(in_kernel)
            .least(Least::share(least)),
    )
}

/// Reports whether most of the calls may be advice to read a mapped file ahead. Released pages don't wait for
/// a disk when they are accessed again. (The advice itself is not traced.)
fn reads_ahead(analysis: &Analysis<'_>, given_back: u64) -> bool {
    let advice = analysis.tally_calls(|name| name == "madvise");
    2 * advice.calls > given_back && analysis.account.share(TimeCategory::Disk) >= t::LEAST_SHARE
}

/// Reports whether files are mapped and unmapped one after another, as git does with loose objects; that
/// counts as reading.
fn maps_files(analysis: &Analysis<'_>, given_back: u64) -> bool {
    let opens = analysis.tally_calls(calls::opens_file);
    2 * (opens.calls - opens.errors.min(opens.calls)) > given_back
}

/// Returns the part of a process's first accesses to pages that was for memory it had before and released.
/// This is inferred from the fact that it never had nearly as many pages at once. Returns `None` if that
/// isn't the case.
fn touched_again(analysis: &Analysis<'_>, pid: Option<u32>, given_back: u64) -> Option<f64> {
    let threads = analysis
        .trace
        .threads
        .iter()
        .filter(|it| Some(it.pid) == pid);
    let faults: u64 = threads.filter_map(|thread| thread.minor_faults).sum();
    let peaks = analysis.timed.iter().map(|run| run.peak_memory_bytes);
    let had = peaks.max()? / PAGE_BYTES;
    // A program that maps files one after another never has all of them mapped at once either.
    let opened = analysis.tally_calls(calls::opens_file);
    let is_so = had > 0 && faults >= had * t::TOUCHED_AGAIN && given_back >= 2 * opened.calls;
    is_so.then(|| 1.0 - had as f64 / faults as f64)
}

/// The number of bytes that one fault usually brings in.
const PAGE_BYTES: u64 = 4096;

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn files_that_are_mapped_one_after_another_are_read() {
        let reported = |opens: u64| {
            let mut fake = Fake::new(50);
            fake.calls("mmap", None, 2_775, 0, 4_000);
            fake.calls("munmap", None, 2_755, 0, 4_000);
            fake.calls("openat", None, opens, 0, 3_000);
            fake.ids().contains(&"allocator-churn")
        };
        assert!(reported(1));
        assert!(!reported(2_780));
    }

    #[test]
    fn memory_that_is_touched_again_and_again_is_reported_with_few_calls() {
        // 100 ms of first accesses, with no more than `peak` bytes at once.
        let reported = |peak: u64| {
            let mut fake = Fake::new(300);
            fake.calls("brk", None, 7_500, 0, 6_000);
            fake.trace.threads[0].minor_faults = Some(200_000);
            let mut run = fake.run();
            run.peak_memory_bytes = peak;
            let timed = [run];
            let found = crate::diagnose(&fake.observation(&timed)).findings;
            found
                .into_iter()
                .map(|finding| finding.id.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(reported(3 << 20), ["allocator-churn"]);
        assert_eq!(reported(800 << 20), ["page-fault-heavy"]);
    }

    #[test]
    fn taking_and_giving_back_is_found() {
        let mut fake = Fake::new(1000);
        fake.calls("mmap", None, 100_000, 0, 1_000);
        fake.calls("munmap", None, 100_000, 0, 2_000);
        assert_eq!(fake.ids(), ["allocator-churn"]);
    }

    #[test]
    fn mapping_the_files_that_are_compared_is_not() {
        let mut fake = Fake::new(1000);
        fake.calls("mmap", None, 30_000, 0, 3_000);
        fake.calls("munmap", None, 30_000, 0, 3_500);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn advice_to_read_a_mapped_file_ahead_is_not() {
        let reported = |disk_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("madvise", None, 30_000, 0, 10_000);
            fake.waits(None, None, Cause::Disk, disk_ms, 1_000);
            fake.ids().contains(&"allocator-churn")
        };
        assert!(reported(0));
        assert!(!reported(300));
    }

    #[test]
    fn a_heap_that_only_grows_is_not() {
        let mut fake = Fake::new(1000);
        fake.calls("mmap", None, 3_000, 0, 30_000);
        assert!(!fake.ids().contains(&"allocator-churn"));
    }
}
