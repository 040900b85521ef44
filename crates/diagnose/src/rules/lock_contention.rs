//! Threads queue for a lock.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fathom_model::{Finding, Place, Spent};
use fathom_trace::{Cause, Thread};

use super::wakeup_storm;
use crate::account::Life;
use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;
use crate::{Language, account, classify};

/// Threads of runtimes that wait for work from the program, and compete with it for no lock.
const RUNTIME_THREADS: &[&str] = &[
    "C1 Compiler",
    "C2 Compiler",
    "GC Thread",
    "G1 ",
    "VM ",
    "Reference Handl",
    "Finalizer",
    "Signal Dispatch",
    "Common-Cleaner",
    "Sweeper",
    "V8Worker",
    "node-V8",
    "DelayedTaskSche",
];

/// Whether it is a thread that the runtime made for itself.
pub(super) fn is_of_runtime(thread: &Thread) -> bool {
    let mut names = RUNTIME_THREADS.iter();
    names.any(|name| thread.name.starts_with(name))
}

/// Threads of one process that queue, and what that brought about.
pub(super) struct Queue {
    pub pid: u32,
    pub threads: usize,
    /// Descriptor of the locked file, if processes queue for one.
    pub file: Option<i32>,
    /// Whether they are processes.
    pub between_processes: bool,
    pub waits: u64,
    pub waited_ns: f64,
    pub cpu_ns: f64,
    /// Of it: in code that only a lock leads to that another has.
    pub spun_ns: f64,
    /// Of it: outside of the calls by which threads wait and wake each other, where calls are timed.
    pub work_ns: f64,
    /// On a CPU or ready, all of them.
    pub able_ns: f64,
    /// From the first of them to the last, as traced.
    pub span_ns: f64,
}

impl Queue {
    pub(super) fn cpu_per_wait(&self) -> f64 {
        self.cpu_ns / self.waits.max(1) as f64
    }

    /// Whether there is so little work between two waits that they are hand-overs.
    fn is_storm(&self) -> bool {
        self.cpu_per_wait() < t::STORM_CPU_PER_WAIT_NS
            || self.work_ns / (self.waits.max(1) as f64) < t::STORM_WORK_PER_WAIT_NS
    }
}

/// Processes several of whose threads wait for locks again and again while they share the work.
pub(super) fn queues(view: &View<'_>) -> Vec<Queue> {
    let mut lives: BTreeMap<u32, Vec<&Life>> = BTreeMap::new();
    for life in &view.lives {
        lives.entry(life.pid).or_default().push(life);
    }
    let threads = view.lives.iter().zip(&view.trace.threads);
    let of_runtime = threads.filter(|(_, thread)| is_of_runtime(thread));
    let of_runtime: BTreeSet<u32> = of_runtime.map(|(life, _)| life.tid).collect();
    for lives in lives.values_mut() {
        lives.retain(|life| !of_runtime.contains(&life.tid));
    }
    let mut found: Vec<Queue> = lives
        .into_iter()
        .filter_map(|(pid, lives)| queue(view, pid, &lives, |_| true))
        .collect();
    found.extend(between_processes(view));
    found
}

/// Processes that queue for a lock on a file, or for one in memory that they share: their main threads do.
fn between_processes(view: &View<'_>) -> Option<Queue> {
    let waits = |life: &Life| match life.tid == life.pid {
        true => view.file_lock_waits(life.tid) + view.lock_waits(life.tid),
        false => view.file_lock_waits(life.tid),
    };
    let for_others =
        |life: &Life| view.file_lock_waits(life.tid) > 0 || is_woken_by_others(view, life);
    let often = |life: &&Life| {
        waits(life) >= t::MANY_LOCK_WAITS
            || view.file_lock_waits(life.tid) >= t::MANY_FILE_LOCK_WAITS
    };
    let lives = view.lives.iter();
    let queueing = lives.filter(often).filter(|life| for_others(life));
    let pids: BTreeSet<u32> = queueing.map(|life| life.pid).collect();
    // Whoever hands out the work counts too: where it works most, the others are idle.
    let all: Vec<&Life> = view.lives.iter().collect();
    // They share memory if they are copies of one another.
    let program = |pid: &u32| view.program_of(*pid);
    let first = program(pids.first()?);
    let several = pids.len() > 1 && pids.iter().all(|pid| program(pid) == first);
    let pid = *pids.first().filter(|_| several)?;
    let rows = view.trace.off_cpu.iter().filter(|row| row.pid == pid);
    let locks = rows.filter(|row| row.call.as_deref().is_some_and(classify::is_file_lock));
    let file = locks.max_by_key(|row| row.total_ns).and_then(|row| row.fd);
    // Of those who do the same some are luckier.
    let lucky = |life: &Life| {
        let luckier = waits(life) >= t::MANY_LOCK_WAITS / 3 && program(&life.pid) == first;
        luckier && for_others(life)
    };
    Some(Queue {
        file,
        between_processes: true,
        ..queue(view, pid, &all, |life| match pids.contains(&life.pid) {
            true => waits(life) > 0,
            false => lucky(life),
        })?
    })
}

/// Whether other processes ended most of the time for which this thread waited for locks, as far as that is known:
/// else it waited for threads of its own.
fn is_woken_by_others(view: &View<'_>, life: &Life) -> bool {
    let (mut own, mut others) = (0, 0);
    for interval in view.trace.timeline.iter().flatten() {
        let lock = interval.call.as_deref().is_some_and(classify::is_lock);
        if let Some(by) = interval
            .woken_by
            .filter(|_| lock && interval.tid == life.tid)
        {
            let is_own = view.life(by).is_some_and(|other| other.pid == life.pid);
            let sum = if is_own { &mut own } else { &mut others };
            *sum += interval.to_ns.saturating_sub(interval.from_ns);
        }
    }
    own <= others
}

/// How often a thread asked for a lock on a file: each time all who wait are woken, and sleep again but for one.
fn file_locks(view: &View<'_>, tid: u32) -> u64 {
    let rows = view.rows_of(tid);
    let rows = rows.filter(|row| classify::is_file_lock(&row.name));
    match rows.map(|row| row.calls).sum() {
        0 => u64::MAX,
        calls => calls,
    }
}

/// The queue of those of these threads that `may` be in one. What the others compute counts too.
fn queue(
    view: &View<'_>,
    pid: u32,
    lives: &[&account::Life],
    may: impl Fn(&Life) -> bool,
) -> Option<Queue> {
    let all_cpu: f64 = lives.iter().map(|life| life.on_cpu_ns).sum();
    let working = lives
        .iter()
        .filter(|life| life.on_cpu_ns >= 0.03 * all_cpu)
        .count();
    // A thread that hands out the work of others waits for them, not for its turn.
    let least_part = t::PART_OF_A_WORKER / working.max(1) as f64;
    let queueing: Vec<(&&Life, u64, f64)> = lives
        .iter()
        .filter(|life| may(life))
        .filter_map(|life| {
            let on_files = view.file_lock_waits(life.tid);
            let waits = view.lock_waits(life.tid) + on_files.min(file_locks(view, life.tid));
            let ns = life.sums.get(Spent::Locks);
            // Of two who lock a file the lucky one waits less; nobody waits there for anything else.
            let share = match on_files >= t::MANY_FILE_LOCK_WAITS {
                true => t::LOCK_SHARE / 4.0,
                false => t::LOCK_SHARE,
            };
            let queues = (waits >= t::MANY_LOCK_WAITS / 3 || on_files >= t::MANY_FILE_LOCK_WAITS)
                && ns >= share * (life.ns() - life.sums.get(Spent::Ready))
                && life.on_cpu_ns >= least_part * all_cpu;
            queues.then_some((life, waits, ns))
        })
        .collect();
    let cpu_ns: f64 = queueing.iter().map(|(life, ..)| life.on_cpu_ns).sum();
    let ready = queueing.iter().map(|q| q.0.sums.get(Spent::Ready));
    let able_ns = cpu_ns + ready.sum::<f64>();
    // One of them may be lucky.
    let often = queueing.iter().filter(|(life, waits, _)| {
        *waits >= t::MANY_LOCK_WAITS || view.file_lock_waits(life.tid) >= t::MANY_FILE_LOCK_WAITS
    });
    // Where one thread does the work and others wait for it to hand some out, they are idle.
    if often.count() < 2 || cpu_ns < t::PART_OF_QUEUES * all_cpu {
        return None;
    }
    let tids: Vec<u32> = queueing.iter().map(|q| q.0.tid).collect();
    let gives = |life: &&Life| {
        let others = || queueing.iter().filter(|q| q.0.tid != life.tid);
        let (workers, waits) = (others().count(), others().map(|q| q.1).sum::<u64>());
        let cpu_ns: f64 = others().map(|q| q.0.on_cpu_ns).sum();
        workers > 1
            && life.on_cpu_ns < t::CPU_OF_A_GIVER * cpu_ns / workers as f64
            && view.lock_waits(life.tid) as f64 >= t::PART_OF_A_GIVER * waits as f64
    };
    let given = || lives.iter().any(gives);
    if on_files(view, &tids) == 0 && (have_hub(view, &tids) || given()) {
        return None;
    }
    // Go's idle threads and its locks wait in the same call. Only more threads than CPUs that
    // have equal parts of the work can't be idle ones.
    let least = queueing
        .iter()
        .map(|q| q.0.on_cpu_ns)
        .fold(f64::MAX, f64::min);
    let most = queueing.iter().map(|q| q.0.on_cpu_ns).fold(0.0, f64::max);
    let go = view.language(Some(pid)) == Some(Language::Go);
    // Where calls take most of the time, its runtime hands what has to run from thread to thread.
    let handed_on = view.in_kernel_ns() > view.spent_ns(Spent::UserCode);
    if go && (handed_on || queueing.len() < view.subject.cpus + 2 || least < 0.7 * most) {
        return None;
    }
    let from = queueing.iter().map(|(life, ..)| life.from_ns).min()?;
    let to = queueing.iter().map(|(life, ..)| life.to_ns).max()?;
    Some(Queue {
        pid,
        threads: queueing.len(),
        file: None,
        between_processes: false,
        waits: queueing.iter().map(|q| q.1).sum(),
        waited_ns: queueing.iter().map(|q| q.2).sum(),
        cpu_ns,
        spun_ns: queueing.iter().map(|q| view.spun_ns(q.0)).sum(),
        work_ns: queueing
            .iter()
            .map(|(life, ..)| life.on_cpu_ns - life.sums.get(Spent::KernelWaiting))
            .sum(),
        able_ns,
        span_ns: (to - from) as f64,
    })
}

/// How often these threads waited for locks on files.
fn on_files(view: &View<'_>, tids: &[u32]) -> u64 {
    tids.iter().map(|tid| view.file_lock_waits(*tid)).sum()
}

/// Whether one thread ended about all that the others waited, and they what it waited: it hands out work and gets it
/// back, as the linker `lld` does. Whoever lets go of a lock wakes the next one in the queue, whichever
/// that is. Of two threads nobody can tell.
fn have_hub(view: &View<'_>, tids: &[u32]) -> bool {
    let mut part: HashMap<u32, u64> = HashMap::new();
    let (mut all, mut all_ns) = (0, 0);
    for interval in view.trace.timeline.iter().flatten() {
        let lock = interval.call.as_deref().is_some_and(classify::is_lock);
        let asleep = interval.cause == Cause::Asleep && tids.contains(&interval.tid);
        let by = interval.woken_by.filter(|by| *by != interval.tid);
        if let Some(by) = by.filter(|_| lock && asleep) {
            // By time: what the others wake each other for is the pool's own short lock.
            let ns = interval.to_ns.saturating_sub(interval.from_ns);
            all += 1;
            all_ns += ns;
            *part.entry(by).or_default() += ns;
            *part.entry(interval.tid).or_default() += ns;
        }
    }
    let most = part.into_values().max().unwrap_or(0) as f64;
    tids.len() > 2 && all >= t::MANY_LOCK_WAITS && most >= t::PART_OF_A_HUB * all_ns as f64
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    if view.quiet < t::LEAST_QUIET {
        return None;
    }
    let by_yields = wakeup_storm::is_by_yields(view);
    let queue = queues(view)
        .into_iter()
        .filter(|q| !q.is_storm() && (q.file.is_some() || !by_yields))
        .filter(|q| q.able_ns >= t::ABLE_HOLDER * q.span_ns)
        .max_by(|a, b| a.waited_ns.total_cmp(&b.waited_ns))?;
    let language = view.language(Some(queue.pid));
    let side_by_side = view.subject.cpus.min(queue.threads).max(1) as f64;
    // What other programs took of the CPU is nobody's queueing; and nothing wins more than to use all CPUs.
    let work_ns = queue.cpu_ns - queue.spun_ns;
    let win = view.untraced(queue.span_ns * view.quiet - work_ns / side_by_side);
    let all_work_ns = view.cpu_ns * work_ns / queue.cpu_ns.max(1.0);
    let win = win.min(view.wall_ns - all_work_ns / view.subject.cpus.max(1) as f64);
    if !matters(view, win) {
        return None;
    }
    let locked = queue.file.and_then(|fd| view.name_of(queue.pid, fd));
    let gil = language == Some(Language::Python) && !queue.between_processes;
    let statement = format!(
        "{} {} waited {} times for {}, {} in all, while they used {:.2} of {} CPUs{}; side by side they would take {}{} less, {} of the wall time.",
        queue.threads,
        if queue.between_processes {
            "processes"
        } else {
            "threads"
        },
        count(queue.waits),
        match (&locked, queue.file) {
            (Some(path), _) => format!("the lock on {path}"),
            (None, Some(_)) => "the lock on a file".to_owned(),
            (None, None) => "locks".to_owned(),
        },
        time(queue.waited_ns),
        queue.cpu_ns / queue.span_ns.max(1.0),
        view.subject.cpus,
        match queue.spun_ns >= t::SPINNING_WORTH_TELLING * queue.cpu_ns {
            true => format!(
                " ({:.2} of that spinning)",
                queue.spun_ns / queue.span_ns.max(1.0)
            ),
            false => String::new(),
        },
        // The interpreter's own lock can't be split: only what processes would win is known.
        if gil { "at most " } else { "" },
        time(win),
        percent(view, win),
    );
    let advice = match language {
        _ if queue.between_processes => {
            "Compute outside of the lock and hold it only to store the result, or give each process a file (or a part of the memory) of its own."
        }
        Some(Language::Python) => {
            "Compute outside of the lock. If it is the interpreter's own (the GIL), threads can't share the computing, and the gain is an upper limit: use processes (`multiprocessing`, `ProcessPoolExecutor`), or a free-threaded build of Python (3.13 or later)."
        }
        Some(Language::Java) => {
            "Compute outside of the lock (`synchronized`, or one of `java.util.concurrent`), and hold it only to store the result. If it is a barrier at which they meet (`CyclicBarrier`), give each an equal piece."
        }
        _ => {
            "Compute outside of the lock and hold it only to store the result; keep a sum per thread, or split the lock. If it is a barrier at which they meet, give each an equal piece."
        }
    };
    Some(
        Draft::new("lock-contention", view, win, statement)
            .evidence("threads that queue", queue.threads as f64, "threads")
            .evidence("waits", queue.waits as f64, "calls")
            .evidence("time queued, all threads", queue.waited_ns, "ns")
            .evidence("CPU time for each wait", queue.cpu_per_wait(), "ns")
            .advice(advice)
            .place(Place {
                pid: Some(queue.pid),
                tid: None,
                fd: queue.file,
                path: locked,
            })
            .likely()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

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

    #[test]
    fn threads_that_take_turns_are_told() {
        assert_eq!(threads(245, 100, 7_500).ids()[0], "lock-contention");
    }

    #[test]
    fn what_threads_spin_for_a_lock_is_no_work() {
        let told = |spun: u64| {
            let mut fake = threads(350, 100, 3_000);
            let java = "/opt/jdk/lib/server/libjvm.so";
            for tid in 101..105 {
                fake.in_function(tid, java, "ObjectMonitor::TrySpin", spun);
                fake.in_function(tid, java, "work", 100 - spun);
            }
            let mut found = fake.findings().into_iter();
            found.rfind(|one| one.id == "lock-contention")
        };
        let (none, some) = (told(0).unwrap(), told(50).unwrap());
        assert!(some.could_win_ns > none.could_win_ns * 3 / 2, "{some:?}");
        let words = "used 1.40 of 2 CPUs (0.70 of that spinning)";
        assert!(some.statement.contains(words), "{}", some.statement);
        assert!(!none.statement.contains("spinning"));
    }

    #[test]
    fn threads_that_wait_for_work_are_idle() {
        let mut fake = threads(10, 100, 9_800);
        fake.thread(ROOT, 110, 0, 1000, 990);
        assert!(!fake.ids().contains(&"lock-contention".to_owned()));
    }

    #[test]
    fn processes_that_take_turns_at_a_locked_file_are_told() {
        let mut fake = Fake::new(1000);
        fake.wait_for(ROOT, "wait4", None, (5, 995, 995), Some(201));
        for pid in 201..205 {
            fake.child(pid, 0, 990, 990);
            fake.waits_of(pid, Some("flock"), Some(3), Cause::Asleep, 50, 14_500);
        }
        fake.descriptor_of(201, 3, "/var/lock/table");
        let told = fake.findings();
        assert_eq!(told.len(), 1);
        let statement = &told[0].statement;
        let begin = "4 processes waited 200 times for the lock on /var/lock/table";
        assert!(statement.starts_with(begin), "{statement}");
    }

    #[test]
    fn of_processes_that_take_turns_some_are_luckier() {
        let mut fake = Fake::new(500);
        fake.wait_for(ROOT, "wait4", None, (5, 495, 495), Some(201));
        // The first always has the lock when it wants it.
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
        let told = fake.findings();
        let begin = "3 processes waited 86 times for locks";
        let statement = told.first().map(|it| it.statement.as_str());
        assert!(
            statement.is_some_and(|it| it.starts_with(begin)),
            "{told:?}"
        );
    }

    #[test]
    fn a_starved_machine_says_nothing_of_locks() {
        let told = |ready_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 4, 249_000);
            for tid in 101..105 {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                let locks_ms = 980 - ready_ms;
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 100, locks_ms * 10);
                fake.waits_of(tid, None, None, Cause::Preempted, 10, ready_ms * 100);
            }
            fake.ids().contains(&"lock-contention".to_owned())
        };
        assert!(told(700));
        assert!(!told(850));
    }

    #[test]
    fn nobody_queues_where_nobody_runs() {
        let queue = "lock-contention".to_owned();
        assert!(threads(160, 100, 8_400).ids().contains(&queue));
        assert!(!threads(100, 100, 9_000).ids().contains(&queue));
    }

    #[test]
    fn a_pool_that_one_thread_hands_work_to_and_waits_for_queues_for_nothing() {
        let told = |by: &dyn Fn(u32, u64) -> u32| {
            let mut fake = threads(245, 100, 7_500);
            for turn in 0..10 {
                for tid in 101..105 {
                    let at = 1 + turn * 90;
                    let by = Some(by(tid, turn));
                    fake.wait_for(tid, "futex", None, (at, at + 2, at + 2), by);
                }
            }
            fake.ids().contains(&"lock-contention".to_owned())
        };
        let hub = |tid: u32, turn: u64| match tid {
            101 => 102 + (turn % 3) as u32,
            _ => 101,
        };
        assert!(!told(&hub));
        assert!(told(&|tid, turn| 101 + (tid - 100 + turn as u32) % 4));
    }

    #[test]
    fn who_gives_one_job_after_the_other_and_awaits_each_has_a_pool_and_no_lock() {
        let told = |waits: u64| {
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
            fake.ids().contains(&"lock-contention".to_owned())
        };
        assert!(!told(380));
        assert!(told(4));
    }

    #[test]
    fn a_dozen_waits_for_a_locked_file_are_a_queue() {
        let told = |call: &str| {
            let mut fake = Fake::new(640);
            fake.wait_for(ROOT, "wait4", None, (5, 635, 635), Some(201));
            for (pid, waits, us) in [(201, 12, 28_000), (202, 7, 24_000)] {
                fake.child(pid, 5, 630, 625);
                fake.waits_of(pid, Some(call), Some(4), Cause::Asleep, waits, us);
            }
            fake.ids()
        };
        assert_eq!(told("flock"), ["lock-contention"]);
        assert!(told("futex").is_empty());
    }

    #[test]
    fn one_long_wait_each_is_a_join() {
        assert!(
            !threads(245, 1, 750_000)
                .ids()
                .contains(&"lock-contention".to_owned())
        );
    }
}
