//! Detects threads that take a short lock from each other so often that the calls for it cost more than the
//! waiting: `lock-contention` without sleeps.

use crate::mechanisms::prelude::*;
use crate::runtimes::is_mutex;

/// Finds it if calls weren't counted: samples are in code that is only reached while another thread holds a
/// lock.
pub(crate) fn by_own_code(analysis: &Analysis<'_>) -> Option<Claim> {
    let profile = analysis
        .trace
        .profile
        .as_ref()
        .filter(|_| analysis.by_stops())?;
    let rows = profile.functions.iter();
    let rows = rows.filter(|row| Use::Contended.is_of(row));
    let fighting = totals(rows.map(|row| ((row.pid, row.tid), row.samples)));
    // A single sample may be of a join or a start.
    let fighting = fighting.into_iter().filter(|(_, samples)| *samples > 1);
    let by_process = grouped(fighting.map(|((pid, _), samples)| (pid, samples)));
    let sum = |samples: &[u64]| samples.iter().sum::<u64>();
    let fighting = by_process.into_iter().filter(|(pid, samples)| {
        let often = samples.len() > 1 && sum(samples) >= t::LEAST_SAMPLES_OF_NAMED;
        often && !analysis.runtime(Some(*pid)).idle_wait("futex")
    });
    let (pid, samples) = fighting.max_by_key(|(_, samples)| sum(samples))?;
    let threads = samples.len();
    let in_code = analysis.in_functions(|row| row.pid == pid && is_mutex(row));
    let in_code = analysis.when_oversubscribed(in_code);
    // The kernel's time is multiplied by the part of the calls that are for locks.
    let on_locks = analysis.traced_calls(|row| calls::is_lock(&row.name));
    let part = part_of(on_locks, analysis.traced_calls(|_| true));
    let in_kernel = analysis.when_oversubscribed(analysis.in_kernel_ns() * part);
    let cost = analysis.within_cpu(in_code + in_kernel);
    let statement = format!(
        "{threads} threads contended for a briefly held lock: they spent {} in its code, and about {} in the kernel \
         for it, {} of the wall time.",
        time(in_code),
        time(in_kernel),
        analysis.percent(cost),
    );
    Some(
        Claim::new(FindingId::LockContention, analysis, cost, statement)
            .evidence("threads that take it", threads, "threads")
            .evidence("in its code", in_code, "ns")
            .evidence("in the kernel for it (modelled)", in_kernel, "ns")
            .advice(ADVICE)
            .pid(pid)
            .likely(),
    )
}

const ADVICE: &str = "Take the lock less often: keep a sum per thread and add the sums up at the end, make several changes under one \
     lock, or use an atomic. The time lost to spinning, and to moving memory between CPUs, is not included.";

pub(crate) fn by_calls(analysis: &Analysis<'_>) -> Option<Claim> {
    let by_process = callers(analysis);
    let (pid, threads) = by_process.into_iter().max_by_key(|(_, threads)| *threads)?;
    // Idle threads may wait in the same call.
    if threads < 2 || analysis.runtime(Some(pid)).idle_wait("futex") {
        return None;
    }
    let on_locks = |row: &SyscallRow| row.pid == pid && calls::is_lock(&row.name);
    let calls = analysis.tally(on_locks);
    let (sleeps, asleep_ns) = sleeps(analysis, pid);
    if sleeps * t::CALLS_FOR_A_SLEEP > calls.calls {
        return None;
    }
    let cost = CallCost::with(&calls, analysis, on_locks).when_oversubscribed(analysis);
    if asleep_ns > t::SLEPT_OF_THRASHING * cost.in_kernel_ns {
        return None;
    }
    let statement = format!(
        "{threads} threads called the kernel {} times for a briefly held lock that they contend for, and hardly \
         ever slept for it; the calls",
        count(calls.calls),
    );
    Some(
        cost.finding(FindingId::LockContention, analysis, &statement)
            .evidence("threads that take it", threads, "threads")
            .evidence("calls", calls.calls, "calls")
            .evidence("sleeps", sleeps, "calls")
            .weighing(cost.in_kernel_ns)
            .advice(ADVICE)
            .pid(pid)
            .likely(),
    )
}

/// Returns how often threads repeatedly slept for locks, and for how long, in ns. A thread that waits for the
/// others to end sleeps only once.
fn sleeps(analysis: &Analysis<'_>, pid: u32) -> (u64, f64) {
    let rows = || {
        analysis
            .asleep_in(calls::is_lock)
            .filter(|row| row.pid == pid)
    };
    let long = rows().filter(|row| row.count >= t::MANY_LOCK_WAITS);
    let ns: u64 = long.map(|row| row.total_ns).sum();
    (rows().map(|row| row.count).sum(), ns as f64)
}

/// Returns for each process the number of threads with many calls for locks.
fn callers(analysis: &Analysis<'_>) -> BTreeMap<u32, usize> {
    let on_locks = analysis.calls(|row| calls::is_lock(&row.name));
    let calls = totals(on_locks.map(|row| ((row.pid, row.tid), row.calls)));
    let many = calls
        .into_iter()
        .filter(|(_, calls)| *calls >= t::CALLS_FOR_A_LOCK);
    totals(many.map(|((pid, _), _)| (pid, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns two threads with 400 ms in 400 000 calls each, and `sleeps` sleeps.
    fn thrashing(sleeps: u64, us: u64) -> Fake {
        let mut fake = Fake::new(1000);
        for tid in [ROOT, ROOT + 1] {
            if tid != ROOT {
                fake.thread(ROOT, tid, 0, 1000, 1000);
            }
            fake.calls("futex", None, 400_000, 0, 400);
            if let Some(row) = fake.trace.syscalls.last_mut() {
                row.tid = tid;
            }
            if sleeps > 0 {
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, sleeps, us);
            }
        }
        fake
    }

    fn reported(sleeps: u64) -> Vec<&'static str> {
        thrashing(sleeps, 1).ids()
    }

    #[test]
    fn calls_for_a_lock_that_hardly_ever_sleep_are_found() {
        assert_eq!(reported(0), ["lock-contention"]);
        assert_eq!(reported(1_000), ["lock-contention"]);
    }

    #[test]
    fn where_most_of_the_time_is_slept_away_the_calls_are_not_what_is_slow() {
        let found = |us| {
            let fake = thrashing(2_000, us);
            let timed = [fake.run()];
            by_calls(&Analysis::new(&fake.observation(&timed))).is_some()
        };
        assert!(found(50));
        assert!(!found(450));
    }

    #[test]
    fn what_too_many_threads_burn_for_a_lock_is_reported_and_not_that_they_are_too_many() {
        let found = |calls: u64| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 1, 999_000);
            for tid in 101..109 {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                fake.waits_of(tid, None, None, Cause::Preempted, 100, 7_500);
                fake.calls_of(tid, "futex", None, calls, 0, 400);
            }
            fake.calls("accept4", Some(3), 20, 0, 1_000);
            fake.findings().remove(0)
        };
        // This is 160 of each thread's 250 ms, and the same share of everything that both CPUs did.
        let lock = found(400_000);
        assert_eq!(lock.id, FindingId::LockContention);
        assert!((0.5..0.8).contains(&lock.share), "{lock:?}");
        assert_eq!(found(20_000).id, FindingId::CpuStarved);
    }

    #[test]
    fn threads_that_are_seen_in_the_code_of_a_held_lock_are_found() {
        use fathom_trace::Tier;
        let reported = |function: &str| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(Tier::Perf);
            fake.trace.calls_from = Some(Tier::Ptrace);
            fake.calls("futex", None, 900, 0, 0);
            for tid in [ROOT, ROOT + 1] {
                if tid != ROOT {
                    fake.thread(ROOT, tid, 0, 1000, 1000);
                }
                fake.in_function(tid, "/lib/libc.so.6", "pthread_mutex_lock", 300);
                fake.in_function(tid, "/lib/libc.so.6", function, 100);
                fake.in_function(tid, "/bin/program", "work", 600);
            }
            fake.findings()
        };
        let found = reported("__lll_lock_wait");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].id, FindingId::LockContention);
        hold_words("by_own_code", &found[0]);
        // A lock that isn't contended is taken without that code.
        assert!(reported("memcpy").is_empty());
    }

    #[test]
    fn threads_that_queue_and_lose_more_by_the_calls_are_reported_these() {
        let reported = |calls: u64| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 1, 999_000);
            for tid in 101..103 {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 400, 550);
                fake.calls_of(tid, "futex", None, calls, 0, 400);
            }
            fake.findings().remove(0).statement
        };
        let begins = "2 threads called the kernel 2,000,000 times for a briefly held lock";
        assert!(
            reported(1_000_000).starts_with(begins),
            "{}",
            reported(1_000_000)
        );
        let begins = "2 threads waited 800 times for locks";
        assert!(reported(8_000).starts_with(begins), "{}", reported(8_000));
    }

    #[test]
    fn hand_overs_that_sleep_are_not() {
        assert!(!reported(150_000).contains(&"lock-contention"));
    }
}
