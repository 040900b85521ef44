//! Detects that more threads want a CPU than there are CPUs, than the command gets, or than its control group
//! may use.

use crate::analysis::is_runnable;
use crate::mechanisms::per_item::library_work::mostly_hands_over;
use crate::mechanisms::prelude::*;
use crate::overhead_correction::on_cpu_ns;
use fathom_model::quantity::cpu_share;

/// Reports whether threads of the command were bound to CPUs.
fn were_bound(analysis: &Analysis<'_>) -> bool {
    let binds = |row: &SyscallRow| row.name == "sched_setaffinity" && row.calls > row.errors;
    analysis.trace.syscalls.iter().any(binds)
}

/// Returns whether the command accepted connections, whose requests it answers.
fn answers_requests(analysis: &Analysis<'_>) -> bool {
    let accepts = |row: &SyscallRow| calls::is_accept(&row.name) && row.calls > row.errors;
    analysis.trace.syscalls.iter().any(accepts)
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let cpus = analysis.observation.cpus.max(1) as f64;
    let busy = analysis.threads_that(|times| is_runnable(times, analysis.trace));
    let ready = busy.spent_ns(TimeCategory::Ready);
    let lived: f64 = busy.iter().map(|times| times.ns()).sum();
    let waiting = ready / lived.max(1.0);
    let oversubscribed =
        analysis.is_oversubscribed() && busy.len() as f64 > t::OVERSUBSCRIBED_PER_CPU * cpus;
    // Threads that only hand over work would hardly be busy if they handed over more at a time.
    if !oversubscribed || waiting < 0.4 || mostly_hands_over(analysis) {
        return None;
    }
    // While one thread waits, another works. Fewer threads would therefore finish the whole no sooner, but
    // each item sooner. Without their group's limit, they would wait less.
    let delay =
        analysis.untraced(ready / busy.len() as f64) - analysis.spent_ns(TimeCategory::Throttled);
    // If the critical thread gets a CPU whenever it needs one, it isn't starved, because the other threads
    // yield to it.
    if analysis.timed_ns - on_cpu_ns(&analysis.account) < t::DELAY_ON_PATH * delay {
        return None;
    }
    let used = analysis.cpu_ns / analysis.timed_ns;
    let others_idle = were_bound(analysis) && used <= t::CPUS_USED_BY_BOUND * cpus;
    // A few threads for each CPU finish the whole no later. When each piece of the work ends matters only if
    // others wait for it, as a server's clients do.
    let is_few = (busy.len() as f64) < t::CROWDED_PER_CPU * cpus;
    if is_few && !others_idle && !answers_requests(analysis) {
        return None;
    }
    let statement = format!(
        "{} busy threads share {}: each was ready but not running for {} on average, {} of the wall time.",
        busy.len(),
        match others_idle {
            true => format!(
                "{used:.1} of {cpus} CPUs, to which they were bound (`sched_setaffinity`, by the program or by `taskset`)"
            ),
            false => format!("{cpus} CPUs"),
        },
        time(delay),
        analysis.percent(delay),
    );
    let on_all_cpus = analysis.timed_ns - analysis.cpu_ns / cpus;
    let finding = match others_idle {
        true => Claim::new(FindingId::CpuStarved, analysis, on_all_cpus, statement)
            .advice("Let the threads run on all CPUs, or bind each to a CPU of its own.")
            .evidence("CPUs used", used, "CPUs"),
        false => Claim::new(FindingId::CpuStarved, analysis, delay, statement)
            .of_latency(on_all_cpus)
            .advice(match analysis.works.sizes() {
                Some(variable) => format!("Set `{variable}` to the number of CPUs: one thread per CPU."),
                None => "Start as many busy threads or processes as there are CPUs, and distribute the work from a \
                     queue.".to_owned(),
            }),
    };
    Some(
        finding
            .evidence("busy threads", busy.len(), "threads")
            .evidence("CPUs", cpus, "CPUs")
            .evidence("ready but not running, share of their time", waiting, "1")
            .weighing(delay)
            .least(Least::NONE.with_ns(t::LEAST_DELAY_NS))
            .pid(busy.first().map(|times| times.pid)),
    )
}

/// Finds runs that were stopped by the CPU limit of the command's own control group; the kernel counts for
/// how long. Smaller amounts appear only in the account.
pub(crate) fn by_limit(analysis: &Analysis<'_>) -> Option<Claim> {
    let throttled = analysis.spent_ns(TimeCategory::Throttled);
    let limit = analysis.observation.cpu_limit;
    let limit = limit.map_or_else(String::new, |cpus| format!(" ({})", cpu_share(cpus)));
    let runs = analysis.timed;
    let stopped = runs.iter().filter(|run| run.throttled_ns > Some(0)).count();
    let statement = format!(
        "The CPU limit of its control group{limit} stopped the command for {}, {} of the wall time, in {stopped} of {} timed runs.",
        time(throttled),
        analysis.percent(throttled),
        runs.len(),
    );
    Some(
        Claim::new(FindingId::CpuStarved, analysis, throttled, statement)
            .observed()
            .evidence("stopped by the limit", throttled, "ns")
            .advice(
                "Raise the limit (docker: `--cpus`; systemd: `CPUQuota=`; `cpu.max`), or use fewer CPUs at a time. \
                 Other programs are not the cause.",
            ),
    )
}

/// Finds threads that the command bound to CPUs which they share, in the timed runs as well as in the
/// observed one. Reported only if nothing else is found. If other programs had the CPUs, that says nothing
/// about the command itself and is only a warning.
pub(crate) fn bound(analysis: &Analysis<'_>) -> Option<Claim> {
    let ready = analysis.spent_ns(TimeCategory::Ready);
    // The command's own threads had the CPU, not other programs.
    let own = were_bound(analysis)
        && analysis.cpu_ns >= t::BUSY_THREAD * analysis.timed_ns
        && ready >= t::READY_SHARE * analysis.timed_ns;
    if analysis.is_oversubscribed() || !own {
        return None;
    }
    let statement = format!(
        "The command was ready to run but had no CPU for {}, {} of the wall time: it was bound to CPUs that its \
         threads share (`sched_setaffinity`, by itself or by `taskset`).",
        time(ready),
        analysis.percent(ready),
    );
    Some(
        Claim::new(FindingId::CpuStarved, analysis, ready, statement)
            .evidence("ready but not running", ready, "ns")
            .least(Least::NONE)
            .advice("Let the threads run on all CPUs, or bind each to a CPU of its own."),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::{Run, TimeCategory};
    use fathom_trace::Cause;

    use crate::fake::{Fake, MS, ROOT, hold_words};

    #[test]
    fn a_command_that_its_groups_limit_stops_is_named_as_that() {
        let mut fake = Fake::new(1000);
        fake.waits(None, None, Cause::Preempted, 60, 10_000);
        fake.trace.accounts.user_ns = 400 * MS;
        fake.cpu_limit = Some(0.4);
        let limited = Run {
            run_queue_wait_ns: Some(600 * MS),
            throttled_ns: Some(590 * MS),
            cpu_ns: 400 * MS,
            ..fake.run()
        };
        let found = crate::diagnose(&fake.observation(&[limited.clone(), limited]));
        assert_eq!(found.account.ns(TimeCategory::Throttled), 590 * MS);
        assert_eq!(found.findings.len(), 1, "{:?}", found.findings);
        hold_words("by_limit", &found.findings[0]);
        assert_eq!(found.findings[0].could_win_ns, 590 * MS);
        assert_eq!(
            found.findings[0].statement,
            "The CPU limit of its control group (40 % of a CPU) stopped the command for 590 ms, 59 % of the \
             wall time, in 2 of 2 timed runs."
        );
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    }

    fn busy(threads: u32) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 1, 999_000);
        let each = 2000 / u64::from(threads);
        for tid in 101..101 + threads {
            fake.thread(ROOT, tid, 0, 1000, 1000);
            fake.waits_of(
                tid,
                None,
                None,
                Cause::Preempted,
                100,
                (1000 - each.min(1000)) * 10,
            );
        }
        fake
    }

    #[test]
    fn sixteen_busy_threads_on_two_cpus_are_found() {
        assert_eq!(busy(16).ids(), ["cpu-starved"]);
    }

    #[test]
    fn a_few_for_each_cpu_matter_only_to_those_who_wait_for_answers() {
        let mut batch = busy(8);
        assert!(!batch.ids().contains(&"cpu-starved"));
        let mut server = busy(8);
        server.calls("accept4", Some(3), 20, 0, 1_000);
        assert!(server.ids().contains(&"cpu-starved"));
    }

    #[test]
    fn threads_that_are_woken_for_a_moment_are_not_busy_however_long_they_have_no_cpu() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 1, 999_000);
        for tid in 101..117 {
            fake.thread(ROOT, tid, 0, 1000, 1000);
            fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 100, 4_000);
            fake.waits_of(tid, Some("futex"), None, Cause::Ready, 100, 5_500);
            let thread = fake.trace.threads.last_mut().expect("just made");
            thread.voluntary_switches = Some(200);
        }
        fake.trace.busy_cpus_ns = Some(2_000_000_000);
        assert!(!fake.ids().contains(&"cpu-starved"));
    }

    #[test]
    fn busy_threads_that_were_bound_to_one_of_two_cpus_are_named_as_that() {
        let mut fake = busy(16);
        let timed = Run {
            cpu_ns: 990 * MS,
            ..fake.run()
        };
        let free = crate::diagnose(&fake.observation(std::slice::from_ref(&timed))).findings;
        assert!(
            free[0].statement.contains("share 2 CPUs:"),
            "{}",
            free[0].statement
        );
        fake.calls("sched_setaffinity", None, 6, 0, 1_000);
        let found = crate::diagnose(&fake.observation(&[timed])).findings;
        assert_eq!(found.len(), 1, "{found:?}");
        let bound = &found[0];
        assert!(
            bound
                .statement
                .contains("share 1.0 of 2 CPUs, to which they were bound"),
            "{}",
            bound.statement
        );
        assert_eq!(bound.could_win_ns, 505 * MS);
    }

    fn beside_others(waited_ms: u64, calls: Option<&str>) -> Option<String> {
        let mut fake = Fake::new(1000);
        fake.waits(None, None, Cause::Preempted, 70, 10_000);
        if let Some(call) = calls {
            fake.calls(call, None, 2, 0, 1_000);
        }
        fake.trace.accounts.user_ns = 300 * MS;
        let timed = Run {
            run_queue_wait_ns: Some(waited_ms * MS),
            cpu_ns: if calls.is_some() { 980 } else { 300 } * MS,
            ..fake.run()
        };
        let found = crate::diagnose(&fake.observation(&[timed])).findings;
        found
            .into_iter()
            .next()
            .map(|it| format!("{}: {}", it.id, it.statement))
    }

    #[test]
    fn a_command_that_others_keep_from_a_cpu_has_no_finding_for_that() {
        assert_eq!(beside_others(650, None), None);
    }

    #[test]
    fn what_a_command_does_itself_goes_before_its_neighbours() {
        let mut fake = Fake::new(1000);
        fake.waits(None, None, Cause::Preempted, 70, 10_000);
        fake.trace.accounts.user_ns = 300 * MS;
        fake.in_function(ROOT, "/bin/program", "parse", 290);
        let timed = Run {
            run_queue_wait_ns: Some(650 * MS),
            cpu_ns: 300 * MS,
            ..fake.run()
        };
        let found = crate::diagnose(&fake.observation(&[timed]));
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        let row = &found.whereabouts[0];
        assert_eq!(row.place.function.as_deref(), Some("parse"));
    }

    #[test]
    fn who_has_all_cpus_is_kept_from_them_by_nobody_else() {
        // The main thread yields to its two workers.
        let mut fake = Fake::new(1000);
        fake.waits(None, None, Cause::Preempted, 70, 10_000);
        let timed = Run {
            run_queue_wait_ns: Some(700 * MS),
            cpu_ns: 1950 * MS,
            ..fake.run()
        };
        let found = crate::diagnose(&fake.observation(&[timed])).findings;
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn threads_that_were_bound_to_one_cpu_are_named_as_that() {
        let reported = beside_others(650, Some("sched_setaffinity")).expect("a finding");
        assert!(reported.contains("was bound to CPUs"), "{reported}");
    }

    #[test]
    fn threads_that_stand_back_starve_nobody() {
        // The main thread computes all the time, and the others get the rest.
        let mut fake = busy(16);
        fake.trace.off_cpu.retain(|row| row.tid != ROOT);
        fake.trace.threads[0].on_cpu_ns = Some(1000 * MS);
        assert!(fake.ids().is_empty(), "{:?}", fake.ids());
    }

    #[test]
    fn one_for_each_cpu_is_right() {
        assert!(busy(2).ids().is_empty());
    }
}
