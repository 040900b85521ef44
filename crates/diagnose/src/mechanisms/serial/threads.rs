//! Detects programs with several threads that use only one CPU.

use super::evenly;
use crate::intervals::woken_ns;
use crate::mechanisms::prelude::*;
use crate::runtimes::ThreadNames;
use fathom_trace::Tier;

/// The time, in nanoseconds, within which threads that are created together start.
const TOGETHER_NS: u64 = 5_000_000;

/// Returns threads of one process that were created to share work. They have the same name, are alive at the
/// same time, and each has a part of the CPU time; or one thread has all of it, and the others were created
/// with it and ended at once.
fn workers<'a>(analysis: &'a Analysis<'_>, pid: u32, go: bool) -> Vec<&'a ThreadTimes> {
    let least = if go { 0.05 } else { 0.01 } * analysis.trace.duration_ns as f64;
    let works = |times: &ThreadTimes| {
        let enough = times.pid == pid && times.on_cpu_ns >= least;
        enough && (go || times.tid != pid && computes(analysis, times))
    };
    let threads = named(analysis).filter(|(_, times)| works(times));
    let by_stem = grouped(threads.map(|(name, times)| (stem(name), times)));
    let mut most = largest(by_stem.into_values(), |it| it.cpu_ns()).unwrap_or_default();
    if let [alone] = most[..]
        && !go
    {
        most.extend(left_without_work(analysis, alone));
    }
    most
}

/// Returns all threads with their names.
fn named<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = (&'a str, &'a ThreadTimes)> {
    let threads = analysis.trace.threads.iter().zip(&analysis.threads);
    threads.map(|(thread, times)| (thread.name.as_str(), times))
}

/// Returns the name that threads of one kind share, without the numbers that pools and runtimes append.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
}

/// Reports whether a thread computes for at least half of its time on a CPU. A thread that reads or writes
/// for the others doesn't share their work, though it often has the same name. If calls aren't timed, samples
/// of its own code decide, if there are any.
fn computes(analysis: &Analysis<'_>, times: &ThreadTimes) -> bool {
    if analysis.trace.tier != Some(Tier::Kernel) {
        let own = analysis.in_own_code_ns(times.tid);
        return own.is_none_or(|own| own * 2.0 >= times.on_cpu_ns);
    }
    let moves = |spent| matches!(spent, TimeCategory::KernelIo | TimeCategory::KernelFiles);
    let in_calls = times.sums.of(moves);
    in_calls * 2.0 < times.on_cpu_ns
}

/// Returns how long a thread was able to run: while it waits for a CPU, it lives longer because others have
/// the CPU.
fn able_ns(times: &ThreadTimes) -> f64 {
    times.on_cpu_ns + times.sums.get(TimeCategory::Ready)
}

/// Reports whether these threads of a process were created one right after the other. Time in which the
/// creating thread waited for a CPU doesn't count.
fn are_made_together(analysis: &Analysis<'_>, one: &ThreadTimes, other: &ThreadTimes) -> bool {
    let from = one.from_ns.min(other.from_ns);
    let to = one.from_ns.max(other.from_ns);
    let waits = analysis.trace.timeline.iter().flatten();
    let of_makers = waits.filter(|it| it.pid == one.pid && ![one.tid, other.tid].contains(&it.tid));
    let ready = of_makers.map(|it| it.to_ns.min(to).saturating_sub(woken_ns(it).max(from)));
    to - from <= TOGETHER_NS || (to - from).saturating_sub(ready.sum()) <= TOGETHER_NS
}

/// Returns threads like this one that were created with it and ended at once, because this one had taken all
/// the work.
fn left_without_work<'a>(
    analysis: &'a Analysis<'_>,
    busy: &'a ThreadTimes,
) -> impl Iterator<Item = &'a ThreadTimes> {
    let own = named(analysis).find(|(_, times)| times.tid == busy.tid);
    let own = own.map(|(name, _)| stem(name));
    let is_left = move |name: &str, times: &ThreadTimes| {
        times.pid == busy.pid
            && times.tid != busy.tid
            && times.tid != times.pid
            && Some(stem(name)) == own
            && times.ns() - times.sums.get(TimeCategory::Ready) <= 0.05 * busy.ns()
            && are_made_together(analysis, busy, times)
    };
    let left = named(analysis).filter(move |(name, times)| is_left(name, times));
    left.map(|(_, times)| times)
}

/// Reports whether a thread waited more than once per worker for results of these threads. A single job can't
/// be split from outside, but several jobs can be distributed. This is unknown without a timeline.
fn gave_several(analysis: &Analysis<'_>, workers: &[&ThreadTimes]) -> bool {
    let pid = workers.first().map(|worker| worker.pid);
    // The thread that runs `main` has the name of the process. The virtual machine's threads have other
    // names.
    let threads = || named(analysis).filter(|(_, times)| Some(times.pid) == pid);
    let main = threads().find(|(_, times)| times.tid == times.pid);
    let main = main.map(|(name, _)| name);
    let asks = |tid| threads().any(|(name, times)| times.tid == tid && Some(name) == main);
    let is_worker = |tid| workers.iter().any(|worker| worker.tid == tid);
    let waits = analysis.ended_waits(calls::is_lock);
    let results = waits.filter(|(wait, by)| is_worker(*by) && asks(wait.tid));
    !workers.is_empty() && results.count() >= t::LEAST_RESULTS * workers.len()
}

/// Reports whether threads wait for something outside more than they wait for each other and for a CPU. Such
/// threads exist to keep several requests in flight, and what they compute isn't work that needs to be
/// distributed.
fn awaits_outside(workers: &[&ThreadTimes]) -> bool {
    use TimeCategory::{Disk, Network, WaitingForChild, WaitingForEvents, WaitingForPipe};
    let outside = [
        Network,
        Disk,
        WaitingForPipe,
        WaitingForChild,
        WaitingForEvents,
    ];
    let outside: f64 = outside.map(|spent| workers.spent_ns(spent)).iter().sum();
    outside > workers.spent_ns(TimeCategory::Locks) + workers.spent_ns(TimeCategory::Ready)
}

/// Reports whether all but the busiest thread wait, again and again, for another one's response to their
/// requests. A server and its clients don't share one job, so more threads wouldn't help. The busiest thread
/// need not wait itself: if they share a CPU, the next request arrives before it goes to sleep.
fn serve_one_another(analysis: &Analysis<'_>, workers: &[&ThreadTimes]) -> bool {
    let is_worker = |tid: u32| workers.iter().any(|worker| worker.tid == tid);
    let ends = analysis.ends_of_waits_by(calls::is_lock, |_, by| is_worker(by));
    let in_turn = |worker: &&ThreadTimes| {
        let ends = ends.get(&worker.tid).copied().unwrap_or_default();
        let (own, all) = (ends.own, ends.all());
        own.count >= t::LEAST_RESULTS as u64 && own.count * 10 >= all.count * 9
    };
    let busiest = largest(workers, |worker| worker.on_cpu_ns).map(|worker| worker.tid);
    let mut others = workers.iter().filter(|worker| Some(worker.tid) != busiest);
    workers.len() > 1 && others.all(in_turn)
}

/// Returns threads of executors, recognized by their names (`pool-1-thread-1`). A thread that is alone in its
/// pool and works nearly all the time was given all the work. Several threads alternate if each result is
/// awaited before the next job is given.
fn executor<'a>(analysis: &'a Analysis<'_>, pid: u32, names: &ThreadNames) -> Vec<&'a ThreadTimes> {
    let own = named(analysis).filter(|(_, times)| times.pid == pid);
    let own = own.filter(|(name, _)| name.starts_with(&names.pool));
    let (called, mut pool): (Vec<&str>, Vec<&ThreadTimes>) = own.unzip();
    let whole = pool.len() > 1 || called.iter().all(|it| it.ends_with(&names.first_of_pool));
    if !whole || !gave_several(analysis, &pool) {
        pool.clear();
    }
    pool
}

/// Returns the one of a program's unnamed threads that has all the work, followed by those that ended at
/// once.
fn one_of_several<'a>(
    analysis: &'a Analysis<'_>,
    pid: u32,
    names: &ThreadNames,
) -> Vec<&'a ThreadTimes> {
    let own = named(analysis).filter(|(_, times)| times.pid == pid);
    let own = own.filter(|(name, _)| stem(name) == names.unnamed);
    let Some((_, busy)) = largest(own, |(_, times)| times.on_cpu_ns) else {
        return Vec::new();
    };
    let others: Vec<&ThreadTimes> = left_without_work(analysis, busy).collect();
    match others.is_empty() || !computes(analysis, busy) {
        true => Vec::new(),
        false => [vec![busy], others].concat(),
    }
}

/// Returns how many CPUs the other threads of the process used while the workers lived.
fn others_cpus(analysis: &Analysis<'_>, pid: u32, workers: &[&ThreadTimes]) -> f64 {
    let (from, to) = workers.span().unwrap_or_default();
    let is_other = |times: &&ThreadTimes| workers.iter().all(|worker| worker.tid != times.tid);
    let used = analysis.threads_of(pid).filter(is_other).map(|times| {
        let overlap = times.to_ns.min(to).saturating_sub(times.from_ns.max(from));
        times.on_cpu_ns * overlap as f64 / times.ns().max(1.0)
    });
    used.sum::<f64>() / to.saturating_sub(from).max(1) as f64
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let cpus = analysis.observation.cpus;
    let found = analysis.trace.processes.iter().filter_map(|process| {
        let runtime = analysis.runtime(Some(process.pid));
        // The runtime's own threads share one name, and work alongside the program's single thread.
        if cpus < 2 || runtime.has(Habit::OneThread) {
            return None;
        }
        let moves_work = runtime.has(Habit::MovesWork);
        let names_pools = runtime.thread_names.is_some();
        let workers = match &runtime.thread_names {
            Some(names) => match executor(analysis, process.pid, names) {
                none if none.is_empty() => one_of_several(analysis, process.pid, names),
                pool => pool,
            },
            None => workers(analysis, process.pid, moves_work),
        };
        let alone_in_pool = names_pools && workers.len() == 1;
        let too_few = workers.len() < 2 && !alone_in_pool;
        if too_few || awaits_outside(&workers) || serve_one_another(analysis, &workers) {
            return None;
        }
        // The thread that distributes the work may do a part of it. In a virtual machine, other threads
        // compile and collect garbage.
        if !names_pools && others_cpus(analysis, process.pid, &workers) >= t::OTHERS_CPUS {
            return None;
        }
        // If work moves between many threads, only threads that are bound to their work have equal parts of
        // it and still run one at a time.
        let (least, most) = workers.least_and_most_cpu_ns();
        if moves_work && (workers.len() <= cpus.max(3) || least < 0.7 * most) {
            return None;
        }
        let cpu = workers.cpu_ns();
        let busiest = workers.iter().map(|l| able_ns(l)).fold(0.0, f64::max);
        let (from, to) = workers.span()?;
        let span = (to - from) as f64;
        let used = (cpu + workers.spent_ns(TimeCategory::Ready)) / span.max(1.0);
        // One thread works while the others wait, either alternately or all the time.
        let alone = used < 1.25 && used > 0.7;
        let lopsided = busiest > t::BUSY_THREAD * span;
        let in_turn = workers.len() > cpus || !lopsided;
        // CPU time that other programs took doesn't count as idle.
        let own = span * analysis.quiet;
        let spread = own / cpus.min(workers.len().max(2)) as f64;
        let saving = analysis.untraced(own - spread.max(cpu / cpus as f64));
        (alone && (lopsided || in_turn)).then_some((process.pid, workers.len(), used, saving))
    });
    let (pid, threads, used, saving) = largest(found, |(.., saving)| *saving)?;
    let share = match threads {
        1 => "1 thread does all the work and uses".to_owned(),
        _ => format!("{threads} threads share the work and use"),
    };
    let who_works = format!("{share} {used:.2} of {cpus} CPUs");
    Some(
        evenly(analysis, saving, &who_works)
            .evidence("threads", threads, "threads")
            .evidence("CPUs used", used, "CPUs")
            .advice("Distribute the work over as many threads as there are CPUs, in more pieces than there are threads, \
                 and make sure that no lock or single stage serialises them.")
            .pid(pid),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::{Cause, Tier};

    use crate::fake::{Fake, ROOT};

    fn workers(cpu: [u64; 2]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 2, 499_000);
        for (tid, cpu) in (101..).zip(cpu) {
            fake.thread(ROOT, tid, 0, 1000, 1000);
            fake.waits_of(
                tid,
                Some("futex"),
                None,
                Cause::Asleep,
                3,
                (1000 - cpu) * 333,
            );
        }
        fake
    }

    #[test]
    fn one_worker_with_all_the_work_is_found() {
        assert_eq!(workers([980, 30]).ids(), ["idle-cores"]);
    }

    #[test]
    fn who_asks_and_who_serves_share_no_work() {
        let reported = |ended_by: [u32; 2]| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 2, 499_000);
            for tid in [101, 102] {
                fake.thread(ROOT, tid, 0, 1000, 1000);
            }
            for turn in 0..20 {
                let from = turn * 50;
                fake.wait_for(
                    101,
                    "futex",
                    None,
                    (from, from + 6, from + 6),
                    Some(ended_by[0]),
                );
                fake.wait_for(
                    102,
                    "futex",
                    None,
                    (from + 6, from + 49, from + 49),
                    Some(ended_by[1]),
                );
            }
            fake.ids().contains(&"idle-cores")
        };
        assert!(!reported([102, 101]));
        assert!(reported([ROOT, ROOT]), "a third one hands out the work");
    }

    #[test]
    fn who_reads_for_a_worker_shares_no_work_with_it() {
        let mut fake = workers([980, 30]);
        fake.calls_of(102, "read", Some(3), 200, 131_072, 140_000);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn where_calls_are_not_timed_samples_show_who_computes() {
        let reported = |samples: u64| {
            let mut fake = workers([980, 30]);
            fake.trace.tier = Some(Tier::Perf);
            fake.in_function(101, "/bin/zstd", "", 970);
            fake.in_function(102, "/bin/zstd", "", samples);
            fake.ids()
        };
        assert_eq!(reported(28), ["idle-cores"]);
        assert!(reported(2).is_empty());
    }

    #[test]
    fn one_that_took_all_and_one_that_found_nothing_are_found() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 2, 499_000);
        fake.thread(ROOT, 101, 5, 1000, 990);
        fake.thread(ROOT, 102, 6, 7, 0);
        assert_eq!(fake.ids(), ["idle-cores"]);
    }

    #[test]
    fn others_that_have_the_cpus_change_nothing_of_that() {
        let mut fake = Fake::new(1000);
        // The creating thread had no CPU between the two, and the busy one had a CPU for half of the time.
        fake.wait_for(ROOT, "futex", None, (6, 6, 16), None);
        fake.wait_for(ROOT, "futex", None, (18, 999, 999), Some(101));
        fake.thread(ROOT, 101, 5, 1000, 990);
        fake.waits_of(101, None, None, Cause::Preempted, 50, 10_000);
        fake.thread(ROOT, 102, 17, 50, 33);
        fake.waits_of(102, None, None, Cause::Preempted, 1, 32_000);
        assert_eq!(fake.ids(), ["idle-cores"]);
    }

    #[test]
    fn a_worker_beside_a_helper_that_lives_on_is_not() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 2, 499_000);
        fake.thread(ROOT, 101, 5, 1000, 990);
        fake.thread(ROOT, 102, 6, 1000, 994);
        fake.waits_of(102, Some("futex"), None, Cause::Asleep, 1, 993_000);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn an_executor_of_one_thread_is_reported_in_java_if_it_had_several_jobs() {
        let reported = |jobs: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Java);
            fake.thread(ROOT, 101, 0, 1000, 990);
            fake.trace.threads.last_mut().unwrap().name = "pool-1-thread-1".to_owned();
            let each = 1000 / jobs;
            for job in 0..jobs {
                let (from, to) = (job * each + 1, (job + 1) * each - 1);
                fake.wait_for(ROOT, "futex", None, (from, to, to), Some(101));
            }
            fake.ids()
        };
        assert_eq!(reported(10), ["idle-cores"]);
        assert!(reported(1).is_empty());
    }

    #[test]
    fn a_thread_of_java_that_took_all_is_found() {
        let reported = |other_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Java);
            fake.waits(Some("futex"), None, Cause::Asleep, 2, 499_000);
            for (tid, to, cpu) in [(101, 1000, 990), (102, 6 + other_ms, other_ms)] {
                fake.thread(ROOT, tid, 5, to, cpu);
                let name = format!("Thread-{}", tid - 101);
                fake.trace.threads.last_mut().unwrap().name = name;
            }
            fake.ids().contains(&"idle-cores")
        };
        assert!(reported(1));
        assert!(!reported(600), "the other worked as well");
    }

    #[test]
    fn an_executor_of_which_each_result_is_awaited_first_is_reported_in_java() {
        let reported = |awaited: bool| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Java);
            for tid in 101..105 {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                fake.trace.threads.last_mut().unwrap().name =
                    format!("pool-1-thread-{}", tid - 100);
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 25, 30_000);
            }
            for job in 0..100 {
                let (from, to) = (job * 10 + 1, (job + 1) * 10 - 1);
                let by = awaited.then_some(101 + job as u32 % 4);
                fake.wait_for(ROOT, "futex", None, (from, to, to), by);
            }
            fake.ids().contains(&"idle-cores")
        };
        assert!(reported(true));
        assert!(!reported(false));
    }

    #[test]
    fn threads_that_await_replies_are_not() {
        let mut fake = workers([500, 500]);
        for tid in 101..103 {
            fake.trace.off_cpu.retain(|row| row.tid != tid);
            fake.descriptor(3, "socket");
            fake.waits_of(tid, Some("recvfrom"), Some(3), Cause::Asleep, 50, 10_000);
        }
        assert!(!fake.ids().contains(&"idle-cores"));
    }

    #[test]
    fn workers_made_one_after_another_beside_a_thread_that_works_too_are_not() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 4, 50_000);
        for (tid, from) in (101..).zip([0, 250, 500, 750]) {
            fake.thread(ROOT, tid, from, from + 249, 240);
        }
        assert!(!fake.ids().contains(&"idle-cores"));
    }

    #[test]
    fn work_that_is_shared_is_not() {
        assert!(workers([980, 950]).ids().is_empty());
    }
}
