//! Detects that a thread is created for each small piece of work.

use crate::mechanisms::prelude::*;

/// Finds threads each of which contains a whole engine, which is slow to start. If many of them live for only
/// a part of their process's life, and only a few at once, each of them does one piece of work.
pub(crate) fn engines(analysis: &Analysis<'_>) -> Option<Claim> {
    let is_short = |times: &&ThreadTimes| {
        let process = analysis.thread(times.pid);
        let engine = analysis.runtime(Some(times.pid)).engine_ns;
        times.tid != times.pid
            && process.is_some_and(|main| times.ns() < t::PART_OF_A_PROCESS * main.ns())
            && engine.is_some_and(|(least, _)| times.on_cpu_ns >= least)
    };
    let workers: Vec<&ThreadTimes> = analysis.threads.iter().filter(is_short).collect();
    let runtime = analysis.runtime(workers.first().map(|times| times.pid));
    let (_, most) = runtime.engine_ns?;
    let (from, to) = workers.span()?;
    let lived: f64 = workers.iter().map(|times| times.ns()).sum();
    let at_once = lived / to.saturating_sub(from).max(1) as f64;
    // A pool starts all of its threads at once.
    if at_once > workers.len() as f64 / 4.0 {
        return None;
    }
    // The fastest thread did next to nothing except start.
    let start = workers.least_and_most_cpu_ns().0.min(most);
    let weight = |times: &&ThreadTimes| analysis.weight(times.tid);
    let cost = analysis.untraced(start * workers.iter().map(weight).sum::<f64>());
    if workers.len() < t::MANY_ENGINES {
        return None;
    }
    let statement = format!(
        "{} {} were created and ended; starting one takes up to {} of CPU time, starting all of them {}.",
        count(workers.len()),
        runtime.tasks(),
        time(start),
        analysis.time_and_share(cost),
    );
    Some(
        Claim::new(FindingId::ThreadSpawning, analysis, cost, statement)
            .evidence("threads made", workers.len(), "threads")
            .evidence("CPU time of the quickest start", start, "ns")
            .advice("Keep a few workers, as many as there are CPUs, and send them one message per piece of work.")
            .pid(workers.first().map(|times| times.pid))
            .likely(),
    )
}

pub(crate) fn many(analysis: &Analysis<'_>) -> Option<Claim> {
    let made = analysis.tally_calls(calls::makes_thread);
    let processes = analysis.trace.processes.len() as u64;
    // If calls are traced only for a while, the threads themselves are still all known.
    let traced = (analysis.trace.threads.len() as u64).saturating_sub(processes);
    let threads = (made.calls + 1).saturating_sub(processes).max(traced);
    let all = analysis.traced_calls(|_| true);
    // A thread takes 10 to 20 calls, for its stack, its masks and its end. More calls mean other work in the
    // kernel.
    if threads < t::MANY_THREADS || all > threads * t::CALLS_OF_A_THREAD {
        return None;
    }
    let in_kernel = in_kernel_ns(analysis);
    let around = in_kernel + waited_for_each_ns(analysis, threads);
    let cost = in_kernel.max(all_but_the_work(analysis, made.pid, threads));
    let mut statement = format!(
        "{} threads were created, one every {}; creating them, waking them and ending them costs {} in the kernel",
        count(threads),
        time(analysis.timed_ns / threads as f64),
        time(in_kernel),
    );
    if cost > (1.0 + t::WORK_WORTH_REPORTING) * in_kernel {
        statement += &format!(
            ", and {} with the waits for them and the library's part",
            time(cost)
        );
    }
    statement += &format!(", {} of the wall time.", analysis.percent(cost));
    Some(
        Claim::new(FindingId::ThreadSpawning, analysis, cost, statement)
            .evidence("threads made", threads, "threads")
            .advice(analysis.runtime(made.pid).advice(&[Topic::Threads]))
            .pid(made.pid)
            .likely()
            .weighing(around),
    )
}

/// Returns the kernel's part. Samples don't show who ended a wait, so the threads' activity is hidden in the
/// waits for them. In that case this is the kernel time of all threads, as far as there is room for it.
fn in_kernel_ns(analysis: &Analysis<'_>) -> f64 {
    let on_path = analysis.in_kernel_ns();
    if !analysis.only_samples() {
        return on_path;
    }
    let charged = &analysis.trace.accounts;
    let share = charged.system_ns as f64 / (charged.user_ns + charged.system_ns).max(1) as f64;
    let all = share * analysis.cpu_ns;
    all.min(on_path + analysis.spent_ns(TimeCategory::Locks))
        .max(on_path)
}

/// Returns how long one thread waits for others of its process, if it waits for nearly every thread that is
/// created. In Python, the creator waits until the thread has started.
fn waited_for_each_ns(analysis: &Analysis<'_>, threads: u64) -> f64 {
    let ends = analysis.ends_of_waits(calls::is_lock);
    let most = ends.iter().max_by_key(|(_, ends)| ends.own.count);
    let each = most.filter(|(_, ends)| ends.own.count * t::THREADS_FOR_A_WAIT >= threads);
    let waited = each.map_or(0.0, |(tid, ends)| {
        ends.own.ns as f64 * analysis.weight(*tid)
    });
    waited.min(analysis.spent_ns(TimeCategory::Locks))
}

/// Returns the time that would disappear without the threads: the kernel's part, the waits of one for
/// another, and the library code that creates them. Their actual work must be done in any case, at worst
/// sequentially.
fn all_but_the_work(analysis: &Analysis<'_>, pid: Option<u32>, threads: u64) -> f64 {
    let with_them = analysis.spent_on(&[
        TimeCategory::Locks,
        TimeCategory::Ready,
        TimeCategory::UserCode,
    ]);
    let work = analysis.work_of_threads_ns(pid, threads);
    (analysis.in_kernel_ns() + with_them).min(analysis.wall_ns - work)
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, ROOT, hold_words};

    fn reported(threads: u64, others: u64) -> bool {
        let mut fake = Fake::new(1000);
        fake.calls("clone3", None, threads, 0, 15_000);
        fake.calls("mprotect", None, threads * 2, 0, 2_500);
        fake.calls("getppid", None, others, 0, 100);
        fake.ids().contains(&"thread-spawning")
    }

    #[test]
    fn a_thread_for_each_item_is_found() {
        assert!(reported(20_000, 0));
    }

    #[test]
    fn a_pool_and_a_program_with_other_calls_are_not() {
        assert!(!reported(16, 0));
        assert!(!reported(20_000, 2_000_000));
    }

    #[test]
    fn threads_that_each_are_waited_for_are_known_by_the_waits() {
        let reported = |waits: u64| {
            let mut fake = Fake::new(2000);
            fake.calls("clone3", None, 1_200, 0, 15_000);
            fake.thread(ROOT, ROOT + 1, 0, 2000, 100);
            for n in 0..waits {
                let from = 10 + n * 1_900 / waits;
                fake.wait_for(
                    ROOT,
                    "futex",
                    None,
                    (from, from + 1, from + 1),
                    Some(ROOT + 1),
                );
            }
            fake.ids().contains(&"thread-spawning")
        };
        assert!(reported(1_000));
        // There are only a few joins, or none.
        assert!(!reported(20) && !reported(1));
    }

    #[test]
    fn a_worker_of_node_for_each_piece_of_work_is_found() {
        let reported = |workers: u64, language, each_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(language);
            fake.waits(Some("futex"), None, fathom_trace::Cause::Asleep, 40, 24_000);
            for n in 0..workers {
                let from = 20 + n * 1000 / workers.max(1) * 9 / 10;
                fake.thread(ROOT, ROOT + 1 + n as u32, from, from + each_ms, 20);
            }
            let found = fake.findings();
            found
                .into_iter()
                .find(|it| it.id == FindingId::ThreadSpawning)
        };
        hold_words(
            "engines",
            &reported(40, crate::Language::Node, 25).expect("a finding"),
        );
        // These are a pool, a few threads, and threads of another language.
        assert!(reported(40, crate::Language::Node, 900).is_none());
        assert!(reported(12, crate::Language::Node, 390).is_none());
        assert!(reported(4, crate::Language::Node, 25).is_none());
        assert!(reported(40, crate::Language::C, 25).is_none());
    }

    /// Returns the saving for a second of which the kernel takes 600 ms and the threads' own code takes the
    /// rest.
    fn could_win_ms(language: crate::Language) -> f64 {
        let mut fake = Fake::new(1000);
        fake.language = Some(language);
        fake.calls("clone3", None, 20_000, 0, 30_000);
        let timed = [fake.run()];
        let diagnosis = crate::diagnose(&fake.observation(&timed));
        diagnosis.findings[0].could_win_ns as f64 / 1e6
    }

    #[test]
    fn what_they_were_made_for_stays() {
        let c = could_win_ms(crate::Language::C);
        // The work around each of 20,000 threads takes at most 6 µs.
        assert!((c - 720.0).abs() < 10.0, "{c}");
        let rust = could_win_ms(crate::Language::Rust);
        assert!((rust - 760.0).abs() < 10.0, "{rust}");
    }
}
