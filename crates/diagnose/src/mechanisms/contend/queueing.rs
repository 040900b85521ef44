//! Detects threads that queue for a lock.

use super::queues::{Queue, queues};
use super::{holders, side_by_side};
use crate::mechanisms::hand_over;
use crate::mechanisms::prelude::*;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let by_yields = hand_over::is_by_yields(analysis);
    let meant = queues(analysis).into_iter().filter(|queue| {
        let is_for_lock = !queue.is_storm() && (queue.file.is_some() || !by_yields);
        is_for_lock
            && (analysis.quiet >= t::LEAST_QUIET || queue.is_in_turn)
            && queue.able_ns >= t::ABLE_HOLDER * queue.span_ns
            && queue.for_reader_ns < t::PACED_BY_READER * queue.span_ns
    });
    let queue = largest(meant, |queue| queue.waited_ns)?;
    let runtime = analysis.runtime(Some(queue.pid));
    let at_once = analysis.observation.cpus.min(queue.threads).max(1) as f64;
    // CPU time taken by other programs isn't queueing, and threads that wait for input would do so without
    // the lock as well. In addition, using all CPUs limits the saving.
    let work_ns = queue.cpu_ns - queue.spun_ns;
    let all_work_ns = analysis.cpu_ns * work_ns / queue.cpu_ns.max(1.0);
    let (mut span_ns, mut wall_ns) = (queue.span_ns * analysis.quiet, analysis.wall_ns);
    if queue.is_in_turn {
        // Threads that run one at a time take at least as long as all of them compute.
        span_ns = span_ns.max(queue.cpu_ns);
        wall_ns = wall_ns.max(all_work_ns).min(analysis.timed_ns);
    }
    let saving = analysis.untraced(span_ns - queue.elsewhere_ns - work_ns / at_once);
    let saving = saving.min(wall_ns - all_work_ns / analysis.observation.cpus.max(1) as f64);
    let gil = runtime.has(Habit::GlobalLock) && !queue.between_processes;
    let locked = queue.file.and_then(|fd| analysis.name_of(queue.pid, fd));
    let waited = waited(analysis, &queue, locked.as_deref());
    // The interpreter's global lock can't be split, so only the saving from using processes is known.
    let most = if gil { "at most " } else { "" };
    let is_meant = |tid: u32| {
        let of_process = |times: &ThreadTimes| times.pid == queue.pid || queue.between_processes;
        analysis.thread(tid).is_some_and(of_process)
    };
    let meanwhile = holders::in_words(analysis, is_meant);
    let taken_in = holders::taken_in(analysis, is_meant).filter(|_| !gil && queue.file.is_none());
    let mut claim = side_by_side(analysis, saving, &waited, most);
    if queue.is_global {
        // What has to move into a process is what computes, wherever its threads wait for the lock.
        claim.code = analysis.main_own_place(queue.pid).unwrap_or_default();
    }
    Some(
        claim
            .with_if(meanwhile.filter(|_| !gil))
            .with_lock_of(taken_in)
            .evidence("threads that queue", queue.threads, "threads")
            .evidence("waits", queue.waits, "calls")
            .evidence("time queued, all threads", queue.waited_ns, "ns")
            .evidence("CPU time per wait", queue.cpu_per_wait(), "ns")
            .advice(match queue.between_processes {
                true => BETWEEN_PROCESSES,
                false if queue.is_global => runtime.advice(&[Topic::GlobalLock, Topic::Lock]),
                false => runtime.advice(&[Topic::Lock]),
            })
            .pid(queue.pid)
            .on(queue.file, locked),
    )
}

/// Describes who waited for what, and how little they achieved together.
fn waited(analysis: &Analysis<'_>, queue: &Queue, locked: Option<&str>) -> String {
    let who = match queue.between_processes {
        true => "processes",
        false => "threads",
    };
    let lock = match (locked, queue.file) {
        (Some(path), _) => format!("the lock on {path}"),
        (None, Some(_)) => "the lock on a file".to_owned(),
        (None, None) if queue.is_global => "the interpreter's own lock (the GIL)".to_owned(),
        (None, None) => "locks".to_owned(),
    };
    let span_ns = queue.span_ns.max(1.0);
    let spins = queue.spun_ns >= t::SPINNING_WORTH_REPORTING * queue.cpu_ns;
    let spun = queue.spun_ns / span_ns;
    let spinning = if_so(spins, || format!(" ({spun:.2} of that spinning)"));
    format!(
        "{} {who} waited {} times for {lock}, {} in all, while they used {:.2} of {} CPUs{spinning}",
        queue.threads,
        count(queue.waits),
        time(queue.waited_ns),
        queue.cpu_ns / span_ns,
        analysis.observation.cpus,
    )
}

const BETWEEN_PROCESSES: &str = "Compute outside the lock and hold it only to store the result, or give each process its own file (or part of \
     the memory).";

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use fathom_trace::{Activity, Cause};

    use crate::fake::{Fake, ROOT};

    fn threads(cpu: u64, waits: u64, us: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 4, 249_000);
        for tid in 101..105 {
            fake.thread(ROOT, tid, 0, 1000, cpu + waits * us / 1000);
            fake.waits_of(tid, Some("futex"), None, Cause::Asleep, waits, us);
        }
        fake
    }

    fn frame((function, binary): (&str, &str)) -> fathom_stacks::Frame {
        fathom_stacks::Frame {
            function: Some(function.to_owned()),
            binary: binary.to_owned(),
            ..fathom_stacks::Frame::default()
        }
    }

    #[test]
    fn threads_that_take_turns_are_found() {
        assert_eq!(threads(245, 100, 7_500).ids()[0], "lock-contention");
    }

    #[test]
    fn threads_that_take_turns_in_an_interpreter_are_to_become_processes() {
        let mut fake = threads(245, 100, 7_500);
        fake.trace.processes[0].execs[0].path = "/usr/bin/python3".to_owned();
        let score = ("score", "/srv/app.py");
        let in_wait = [score, ("pthread_cond_timedwait", "/lib/libc.so.6")];
        for tid in 101..105 {
            fake.stack(Activity::Wait, Some("futex"), in_wait.map(frame), 100);
            fake.stack(Activity::OwnCode, None, [score].map(frame), 100);
            let rows = fake.trace.stacks.iter_mut().flat_map(|it| &mut it.rows);
            rows.rev().take(2).for_each(|row| row.tid = tid);
        }
        let found = fake.findings().swap_remove(0);
        assert_eq!(found.id, FindingId::LockContention);
        let words = "for the interpreter's own lock (the GIL)";
        assert!(found.statement.contains(words), "{}", found.statement);
        assert!(
            found.advice.starts_with("Compute in processes"),
            "{}",
            found.advice
        );
        assert_eq!(found.code.function.as_deref(), Some("score"));
    }

    #[test]
    fn the_threads_of_a_pool_that_wait_for_work_queue_for_no_lock() {
        let mut fake = threads(245, 100, 7_500);
        let idle = [
            ("uv_cond_wait", "/bin/node"),
            ("pthread_cond_wait", "/lib/libc.so.6"),
        ];
        for tid in 101..105 {
            fake.stack(Activity::Wait, Some("futex"), idle.map(frame), 100);
            let rows = fake.trace.stacks.iter_mut().flat_map(|it| &mut it.rows);
            rows.last().expect("just added").tid = tid;
        }
        assert!(!fake.ids().contains(&"lock-contention"));
    }

    #[test]
    fn what_threads_spin_for_a_lock_is_no_work() {
        let reported = |spun: u64| {
            let mut fake = threads(350, 100, 3_000);
            let java = "/opt/jdk/lib/server/libjvm.so";
            for tid in 101..105 {
                fake.in_function(tid, java, "ObjectMonitor::TrySpin", spun);
                fake.in_function(tid, java, "work", 100 - spun);
            }
            let mut found = fake.findings().into_iter();
            found.rfind(|one| one.id == FindingId::LockContention)
        };
        let (none, some) = (reported(0).unwrap(), reported(50).unwrap());
        assert!(some.could_win_ns > none.could_win_ns * 3 / 2, "{some:?}");
        let words = "used 1.40 of 2 CPUs (0.70 of that spinning)";
        assert!(some.statement.contains(words), "{}", some.statement);
        assert!(!none.statement.contains("spinning"));
    }

    #[test]
    fn threads_whose_reader_sets_the_pace_would_only_wait_longer_for_it() {
        let reported = |each_ms: u64| {
            let mut fake = threads(245, 100, 7_500);
            fake.descriptor(1, "pipe");
            for turn in 0..10 {
                let from = 1 + turn * 90;
                let to = from + each_ms;
                let tid = 101 + (turn % 4) as u32;
                fake.wait_for(tid, "write", Some(1), (from, to, to), None);
            }
            fake.ids().contains(&"lock-contention")
        };
        assert!(reported(10));
        assert!(!reported(30));
    }

    #[test]
    fn who_waits_for_input_while_it_holds_the_lock_would_do_so_without_one() {
        let reported = |input_ms: u64| {
            let mut fake = threads(245, 100, 7_500);
            for turn in 0..10 {
                let from = 1 + turn * 90;
                let to = from + input_ms;
                fake.wait_for(
                    101 + (turn % 4) as u32,
                    "read",
                    Some(0),
                    (from, to, to),
                    None,
                );
            }
            let mut found = fake.findings().into_iter();
            let found = found.find(|one| one.id == FindingId::LockContention);
            found.map_or(0, |one| one.could_win_ns)
        };
        assert!(
            reported(40) < reported(1),
            "{} and {}",
            reported(40),
            reported(1)
        );
        assert_eq!(reported(60), 0);
    }

    #[test]
    fn who_is_woken_for_a_lock_and_has_no_cpu_yet_still_queues() {
        let reported = |call: Option<&str>| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 4, 249_000);
            for tid in 101..105 {
                fake.thread(ROOT, tid, 0, 1000, 850);
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 100, 500);
                fake.waits_of(tid, call, None, Cause::Ready, 100, 7_000);
            }
            fake.ids().contains(&"lock-contention")
        };
        assert!(reported(Some("futex")));
        assert!(!reported(None));
    }

    #[test]
    fn threads_that_wait_for_work_are_idle() {
        let mut fake = threads(10, 100, 9_800);
        fake.thread(ROOT, 110, 0, 1000, 990);
        assert!(!fake.ids().contains(&"lock-contention"));
    }

    #[test]
    fn processes_that_take_turns_at_a_locked_file_are_found() {
        let mut fake = Fake::new(1000);
        fake.wait_for(ROOT, "wait4", None, (5, 995, 995), Some(201));
        for pid in 201..205 {
            fake.child(pid, 0, 990, 990);
            fake.waits_of(pid, Some("flock"), Some(3), Cause::Asleep, 50, 14_500);
        }
        fake.descriptor_of(201, 3, "/var/lock/table");
        let reported = fake.findings();
        assert_eq!(reported.len(), 1);
        let statement = &reported[0].statement;
        let begin = "4 processes waited 200 times for the lock on /var/lock/table";
        assert!(statement.starts_with(begin), "{statement}");
    }

    #[test]
    fn of_processes_that_take_turns_some_are_luckier() {
        let mut fake = Fake::new(500);
        fake.wait_for(ROOT, "wait4", None, (5, 495, 495), Some(201));
        // The first process always gets the lock when it wants it.
        for (pid, to, waits) in [
            (200, 110, 0),
            (201, 450, 30),
            (202, 490, 42),
            (203, 320, 14),
        ] {
            fake.child(pid, 0, to, to);
            let each = (to - 105) / (waits + 1);
            for i in 0..waits {
                let (at, by) = (1 + i * each, 200 + (u64::from(pid) + i) % 4);
                fake.wait_for(
                    pid,
                    "futex",
                    None,
                    (at, at + each, at + each),
                    Some(by as u32),
                );
            }
        }
        let reported = fake.findings();
        let begin = "3 processes waited 86 times for locks";
        let statement = reported.first().map(|it| it.statement.as_str());
        assert!(
            statement.is_some_and(|it| it.starts_with(begin)),
            "{reported:?}"
        );
    }

    #[test]
    fn a_starved_machine_says_nothing_of_locks() {
        let reported = |ready_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 4, 249_000);
            for tid in 101..105 {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                let locks_ms = 980 - ready_ms;
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 100, locks_ms * 10);
                fake.waits_of(tid, None, None, Cause::Preempted, 10, ready_ms * 100);
            }
            fake.ids().contains(&"lock-contention")
        };
        assert!(reported(700));
        assert!(!reported(850));
    }

    #[test]
    fn threads_that_only_run_in_turn_queue_however_long_each_waits_for_a_cpu() {
        let reported = |delayed_in: Option<&str>| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 4, 249_000);
            for tid in 101..105 {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                // Each has the lock for a quarter of the time, and a CPU for a seventh of that.
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 100, 1_000);
                fake.waits_of(tid, delayed_in, None, Cause::Ready, 100, 6_400);
                fake.waits_of(tid, None, None, Cause::Preempted, 10, 22_500);
            }
            fake.ids().contains(&"lock-contention")
        };
        assert!(reported(Some("futex")));
        assert!(!reported(None), "they want a CPU at the same time");
    }

    #[test]
    fn nobody_queues_where_nobody_runs() {
        let queue = "lock-contention";
        assert!(threads(160, 100, 8_400).ids().contains(&queue));
        assert!(!threads(100, 100, 9_000).ids().contains(&queue));
    }

    #[test]
    fn a_pool_that_one_thread_hands_work_to_and_waits_for_queues_for_nothing() {
        let reported = |by: &dyn Fn(u32, u64) -> u32| {
            let mut fake = threads(245, 100, 7_500);
            for turn in 0..10 {
                for tid in 101..105 {
                    let at = 1 + turn * 90;
                    let by = Some(by(tid, turn));
                    fake.wait_for(tid, "futex", None, (at, at + 2, at + 2), by);
                }
            }
            fake.ids().contains(&"lock-contention")
        };
        let hub = |tid: u32, turn: u64| match tid {
            101 => 102 + (turn % 3) as u32,
            _ => 101,
        };
        assert!(!reported(&hub));
        assert!(reported(&|tid, turn| 101 + (tid - 100 + turn as u32) % 4));
    }

    #[test]
    fn who_gives_one_job_after_the_other_and_awaits_each_has_a_pool_and_no_lock() {
        let reported = |waits: u64| {
            let mut fake = threads(245, 100, 7_500);
            fake.thread(ROOT, 110, 0, 1000, 5);
            fake.waits_of(
                110,
                Some("futex"),
                None,
                Cause::Asleep,
                waits,
                900_000 / waits,
            );
            fake.ids().contains(&"lock-contention")
        };
        assert!(!reported(380));
        assert!(reported(4));
    }

    #[test]
    fn a_dozen_waits_for_a_locked_file_are_a_queue() {
        let reported = |call: &str| {
            let mut fake = Fake::new(640);
            fake.wait_for(ROOT, "wait4", None, (5, 635, 635), Some(201));
            for (pid, waits, us) in [(201, 12, 28_000), (202, 7, 24_000)] {
                fake.child(pid, 5, 630, 625);
                fake.waits_of(pid, Some(call), Some(4), Cause::Asleep, waits, us);
            }
            fake.ids()
        };
        assert_eq!(reported("flock"), ["lock-contention"]);
        assert!(reported("futex").is_empty());
    }

    #[test]
    fn one_long_wait_each_is_a_join() {
        assert!(!threads(245, 1, 750_000).ids().contains(&"lock-contention"));
    }
}
