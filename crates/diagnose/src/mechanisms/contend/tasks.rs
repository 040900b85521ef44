//! Detects tasks of a runtime that queue for a mutex: `lock-contention` that threads and calls don't show.

use super::side_by_side;
use crate::mechanisms::hand_over;
use crate::mechanisms::prelude::*;
use fathom_stacks::Frame;
use fathom_trace::{MutexRow, StackRow};

/// The tasks of a process, and what they do while at least one of them waits for a mutex.
pub(crate) struct Queue<'a> {
    row: &'a MutexRow,
    /// The average number of CPUs that the process uses during its life.
    used: f64,
    /// The part of them that is used in the runtime's scheduler and its locks, or in calls that wake or wait.
    in_lock_code: f64,
    /// Whether the tasks would be idle without the lock as well, because its holder itself waits for
    /// something.
    pub holder_waits: bool,
    pub saving_ns: f64,
}

/// Returns the queue of the process with the most to save.
pub(crate) fn queue<'a>(analysis: &'a Analysis<'_>) -> Option<Queue<'a>> {
    if analysis.quiet < t::LEAST_QUIET || is_paced_outside(analysis) {
        return None;
    }
    let queues = analysis
        .trace
        .mutexes
        .iter()
        .filter_map(|row| of(analysis, row));
    largest(queues, |queue| queue.saving_ns)
}

fn of<'a>(analysis: &Analysis<'_>, row: &'a MutexRow) -> Option<Queue<'a>> {
    let contended_ns = row.contended_ns as f64;
    let often = row.waits >= t::MANY_LOCK_WAITS;
    let long = contended_ns >= t::LOCK_SHARE * analysis.trace.duration_ns as f64;
    if !often || !long {
        return None;
    }
    let threads: Vec<&ThreadTimes> = analysis.threads_of(row.pid).collect();
    let (from, to) = threads.span()?;
    let on_cpu = threads.cpu_ns();
    // This is based on what the untraced runs were charged, because time that a hypervisor takes from a
    // thread isn't CPU use. While other programs have the CPUs, the holder of the lock doesn't sleep.
    let times = (to - from) as f64 / analysis.trace.duration_ns.max(1) as f64;
    let part = on_cpu / analysis.traced_cpu_ns().max(1.0);
    let used = analysis.cpu_ns * part / (analysis.wall_ns * times).max(1.0);
    let waking = threads.spent_ns(TimeCategory::KernelWaiting) / on_cpu.max(1.0);
    let in_lock_code = used * (1.0 - (1.0 - waking) * (1.0 - in_scheduler(analysis, row.pid)));
    let holder_waits = used < t::ABLE_HOLDER;
    // If a thread waited, it was queued behind one that held the lock.
    let queueing = row.goroutines.max(2) as f64;
    let cpus = analysis.observation.cpus as f64;
    let (work, side_by_side) = match holder_waits {
        true => (1.0, queueing),
        false => (used - in_lock_code, queueing.min(cpus)),
    };
    let saving_ns = contended_ns * analysis.quiet * (1.0 - work / side_by_side).max(0.0);
    let saving_ns = analysis.untraced(saving_ns);
    Some(Queue {
        row,
        used,
        in_lock_code,
        holder_waits,
        saving_ns,
    })
}

/// Reports whether the writer or reader at the other end sets the pace. In that case the holder of the lock
/// waits for it, as in a logger with a slow reader.
fn is_paced_outside(analysis: &Analysis<'_>) -> bool {
    let waited = analysis.spent_on(&[
        TimeCategory::WaitingForInput,
        TimeCategory::WaitingForOutput,
        TimeCategory::WaitingForPipe,
    ]);
    waited >= t::PACED_BY_READER * analysis.timed_ns
}

/// Returns the part of a process's own code in the scheduler and its locks, 0 to 1; 0 without samples.
fn in_scheduler(analysis: &Analysis<'_>, pid: u32) -> f64 {
    let functions = analysis.trace.profile.iter().flat_map(|it| &it.functions);
    let own = functions.filter(|row| row.pid == pid);
    let samples = totals(own.map(|row| (Use::Scheduler.is_of(row), row.samples)));
    part_of(
        samples.get(&true).copied().unwrap_or(0),
        samples.values().sum(),
    )
}

/// Returns whether only libraries take the mutexes of a process, to a good part in tasks of their own. The
/// program can't change what is done under such a mutex.
fn are_of_libraries(analysis: &Analysis<'_>, pid: u32) -> bool {
    let Some(stacks) = &analysis.trace.stacks else {
        return false;
    };
    let is_mutex = |frame: &Frame| {
        let name = frame.function.as_deref();
        name.is_some_and(|name| Use::TakesLock.is_named(name))
    };
    let in_mutex = |row: &StackRow| {
        let node = row.node.filter(|_| row.pid == pid);
        node.is_some_and(|node| stacks.tree.path(node).any(is_mutex))
    };
    let routes = analysis.routes();
    let (mut all, mut by_program, mut in_own_tasks) = (0, 0, 0);
    let rows = stacks.rows.iter().enumerate();
    for (at, row) in rows.filter(|(_, row)| in_mutex(row)) {
        let entry = routes.entry(at);
        let entry = entry.and_then(|frame| stacks.tree.frames.get(frame as usize));
        all += row.samples;
        if routes.own_caller(at).is_none() {
            in_own_tasks += row.samples;
        } else if entry.is_none_or(is_mutex) {
            by_program += row.samples;
        }
    }
    all >= t::LEAST_SAMPLES_OF_NAMED && by_program * 10 < all && in_own_tasks * 3 >= all
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let queue = queue(analysis)?;
    let row = queue.row;
    if are_of_libraries(analysis, row.pid) {
        return None;
    }
    let runtime = analysis.runtime(Some(row.pid));
    let tasks = runtime.tasks();
    let mut statement = format!(
        "{} {tasks} waited {} times for a mutex that another held, {} in all",
        count(row.goroutines),
        count(row.waits),
        time(row.total_ns as f64),
    );
    let cpus = analysis.observation.cpus;
    statement += &match queue.holder_waits {
        true => ", and the holder mostly slept or waited".to_owned(),
        false => format!(", while the program used {:.2} of {cpus} CPUs", queue.used),
    };
    if !queue.holder_waits && queue.in_lock_code >= t::SPINNING_WORTH_REPORTING * queue.used {
        statement += &format!(" ({:.2} of that for the lock itself)", queue.in_lock_code);
    }
    // All tasks that are woken at once want the same lock.
    let pids = BTreeSet::from([row.pid]);
    let all_woken = hand_over::wakes_all(analysis, &pids, row.goroutines as usize);
    let mut claim = side_by_side(analysis, queue.saving_ns, &statement, "");
    if let Some(all_woken) = &all_woken {
        claim = claim.with(all_woken.in_words().trim_start());
        claim.code = all_woken.code.clone();
    }
    Some(
        claim
            .evidence(&format!("{tasks} that queue"), row.goroutines, tasks)
            .evidence("waits", row.waits, "waits")
            .evidence(&format!("time queued, all {tasks}"), row.total_ns, "ns")
            .evidence("time in which at least one waited", row.contended_ns, "ns")
            .advice(match (all_woken, queue.holder_waits) {
                (Some(_), _) => hand_over::WAKE_ONE,
                (None, true) => runtime.advice(&[Topic::SleepersMutex]),
                (None, false) => runtime.advice(&[Topic::Mutex]),
            })
            .pid(row.pid),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use fathom_stacks::Frame;
    use fathom_trace::{Activity, MutexRow};

    use crate::fake::{Fake, ROOT};
    use crate::runtimes::Language;

    /// Returns a Go program that uses `cpu_ms` of CPU time in a second, during which at least one task waits
    /// `contended_ms` for a mutex.
    fn program(cpu_ms: u64, contended_ms: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.language = Some(Language::Go);
        fake.thread(ROOT, 101, 0, 1000, cpu_ms / 2);
        fake.trace.threads[0].on_cpu_ns = Some(cpu_ms / 2 * 1_000_000);
        fake.trace.mutexes.push(MutexRow {
            pid: ROOT,
            waits: 3000,
            goroutines: 4,
            total_ns: 3 * contended_ms * 1_000_000,
            longest_ns: 5_000_000,
            contended_ns: contended_ms * 1_000_000,
        });
        fake
    }

    #[test]
    fn goroutines_that_compute_in_turn_are_found() {
        let found = program(1000, 990).findings();
        assert_eq!(found[0].id, FindingId::LockContention);
        let begin = "4 goroutines waited 3,000 times for a mutex";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
        let saving = found[0].could_win_ns;
        assert!((400_000_000..510_000_000).contains(&saving), "{saving}");
        assert!(found[0].advice.contains("sync/atomic"));
    }

    #[test]
    fn a_mutex_that_only_libraries_take_is_not_the_programs() {
        let reported = |callers: &[&str]| {
            let mut fake = program(1000, 990);
            let lock = ["sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock"];
            let frames = lock.iter().chain(callers).rev().map(|function| Frame {
                function: Some((*function).to_owned()),
                binary: "/srv/a".to_owned(),
                source_file: match function.starts_with("main.") {
                    true => Some("/srv/a.go".to_owned()),
                    false => Some("/usr/local/go/src/net/http/transport.go".to_owned()),
                },
                ..Frame::default()
            });
            fake.stack(Activity::OwnCode, None, frames.collect::<Vec<_>>(), 20);
            fake.ids().contains(&"lock-contention")
        };
        let in_library = ["net/http.(*persistConn).readLoop", "runtime.goexit"];
        assert!(!reported(&in_library));
        assert!(reported(&["main.add", "runtime.goexit"]));
        assert!(reported(&[
            "log.(*Logger).output",
            "main.add",
            "runtime.goexit"
        ]));
    }

    #[test]
    fn whoever_sleeps_with_the_mutex_is_reported_so() {
        let found = program(20, 950).findings();
        let reported = found
            .iter()
            .find(|found| found.id == FindingId::LockContention);
        let reported = reported.expect("they wait");
        assert!(
            reported.statement.contains("slept or waited"),
            "{}",
            reported.statement
        );
    }

    #[test]
    fn a_holder_that_has_no_cpu_does_not_sleep() {
        let mut fake = program(500, 950);
        fake.waits(None, None, fathom_trace::Cause::Preempted, 100, 6_000);
        fake.trace.threads[0].on_cpu_ns = Some(250_000_000);
        let found = fake.findings().into_iter();
        let mut found = found.filter(|it| it.id == FindingId::LockContention);
        let statement = found.next().expect("they wait").statement;
        assert!(!statement.contains("slept"), "{statement}");
    }

    #[test]
    fn a_logger_whose_reader_is_slow_queues_for_the_reader() {
        let mut fake = program(20, 950);
        fake.descriptor(1, "pipe");
        fake.calls("write", Some(1), 2_000, 120, 2_000);
        fake.waits(
            Some("write"),
            Some(1),
            fathom_trace::Cause::Asleep,
            900,
            1_000,
        );
        assert_eq!(fake.ids(), ["waiting-for-output"]);
    }

    #[test]
    fn a_mutex_that_is_seldom_waited_for_is_not() {
        let reported = |cpu, contended| {
            let ids = program(cpu, contended).ids();
            ids.contains(&"lock-contention")
        };
        assert!(!reported(1900, 100));
        assert!(!reported(1980, 900), "all CPUs are used");
    }
}
