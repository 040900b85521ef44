//! Detects a lock that is repeatedly taken again by the thread that just released it: `lock-contention` in
//! which only one side waits.

use super::side_by_side;
use crate::mechanisms::prelude::*;

/// A thread that waits for a lock, and a thread that wakes it each time but takes the lock again before it
/// runs.
struct Pair<'a> {
    waiter: &'a ThreadTimes,
    holder: &'a ThreadTimes,
    /// How long the waiter has computed since its first wait, which is its share of the work without its
    /// startup.
    work_ns: f64,
    waits: u64,
    waited_ns: f64,
    /// Whether the waiter found the lock taken each time.
    in_vain: bool,
    /// The descriptor of the locked file, if the lock is on a file.
    file: Option<i32>,
}

impl Pair<'_> {
    /// Returns the saving from running in parallel. Jobs that are taken from a locked file are shared by both
    /// threads; otherwise, each thread keeps its own jobs.
    fn saving_ns(&self) -> f64 {
        let most = match self.file {
            Some(_) => (self.waiter.on_cpu_ns + self.holder.on_cpu_ns) / 2.0,
            None => self.work_ns.min(self.holder.on_cpu_ns),
        };
        self.waited_ns.min(most)
    }
}

/// Reports whether the waiter did next to nothing between its waits: each time, it was woken, found the lock
/// taken, and slept again.
fn in_vain(waits: &[&Interval]) -> bool {
    let between = waits
        .windows(2)
        .map(|two| two[1].from_ns.saturating_sub(two[0].to_ns));
    let retries = between.filter(|ns| *ns <= t::RETRY_OF_A_LOCK_NS).count();
    retries * 10 >= 9 * waits.len().saturating_sub(1)
}

/// Returns how long a thread has computed since `from_ns`.
fn work_since(analysis: &Analysis<'_>, times: &ThreadTimes, from_ns: u64) -> f64 {
    let intervals = analysis.trace.timeline.iter().flatten();
    let off = intervals
        .filter(|off| off.tid == times.tid && off.from_ns >= from_ns)
        .map(|off| off.to_ns.saturating_sub(off.from_ns));
    let on = times.to_ns.saturating_sub(from_ns);
    (on.saturating_sub(off.sum()) as f64).min(times.on_cpu_ns)
}

fn pairs<'a>(analysis: &'a Analysis<'_>) -> Vec<Pair<'a>> {
    let waits = analysis.ended_waits(calls::is_any_lock);
    let waits = grouped(waits.map(|(wait, by)| ((wait.tid, by), wait)));
    let times = |tid| analysis.thread(tid).filter(|times| !times.of_runtime);
    let pair = |((waiter, holder), waits): ((u32, u32), Vec<&Interval>)| {
        let (waiter, holder) = (times(waiter)?, times(holder)?);
        let waited: u64 = waits.iter().map(|wait| wait.to_ns - wait.from_ns).sum();
        // Shorter waits are hand-overs of next to no work, rather than waits for a lock that is held.
        let held = waited >= t::RETRY_OF_A_LOCK_NS * waits.len() as u64;
        let enough = held
            && waits.len() as u64 >= t::MANY_LOCK_WAITS
            && waited as f64 >= t::LOCK_SHARE * waiter.ns().min(holder.ns());
        let last = waits.last()?;
        let on_file = last.call.as_deref().is_some_and(calls::is_file_lock);
        // A thread that waits for a locked file waits for nothing else.
        let in_vain = in_vain(&waits);
        if !enough || !(on_file || in_vain) {
            return None;
        }
        // Both do the same kind of work. A thread that waits for another's results or messages does a
        // different kind.
        let work_ns = work_since(analysis, waiter, waits.first()?.from_ns);
        let alike = analysis.program_of(waiter.pid) == analysis.program_of(holder.pid)
            && (on_file || work_ns >= t::PART_OF_A_WORKER * holder.on_cpu_ns);
        alike.then_some(Pair {
            waiter,
            holder,
            work_ns,
            waits: waits.len() as u64,
            waited_ns: waited as f64,
            in_vain,
            file: last.fd.filter(|_| on_file),
        })
    };
    waits.into_iter().filter_map(pair).collect()
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    // Idle threads may wait in the same call as those that wait for locks.
    if analysis.runtime(None).idle_wait("futex")
        || analysis.observation.cpus < 2
        || analysis.quiet < t::LEAST_QUIET
    {
        return None;
    }
    let pair = largest(pairs(analysis), Pair::saving_ns)?;
    let saving = analysis.untraced(pair.saving_ns() * analysis.quiet);
    // An interpreter's global lock is handed over after 5 ms, so there are a few such waits whenever threads
    // start.
    let own_lock = analysis
        .runtime(Some(pair.waiter.pid))
        .has(Habit::GlobalLock);
    let least = if own_lock {
        t::LOCK_SHARE
    } else {
        t::LEAST_SHARE
    };
    let kind = match pair.waiter.pid == pair.holder.pid {
        true => "thread",
        false => "process",
    };
    let path = pair
        .file
        .and_then(|fd| analysis.name_of(pair.waiter.pid, fd));
    let lock = match &path {
        Some(path) => format!("the lock on {path}"),
        None => "a lock".to_owned(),
    };
    let statement = format!(
        "A {kind} waited {} times for {lock} ({} in all), which another {kind} {}",
        count(pair.waits),
        time(pair.waited_ns),
        match pair.in_vain {
            true => "took back each time before the waiter ran",
            false => "held",
        },
    );
    Some(
        side_by_side(analysis, saving, &statement, "")
            .evidence("waits", pair.waits, "calls")
            .evidence("time queued", pair.waited_ns, "ns")
            .advice("Compute outside the lock and hold it only to store the result; keep a sum per worker, or split the \
                 lock.")
            .pid(pair.waiter.pid)
            .tid(pair.waiter.tid)
            .on(pair.file, path)
            .least(Least::share(least)),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns a process that waits 50 times for another one and works `own` ms between two waits, and that
    /// later works alone for `later` ms.
    fn pair(own: u64, later: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.wait_for(ROOT, "wait4", None, (1, 999, 999), Some(201));
        fake.child(200, 0, 500, 500);
        fake.child(201, 0, 500 + later, 500 + later);
        for i in 0..50 {
            let to = (i + 1) * 10;
            fake.wait_for(201, "futex", None, (i * 10 + own, to, to), Some(200));
        }
        fake
    }

    #[test]
    fn a_lock_that_is_taken_back_each_time_is_found() {
        let found = pair(0, 490).findings();
        assert_eq!(found[0].id, FindingId::LockContention);
        hold_words("barging", &found[0]);
        assert!(
            found[0].statement.contains("50 times"),
            "{}",
            found[0].statement
        );
    }

    #[test]
    fn what_compiles_for_a_runtime_competes_for_nothing() {
        let mut fake = pair(0, 490);
        let thread = fake.trace.threads.iter_mut().find(|it| it.tid == 201);
        thread.expect("it is there").name = "C2 CompilerThre".to_owned();
        assert!(!fake.ids().contains(&"lock-contention"));
    }

    #[test]
    fn a_locked_file_that_one_has_nearly_all_the_time_is_reported_and_no_free_cpu() {
        let mut fake = Fake::new(1000);
        fake.wait_for(ROOT, "wait4", None, (1, 999, 999), Some(201));
        for (pid, cpu) in [(200, 950), (201, 1000)] {
            fake.child(pid, 0, 1000, cpu);
            let process = fake.trace.processes.last_mut().expect("a child");
            process.execs.clear();
        }
        for i in 0..95 {
            let to = (i + 1) * 10;
            fake.wait_for(201, "flock", Some(3), (i * 10, to, to), Some(200));
        }
        assert_eq!(fake.ids(), ["lock-contention"]);
    }

    #[test]
    fn hand_overs_of_next_to_no_work_are_a_storm() {
        let mut fake = pair(0, 490);
        for _ in 0..5_000 {
            fake.wait_for(201, "futex", None, (0, 0, 0), Some(200));
        }
        let waits = fake.trace.timeline.iter_mut().flatten();
        for (i, wait) in (0..).zip(waits.filter(|wait| wait.tid == 201)) {
            (wait.from_ns, wait.to_ns) = (i * 100_000, i * 100_000 + 60_000);
        }
        assert!(!fake.ids().contains(&"lock-contention"));
    }

    #[test]
    fn who_works_on_what_it_waited_for_is_given_work() {
        assert!(!pair(4, 490).ids().contains(&"lock-contention"));
    }

    #[test]
    fn what_came_before_the_first_wait_is_no_work_on_it() {
        let mut fake = pair(0, 20);
        let waits = fake.trace.timeline.iter_mut().flatten();
        for wait in waits.filter(|wait| wait.tid == 201) {
            wait.from_ns += 400_000_000;
            wait.to_ns += 400_000_000;
        }
        fake.trace.processes[2].ended_ns = Some(930_000_000);
        let thread = fake.trace.threads.iter_mut().find(|it| it.tid == 201);
        let thread = thread.expect("it is there");
        (thread.ended_ns, thread.on_cpu_ns) = (Some(930_000_000), Some(430_000_000));
        assert!(!fake.ids().contains(&"lock-contention"));
    }

    #[test]
    fn who_has_next_to_nothing_to_do_shows_of_progress() {
        assert!(!pair(0, 20).ids().contains(&"lock-contention"));
    }
}
