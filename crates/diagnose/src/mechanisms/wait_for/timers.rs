//! Detects programs that sleep deliberately.

use fathom_trace::Activity;

use super::{grace, looks, tries};
use crate::mechanisms::contend;
use crate::mechanisms::prelude::*;

/// The minimum share of the wall time that pauses for a child's end must waste. Python's pauses grow to 50
/// ms, and a helper that ended within 8 ms of being signalled cost a tenth of 80 ms.
const SHARE_OF_LOOKING: f64 = 0.3;

pub(crate) fn timers(analysis: &Analysis<'_>) -> Option<Claim> {
    // The time after a sleep during which the thread is ready but not running has its own row.
    let naps = |fits: &dyn Fn(&OffCpuRow) -> bool| {
        analysis.off(|row| {
            let call = row.call.as_deref();
            let sleeps = call.is_some_and(calls::is_sleep) || analysis.is_pause(call, row.object);
            sleeps && row.cause == Cause::Asleep && fits(row)
        })
    };
    // In some runtimes, all threads nap while they look for work, and the program's pauses are other calls.
    let idles = |row: &OffCpuRow| {
        let naps = row.call.as_deref().filter(|call| calls::is_sleep(call));
        naps.is_some_and(|call| analysis.runtime(Some(row.pid)).idle_wait(call))
    };
    let of_runtime = |row: &OffCpuRow| analysis.works.is_of_runtime(row.tid) || idles(row);
    // A runtime naps until the program's threads are where it needs them. Such a nap is not a pause that the
    // program asked for, unless these threads wait for a timer themselves.
    let of_runtime_ns = naps(&of_runtime).0 * (1.0 - beside_timers(analysis, &of_runtime));
    let sleep = (analysis.spent_ns(TimeCategory::Sleeping) - of_runtime_ns).max(0.0);
    // Threads that sleep one after another, each while it holds the lock that the others want, have a lock
    // problem.
    let tasks = contend::tasks::queue(analysis).filter(|queue| queue.holder_waits);
    let threads = || contend::asleep::turns(analysis).map(|turns| turns.saving_ns);
    let lock_ns = tasks.map(|queue| queue.saving_ns).or_else(threads);
    let waits_for_lock = lock_ns.is_some_and(|ns| Least::OF_WORK.is_reached(analysis, ns));
    if waits_for_lock || contend::dead::is_dead(analysis) || contend::starved::is_starved(analysis)
    {
        return None;
    }
    // Time between attempts to take a lock is attributed to the lock, and time spent on a process that
    // doesn't end is reported as such.
    let tries = tries::tries(analysis);
    if tries::of_a_lock(analysis).is_some() || 2.0 * grace::grace_ns(analysis) >= sleep {
        return None;
    }
    let (asleep, naps) = naps(&|row| !of_runtime(row) && analysis.weight(row.tid) > 0.0);
    // Waits for locks with a timeout are also sleeps, and how many of them there were is unknown.
    let naps = naps.filter(|_| asleep >= 0.9 * sleep);
    // A pause this short belongs to a polling loop: its length depends on what the loop polls for.
    let asks = naps.is_some_and(|n| n > 0 && asleep / n as f64 <= t::PAUSE_OF_AN_ASKER_NS);
    if asks && others_compute(analysis) {
        return None;
    }
    // Polling for a child takes as long as the child, however the program waits for it.
    let looks = looks::for_children(analysis);
    let sleep = sleep * (1.0 - looks.awaited);
    let is_for_child = looks.awaited + looks.late >= 0.5 || looks::may_be_for_children(analysis);
    let (took, share) = (time(sleep), analysis.percent(sleep));
    let slept = match naps {
        None | Some(0) => format!("waited for timers for {took}"),
        Some(1) => format!("slept once, {took} in all"),
        Some(n) => format!("slept {} times, {took} in all", count(n)),
    };
    let between = tries
        .as_ref()
        .map(|tries| format!(", between {}", tries.in_words()));
    let between = between.unwrap_or_default();
    let (serving, _) = analysis.off(|row| {
        analysis.object_of(row) == Some(&DescriptorKind::Timer)
            && row.call.as_deref().is_some_and(calls::is_poll)
    });
    let serving = match serving * 2.0 > sleep {
        true => ", while clients waited for answers",
        false => "",
    };
    let blocks = tries.is_none() && blocks_loop(analysis, &of_runtime);
    let in_loop = if_so(blocks, || {
        " Its event loop called the functions that sleep, and runs nothing else meanwhile."
            .to_owned()
    });
    let statement =
        format!("The program {slept}, {share} of the wall time{serving}{between}.{in_loop}");
    let advice = match &tries {
        Some(tries) => tries.advice(),
        None if blocks => {
            "Sleep without blocking the event loop (`await asyncio.sleep`, a timer), or call what blocks in a thread \
             (`asyncio.to_thread`)."
        }
        None => {
            "Remove the pause, shorten it, or wait for the event itself instead of for a fixed time."
        }
    };
    let claim = Claim::new(FindingId::Sleeping, analysis, sleep, statement);
    let claim = match is_for_child {
        true => claim.least(Least::share(SHARE_OF_LOOKING)),
        false => claim,
    };
    Some(
        claim
            .evidence("time asleep", sleep, "ns")
            .evidence_if("sleeps", naps, "calls")
            .advice(advice)
            .observed()
            .of_waits(analysis, |row, spent| {
                spent == TimeCategory::Sleeping && !of_runtime(row)
            }),
    )
}

/// Returns whether most of the program's sleeps, by their stacks, are below the function that runs an event loop. The
/// loop's own sleeps are polls.
fn blocks_loop(analysis: &Analysis<'_>, of_runtime: &dyn Fn(&OffCpuRow) -> bool) -> bool {
    let Some(stacks) = &analysis.trace.stacks else {
        return false;
    };
    let loops = analysis.frames_for(Use::RunsLoop);
    let rows = analysis.trace.off_cpu.iter().enumerate();
    let rows = rows.filter(|(at, row)| {
        let (spent, on_path) = analysis.wait_of_row(*at);
        spent == TimeCategory::Sleeping && on_path > 0.0 && !of_runtime(row)
    });
    let sleepers: HashSet<(u32, Option<&str>)> = rows
        .map(|(_, row)| (row.tid, row.call.as_deref()))
        .collect();
    let in_sleep = stacks.rows.iter().filter(|row| {
        row.activity == Activity::Wait && sleepers.contains(&(row.tid, row.call.as_deref()))
    });
    let in_loop = totals(in_sleep.map(|row| {
        let frames = row.node.into_iter();
        let mut frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
        let polls = row.call.as_deref().is_some_and(calls::is_poll);
        (
            !polls && frames.any(|number| loops[number as usize]),
            row.ns,
        )
    }));
    let of = |is_in: bool| in_loop.get(&is_in).copied().unwrap_or(0);
    of(true) > of(false)
}

/// Returns the fraction of the naps of a runtime's own threads, 0 to 1, during which a thread of the program
/// waited for a timer. In that time all of them waited for the timer, whichever thread is found to end the
/// wait.
fn beside_timers(analysis: &Analysis<'_>, of_runtime: &dyn Fn(&OffCpuRow) -> bool) -> f64 {
    let rows = analysis.trace.off_cpu.iter().enumerate();
    let sleeping = rows.filter(|(at, _)| analysis.wait_of_row(*at).0 == TimeCategory::Sleeping);
    let sleeping: HashMap<(u32, Option<&str>), bool> = sleeping
        .map(|(_, row)| ((row.tid, row.call.as_deref()), of_runtime(row)))
        .collect();
    let covered = |which: &dyn Fn(bool) -> bool| {
        let waits = analysis.trace.timeline.iter().flatten().filter(|wait| {
            let known = sleeping.get(&(wait.tid, wait.call.as_deref()));
            wait.cause == Cause::Asleep && known.is_some_and(|of_runtime| which(*of_runtime))
        });
        let spans = waits.map(|wait| (wait.tid, wait.from_ns, wait.to_ns));
        covered_ns(&spans.collect::<Vec<_>>()) as f64
    };
    let (naps, timers) = (
        covered(&|of_runtime| of_runtime),
        covered(&|of_runtime| !of_runtime),
    );
    (naps + timers - covered(&|_| true)) / naps.max(1.0)
}

/// Returns whether threads that are not on the critical path computed for most of the time.
fn others_compute(analysis: &Analysis<'_>) -> bool {
    let others = analysis.threads_that(|times| analysis.weight(times.tid) < 0.5);
    others.least_and_most_cpu_ns().1 >= 0.5 * analysis.trace.duration_ns as f64
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT};

    #[test]
    fn the_naps_of_a_runtimes_own_thread_are_no_pause() {
        let reported = |name: &str| {
            let mut fake = Fake::new(1000);
            fake.thread(ROOT, 101, 0, 1000, 10);
            fake.trace.threads.last_mut().expect("just added").name = name.to_owned();
            fake.wait_for(ROOT, "futex", None, (100, 990, 990), Some(101));
            fake.wait_for(101, "clock_nanosleep", None, (100, 980, 980), None);
            fake.ids()
        };
        assert_eq!(reported("worker"), ["sleeping"]);
        assert_eq!(reported("VM Thread"), Vec::<&str>::new());
    }

    #[test]
    fn naps_of_threads_that_look_for_work_are_no_pauses_of_the_program() {
        let reported = |language| {
            let mut fake = Fake::new(1000);
            fake.language = Some(language);
            fake.waits(Some("nanosleep"), None, Cause::Asleep, 4_000, 75);
            fake.ids().contains(&"sleeping")
        };
        assert!(!reported(crate::Language::Go));
        assert!(reported(crate::Language::C));
    }

    #[test]
    fn pauses_are_reported_with_their_number() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 40, 20_000);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::Sleeping);
        assert!(found[0].statement.contains("slept 40 times"));
    }

    #[test]
    fn sleeps_that_block_an_event_loop_are_said_to() {
        let statement = |call: &str, function: &str| {
            let mut fake = Fake::new(1000);
            fake.waits(Some(call), None, Cause::Asleep, 40, 20_000);
            let frame = |name: &str| fathom_stacks::Frame {
                binary: "/usr/lib/python3.11/asyncio/base_events.py".to_owned(),
                source_file: Some("/usr/lib/python3.11/asyncio/base_events.py".to_owned()),
                function: Some(name.to_owned()),
                ..fathom_stacks::Frame::default()
            };
            let frames = [function, "fetch"].map(frame);
            fake.stack(fathom_trace::Activity::Wait, Some(call), frames, 800);
            fake.findings().swap_remove(0).statement
        };
        let blocks = |call, function| statement(call, function).contains("event loop");
        assert!(blocks("clock_nanosleep", "BaseEventLoop._run_once"));
        assert!(!blocks("clock_nanosleep", "Thread.run"));
    }

    #[test]
    fn short_pauses_until_another_thread_is_done_win_nothing() {
        let pauses = |cpu_ms| {
            let mut fake = Fake::new(1000);
            fake.thread(ROOT, 101, 0, 1000, cpu_ms);
            fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 9_000, 80);
            fake.ids().contains(&"sleeping")
        };
        assert!(!pauses(950));
        assert!(pauses(10));
    }

    fn of_another_length(milliseconds: u64) -> Vec<fathom_model::Run> {
        let mut run = crate::fake::run(milliseconds * crate::fake::MS, 10 * crate::fake::MS);
        run.run_queue_wait_ns = Some(0);
        vec![run]
    }

    #[test]
    fn a_sleep_is_as_long_as_it_was_however_slow_tracing_made_the_rest() {
        let mut fake = Fake::new(300);
        fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 2, 40_070);
        let timed = of_another_length(150);
        let diagnosis = crate::diagnose(&fake.observation(&timed));
        let found = &diagnosis.findings[0];
        assert!(
            found
                .statement
                .contains("slept 2 times, 80.1 ms in all, 53 % of"),
            "{}",
            found.statement
        );
        assert!(!found.statement.contains("modelled"), "{}", found.statement);
        let account = diagnosis.account;
        assert_eq!(account.ns(fathom_model::TimeCategory::Sleeping), 80_140_000);
        assert!((found.share - account.share(fathom_model::TimeCategory::Sleeping)).abs() < 1e-9);
    }

    #[test]
    fn of_sleeps_side_by_side_only_those_on_the_critical_path_are_counted() {
        let mut fake = Fake::new(410);
        for tid in 101..105 {
            fake.thread(crate::fake::ROOT, tid, 0, 405, 405);
            fake.waits_of(tid, Some("clock_nanosleep"), None, Cause::Asleep, 80, 5_000);
        }
        fake.wait_for(crate::fake::ROOT, "futex", None, (1, 405, 405), Some(104));
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::Sleeping);
        assert!(
            found[0].statement.contains("slept 80 times"),
            "{}",
            found[0].statement
        );
        assert!(
            found[0].could_win_ns >= 395_000_000,
            "{}",
            found[0].could_win_ns
        );
    }

    #[test]
    fn a_wait_for_a_signal_is_no_sleep() {
        let mut fake = Fake::new(500);
        fake.waits(Some("pause"), None, Cause::Asleep, 1, 480_000);
        let timed = of_another_length(500);
        let diagnosis = crate::diagnose(&fake.observation(&timed));
        assert!(diagnosis.findings.is_empty());
        assert_eq!(
            diagnosis.account.ns(fathom_model::TimeCategory::Signals),
            480_000_000
        );
    }

    #[test]
    fn nothing_is_won_from_a_run_that_was_cut_off() {
        let mut fake = Fake::new(500);
        fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 1, 480_000);
        fake.trace.end.cut_short = true;
        let found = fake.findings();
        assert_eq!(
            (found[0].id.as_str(), found[0].could_win_ns),
            ("sleeping", 0)
        );
    }

    #[test]
    fn polls_whose_time_limit_lets_a_server_answer_are_pauses_that_its_clients_wait_for() {
        let mut fake = Fake::new(1000);
        fake.trace.attached = Some(fathom_trace::Attached {
            listening: vec![ROOT],
            ..fathom_trace::Attached::default()
        });
        for (object, count) in [(0, 70), (1, 20)] {
            fake.waits(Some("epoll_wait"), Some(4), Cause::Asleep, count, 10_000);
            let row = fake.trace.off_cpu.last_mut().expect("just added");
            row.object = Some(object);
        }
        let client = "accepted socket from socket at 127.0.0.1:80";
        fake.trace.objects = vec![fathom_trace::DescriptorKind::Timer, client.into()];
        let timed = of_another_length(1000);
        let diagnosis = crate::diagnose(&fake.observation(&timed));
        let ns = |spent| diagnosis.account.ns(spent);
        use fathom_model::TimeCategory::{Sleeping, WaitingForEvents};
        assert_eq!(
            (ns(Sleeping), ns(WaitingForEvents)),
            (700_000_000, 200_000_000)
        );
        let statement = &diagnosis.findings[0].statement;
        let words = "70 % of the wall time, while clients waited for answers.";
        assert!(statement.ends_with(words), "{statement}");
    }

    #[test]
    fn samples_are_not_taken_for_pauses() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 40, 20_000);
        fake.trace.tier = Some(fathom_trace::Tier::Sample);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::Sleeping);
        assert!(!found[0].statement.contains("40"), "{}", found[0].statement);
    }

    #[test]
    fn a_runtimes_polls_that_its_timers_end_are_pauses_and_those_that_messages_end_are_not() {
        let reported = |by_limit_ns: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Node);
            fake.calls("read", Some(5), 60, 8, 500);
            fake.descriptor(5, "eventfd");
            fake.waits(Some("epoll_wait"), Some(4), Cause::Asleep, 66, 12_000);
            let polls = fake.calls("epoll_wait", Some(4), 66, 0, 12_000_000);
            polls.polls = Some(fathom_trace::PollEnds {
                by_limit: 6,
                by_limit_ns,
                total_ns: 792_000_000,
            });
            // A thread of the runtime waits for events for its whole lifetime.
            fake.thread(ROOT, 101, 0, 1000, 1000);
            fake.waits_of(101, Some("epoll_wait"), Some(7), Cause::Asleep, 1, 999_000);
            fake.ids()
        };
        assert_eq!(reported(700_000_000), ["sleeping"]);
        assert!(reported(60_000_000).is_empty());
    }
}
