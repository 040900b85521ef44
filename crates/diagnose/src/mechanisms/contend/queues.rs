//! Finds threads or processes that queue for a lock.

use super::Locks;
use crate::mechanisms::prelude::*;

/// Threads of one process that queue, with totals.
pub(super) struct Queue {
    pub pid: u32,
    pub threads: usize,
    /// The descriptor of the locked file, if processes queue for one.
    pub file: Option<i32>,
    /// Whether processes queue rather than threads.
    pub between_processes: bool,
    /// Whether the lock is the one under which an interpreter runs all of a process's code.
    pub is_global: bool,
    pub waits: u64,
    pub waited_ns: f64,
    pub cpu_ns: f64,
    /// The part of the CPU time spent in code that is only reached while another thread holds a lock.
    pub spun_ns: f64,
    /// The part of the CPU time spent outside of the calls by which threads wait and wake each other, if
    /// calls are timed.
    pub work_ns: f64,
    /// The total time that the threads were on a CPU or ready for one.
    pub able_ns: f64,
    /// Whether only one of the threads at a time was able to run. That is the lock's doing, however long each
    /// of them waited for a CPU.
    pub is_in_turn: bool,
    /// The time from the start of the first thread to the end of the last one, as traced.
    pub span_ns: f64,
    /// The part of the span in which at least one of the threads waited for something other than a lock, such
    /// as a reader, and may have held a lock meanwhile.
    pub elsewhere_ns: f64,
    /// The part of those waits that was for the reader of a pipe, in which case the reader sets the pace.
    pub for_reader_ns: f64,
}

impl Queue {
    pub(super) fn cpu_per_wait(&self) -> f64 {
        self.cpu_ns / self.waits.max(1) as f64
    }

    /// Reports whether there is so little work between two waits that they are hand-overs.
    pub(super) fn is_storm(&self) -> bool {
        self.cpu_per_wait() < t::STORM_CPU_PER_WAIT_NS
            || self.work_ns / (self.waits.max(1) as f64) < t::STORM_WORK_PER_WAIT_NS
    }
}

/// Returns processes in which several threads repeatedly wait for locks while they share work.
pub(super) fn queues(analysis: &Analysis<'_>) -> Vec<Queue> {
    let threads = analysis.threads.iter().filter(|times| !times.of_runtime);
    let threads = grouped(threads.map(|times| (times.pid, times))).into_iter();
    let found = threads.filter_map(|(pid, threads)| queue(analysis, pid, &threads, |_| true));
    found.chain(between_processes(analysis)).collect()
}

/// Returns processes whose main threads queue for a lock on a file or for one in shared memory.
fn between_processes(analysis: &Analysis<'_>) -> Option<Queue> {
    let waits = |times: &ThreadTimes| match times.tid == times.pid {
        true => analysis.file_lock_waits(times.tid) + analysis.lock_waits(times.tid),
        false => analysis.file_lock_waits(times.tid),
    };
    let often = |times: &&ThreadTimes| waits_often(analysis, times.tid, waits(times));
    if !analysis.threads.iter().any(|times| often(&times)) {
        return None;
    }
    let for_own = waiting_for_own_threads(analysis);
    let for_others = |times: &ThreadTimes| {
        analysis.file_lock_waits(times.tid) > 0 || !for_own.contains(&times.tid)
    };
    let threads = analysis.threads.iter();
    let queueing = threads.filter(often).filter(|times| for_others(times));
    let pids: BTreeSet<u32> = queueing.map(|times| times.pid).collect();
    // A thread that distributes the work counts too: if it does most of the work, the others are idle.
    let all: Vec<&ThreadTimes> = analysis.threads.iter().collect();
    // Processes that are copies of each other share memory.
    let program = |pid: &u32| analysis.program_of(*pid);
    let first = program(pids.first()?);
    let several = pids.len() > 1 && pids.iter().all(|pid| program(pid) == first);
    let pid = *pids.first().filter(|_| several)?;
    let rows = analysis.trace.off_cpu.iter().filter(|row| row.pid == pid);
    let locks = rows.filter(|row| row.call.as_deref().is_some_and(calls::is_file_lock));
    let file = locks.max_by_key(|row| row.total_ns).and_then(|row| row.fd);
    // Some threads that do the same work get the lock more easily.
    let lucky = |times: &ThreadTimes| {
        let luckier = waits(times) >= t::MANY_LOCK_WAITS / 3 && program(&times.pid) == first;
        luckier && for_others(times)
    };
    Some(Queue {
        file,
        between_processes: true,
        is_global: false,
        ..queue(analysis, pid, &all, |times| {
            match pids.contains(&times.pid) {
                true => waits(times) > 0,
                false => lucky(times),
            }
        })?
    })
}

/// Reports whether a thread waited for locks often enough to be queueing; `waits` is the total number of
/// waits of all threads.
fn waits_often(analysis: &Analysis<'_>, tid: u32, waits: u64) -> bool {
    waits >= t::MANY_LOCK_WAITS || analysis.file_lock_waits(tid) >= t::MANY_FILE_LOCK_WAITS
}

/// Returns threads whose lock waits were mostly for threads of their own process: as far as known, those
/// threads ended waits that make up most of that time.
fn waiting_for_own_threads(analysis: &Analysis<'_>) -> HashSet<u32> {
    let locks = analysis.ends_of_waits(calls::is_lock);
    let for_own = locks
        .into_iter()
        .filter(|(_, ends)| ends.own.ns > ends.others.ns);
    for_own.map(|(tid, _)| tid).collect()
}

/// Returns how often a thread requested a lock on a file. Each release wakes all waiters, and all but one of
/// them sleep again.
fn file_locks(analysis: &Analysis<'_>, tid: u32) -> u64 {
    let rows = analysis
        .rows_of(tid)
        .filter(|row| calls::is_file_lock(&row.name));
    match rows.map(|row| row.calls).sum() {
        0 => u64::MAX,
        calls => calls,
    }
}

/// Returns the queue among the threads for which `may` is true. The CPU time of the other threads counts as
/// well.
fn queue(
    analysis: &Analysis<'_>,
    pid: u32,
    threads: &[&ThreadTimes],
    may: impl Fn(&ThreadTimes) -> bool,
) -> Option<Queue> {
    let all_cpu = threads.cpu_ns();
    let works = |times: &&&ThreadTimes| times.on_cpu_ns >= 0.03 * all_cpu;
    let working = threads.iter().filter(works).count();
    // A thread that distributes work waits for the others, not for access to the lock.
    let least_part = t::PART_OF_A_WORKER / working.max(1) as f64;
    let waits = |times: &ThreadTimes| {
        let on_files = analysis.file_lock_waits(times.tid);
        analysis.lock_waits(times.tid) + on_files.min(file_locks(analysis, times.tid))
    };
    let queues = |times: &&ThreadTimes| {
        // Of two threads that lock a file, the one that gets the lock more easily waits less; neither waits
        // for anything else there.
        let on_files = analysis.file_lock_waits(times.tid) >= t::MANY_FILE_LOCK_WAITS;
        let share = if on_files {
            t::LOCK_SHARE / 4.0
        } else {
            t::LOCK_SHARE
        };
        let locks = Locks::of(analysis, times);
        (on_files || waits(times) >= t::MANY_LOCK_WAITS / 3)
            && locks.ns >= share * locks.of_ns
            && times.on_cpu_ns >= least_part * all_cpu
    };
    let may_queue = threads.iter().copied().filter(|times| may(times));
    let queueing: Vec<&ThreadTimes> = may_queue.filter(queues).collect();
    let cpu_ns = queueing.cpu_ns();
    // One of the threads may get the lock easily and rarely wait.
    let often = |times: &&&ThreadTimes| waits_often(analysis, times.tid, waits(times));
    // If one thread does the work and the others wait for it to hand some out, the others are idle.
    if queueing.iter().filter(often).count() < 2 || cpu_ns < t::PART_OF_QUEUES * all_cpu {
        return None;
    }
    let tids: Vec<u32> = queueing.iter().map(|times| times.tid).collect();
    let all_waits: u64 = queueing.iter().map(|times| waits(times)).sum();
    let gives = |times: &&ThreadTimes| {
        let (workers, waits, cpu_ns) = match tids.contains(&times.tid) {
            true => (
                tids.len() - 1,
                all_waits - waits(times),
                cpu_ns - times.on_cpu_ns,
            ),
            false => (tids.len(), all_waits, cpu_ns),
        };
        workers > 1
            && times.on_cpu_ns < t::CPU_OF_A_GIVER * cpu_ns / workers as f64
            && analysis.lock_waits(times.tid) as f64 >= t::PART_OF_A_GIVER * waits as f64
    };
    let given = || threads.iter().any(gives);
    let for_locks = analysis.lock_waits.for_locks(&tids) >= t::SHOWN_BY_STACKS;
    let by_stacks = for_locks || on_files(analysis, &tids) > 0;
    if !by_stacks && (have_hub(analysis, &tids) || given()) {
        return None;
    }
    // In Python, a queue, an event and a thread's end are awaited as locks are.
    let for_events = || analysis.lock_waits.for_events(&tids) >= t::SHOWN_BY_STACKS;
    let has_global_lock = analysis.runtime(Some(pid)).has(Habit::GlobalLock);
    // The threads of a pool that wait for work wait for no lock.
    let in_conditions = analysis.lock_waits.in_conditions(&tids) >= t::SHOWN_BY_STACKS;
    if in_conditions || has_global_lock && for_events() {
        return None;
    }
    // Idle threads may wait in the same call as those that wait for locks. They can be excluded only if more
    // threads than there are CPUs do equal parts of the work.
    let (least, most) = queueing.least_and_most_cpu_ns();
    let may_idle = analysis.runtime(Some(pid)).idle_wait("futex");
    // If a probe recorded who waits for mutexes, looking at the threads adds nothing.
    if may_idle && analysis.trace.mutexes.iter().any(|row| row.pid == pid) {
        return None;
    }
    // If calls take most of the time, the process's runtime passes runnable work from thread to thread.
    let handed_on = analysis.in_kernel_ns() > analysis.spent_ns(TimeCategory::UserCode);
    if may_idle
        && (handed_on || queueing.len() < analysis.observation.cpus + 2 || least < 0.7 * most)
    {
        return None;
    }
    let (from, to) = queueing.span()?;
    let (span_ns, able_ns) = (
        (to - from) as f64,
        cpu_ns + queueing.spent_ns(TimeCategory::Ready),
    );
    let delayed = queueing
        .iter()
        .map(|times| Locks::of(analysis, times).delayed_ns);
    let delayed_ns: f64 = delayed.sum();
    Some(Queue {
        pid,
        threads: queueing.len(),
        file: None,
        between_processes: false,
        is_global: analysis.lock_waits.for_global_lock(&tids) >= t::SHOWN_BY_STACKS,
        waits: all_waits,
        waited_ns: queueing.spent_ns(TimeCategory::Locks),
        cpu_ns,
        spun_ns: queueing.iter().map(|times| analysis.spun_ns(times)).sum(),
        work_ns: cpu_ns - queueing.spent_ns(TimeCategory::KernelWaiting),
        able_ns,
        is_in_turn: able_ns - delayed_ns <= t::MOST_OF_TURNS * span_ns
            || analysis.take_turns(&queueing),
        span_ns,
        elsewhere_ns: elsewhere_ns(analysis, &tids, |_| true),
        for_reader_ns: elsewhere_ns(analysis, &tids, |wait| writes_to_pipe(analysis, wait)),
    })
}

fn writes_to_pipe(analysis: &Analysis<'_>, wait: &Interval) -> bool {
    let writes = wait.call.as_deref().is_some_and(calls::is_write);
    let pipe = |fd| analysis.descriptors.waited_for(wait.pid, fd) == WaitKind::Pipe;
    writes && wait.fd.is_some_and(pipe)
}

/// Returns how long at least one of these threads was in a matching wait for something other than a lock or a
/// CPU; 0 if individual waits are unknown.
fn elsewhere_ns(analysis: &Analysis<'_>, tids: &[u32], so: impl Fn(&Interval) -> bool) -> f64 {
    let waits = |interval: &&Interval| {
        let asleep = !matches!(interval.cause, Cause::Preempted | Cause::Ready);
        let locked = interval.call.as_deref().is_some_and(calls::is_any_lock);
        asleep && !locked && tids.contains(&interval.tid) && so(interval)
    };
    let waits = analysis.trace.timeline.iter().flatten().filter(waits);
    let waits = waits.map(|one| (one.tid, one.from_ns, one.woken_ns.unwrap_or(one.to_ns)));
    covered_ns(&waits.collect::<Vec<_>>()) as f64
}

/// Returns how often these threads waited for locks on files.
fn on_files(analysis: &Analysis<'_>, tids: &[u32]) -> u64 {
    tids.iter().map(|tid| analysis.file_lock_waits(*tid)).sum()
}

/// Reports whether one thread ended nearly all waits of the others, and they ended its waits. Such a thread
/// hands out work and gets it back, as in the linker `lld`. By contrast, releasing a lock wakes the next
/// thread in the queue, whichever that is. With only two threads, this can't be determined.
fn have_hub(analysis: &Analysis<'_>, tids: &[u32]) -> bool {
    let waits = analysis.ended_waits(calls::is_lock);
    let waits: Vec<_> = waits.filter(|(wait, _)| tids.contains(&wait.tid)).collect();
    // The waits are weighted by time, because the other threads also wake each other for the pool's own short
    // lock.
    let ns = |wait: &Interval| wait.to_ns.saturating_sub(wait.from_ns);
    let each = waits
        .iter()
        .flat_map(|(wait, by)| [(*by, ns(wait)), (wait.tid, ns(wait))]);
    let most = totals(each).into_values().max().unwrap_or(0) as f64;
    let all_ns: u64 = waits.iter().map(|(wait, _)| ns(wait)).sum();
    let are_many = waits.len() as u64 >= t::MANY_LOCK_WAITS;
    tids.len() > 2 && are_many && most >= t::PART_OF_A_HUB * all_ns as f64
}
