//! Detects threads that wait for a lock while another thread holds it that does something else:
//! `lock-contention` in which the threads don't share work. Their stacks show that they wait for a lock.

use super::{Locks, asleep, barging, holders, queueing, tasks};
use crate::mechanisms::per_item::below::own_caller;
use crate::mechanisms::prelude::*;

/// Threads of one process that wait for locks.
struct Waiting {
    pid: u32,
    tids: Vec<u32>,
    /// Number and total time of their waits.
    waits: f64,
    waited_ns: f64,
    /// The part of that time on the critical path, as in an untraced run.
    on_path_ns: f64,
    /// Whether they wait for an interpreter's own lock.
    for_global_lock: bool,
}

/// Returns the threads of a process that wait for locks for a good part of their time.
fn waiting(analysis: &Analysis<'_>, pid: u32, threads: &[&ThreadTimes]) -> Option<Waiting> {
    let waits_for_lock = |times: &&&ThreadTimes| {
        let locks = Locks::of(analysis, times);
        !times.of_runtime
            && analysis.lock_waits.for_locks(&[times.tid]) >= t::SHOWN_BY_STACKS
            && locks.ns >= t::LOCK_SHARE * locks.of_ns
    };
    let tids = threads.iter().filter(waits_for_lock).map(|times| times.tid);
    let mut tids: Vec<u32> = tids.collect();
    let is_global = |tids: &[u32]| analysis.lock_waits.for_global_lock(tids) >= t::SHOWN_BY_STACKS;
    // The helper threads of a library, such as those of a pool, run nothing that could be moved out of the lock.
    tids.retain(|tid| !is_global(&[*tid]) || runs_own_code(analysis, *tid));
    let (mut waits, mut waited_ns, mut on_path_ns) = (0.0, 0.0, 0.0);
    for (at, row) in analysis.trace.off_cpu.iter().enumerate() {
        if tids.contains(&row.tid) && is_wait(row) {
            let part = analysis.lock_waits.for_locks(&[row.tid]);
            waits += part * row.count as f64;
            waited_ns += part * row.total_ns as f64;
            on_path_ns += part * analysis.wait_of_row(at).1;
        }
    }
    (waits >= t::MANY_LOCK_WAITS as f64).then(|| Waiting {
        pid,
        for_global_lock: is_global(&tids),
        tids,
        waits,
        waited_ns,
        on_path_ns,
    })
}

/// Returns whether stacks of a thread show functions of the program itself.
fn runs_own_code(analysis: &Analysis<'_>, tid: u32) -> bool {
    let rows = analysis.trace.stacks.iter().flat_map(|it| &it.rows);
    let mut own = rows.enumerate().filter(|(_, row)| row.tid == tid);
    own.any(|(at, _)| own_caller(analysis, at).is_some())
}

fn is_wait(row: &OffCpuRow) -> bool {
    row.cause == Cause::Asleep && row.call.as_deref().is_some_and(calls::is_lock)
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let found = analysis.threads_by_process().into_iter();
    let found = found.filter_map(|(pid, threads)| waiting(analysis, pid, &threads));
    let waiting = largest(found, |waiting| waiting.on_path_ns)?;
    let waits_of = |tid: u32| waiting.tids.contains(&tid);
    let meanwhile = holders::meanwhile(analysis, waits_of);
    // Without the lock, nobody would wait for a holder that has no CPU, but for the CPU itself. An interpreter's
    // own lock is held until a time limit ends the wait, whether or not its holder has a CPU. All threads together
    // can't use more than all CPUs.
    let without_cpu = match waiting.for_global_lock {
        true => 0.0,
        false => meanwhile.without_cpu(),
    };
    let on_path = waiting.on_path_ns * (1.0 - without_cpu);
    let room = analysis.wall_ns - analysis.cpu_ns / analysis.observation.cpus.max(1) as f64;
    let saving = on_path.min(room.max(0.0));
    // Threads that share work are described better by what they would save in parallel.
    let others = [queueing::find, asleep::find, barging::find, tasks::find];
    let is_better = |claim: Claim| analysis.share(claim.could_win_ns as f64) >= t::LEAST_SHARE;
    if others
        .iter()
        .any(|find| find(analysis).is_some_and(is_better))
    {
        return None;
    }
    let runtime = analysis.runtime(Some(waiting.pid));
    let who = match waiting.tids.len() {
        1 => "A thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let (times, waited) = (count(waiting.waits.round() as u64), time(waiting.waited_ns));
    let (saved, of_wall) = (time(saving), analysis.percent(saving));
    let statement = match waiting.for_global_lock {
        true => {
            let holder = holder(analysis, &waiting).map_or_else(String::new, |function| {
                format!(", for most of the time in `{function}`")
            });
            format!(
                "{who} waited {times} times for the interpreter's own lock (the GIL), {waited} in all, while another \
                 thread ran{holder}. Without these waits, the command would take at most {saved} less, {of_wall} of the wall time.",
            )
        }
        false => format!(
            "{who} waited {times} times for a lock that another thread held, {waited} in all. Without these waits, \
             the command would take {saved} less, {of_wall} of the wall time.",
        ),
    };
    let advice = match waiting.for_global_lock {
        true => runtime.advice(&[Topic::GlobalLock, Topic::Lock]),
        false if meanwhile.is_computing() => runtime.advice(&[Topic::Lock]),
        false => asleep::ADVICE,
    };
    let fits = |row: &OffCpuRow, _| is_wait(row) && waits_of(row.tid);
    Some(
        Claim::new(FindingId::LockContention, analysis, saving, statement)
            .with_if(
                meanwhile
                    .in_words(analysis)
                    .filter(|_| !waiting.for_global_lock),
            )
            .with_lock_of(
                holders::taken_in(analysis, waits_of).filter(|_| !waiting.for_global_lock),
            )
            .evidence("threads that wait", waiting.tids.len(), "threads")
            .evidence("waits", waiting.waits, "calls")
            .evidence("time waited, all threads", waiting.waited_ns, "ns")
            .advice(advice)
            .pid(waiting.pid)
            .likely()
            .least(Least::OF_WAITING)
            .of_waits(analysis, fits),
    )
}

/// Returns the function in which the busiest other thread of the process spends most of its time.
fn holder<'a>(analysis: &'a Analysis<'_>, waiting: &Waiting) -> Option<&'a str> {
    let others = analysis.threads_of(waiting.pid);
    let others = others.filter(|times| !waiting.tids.contains(&times.tid));
    let busiest = others.max_by(|a, b| a.on_cpu_ns.total_cmp(&b.on_cpu_ns))?;
    analysis.main_own_function(busiest.tid)
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;
    use fathom_stacks::Frame;
    use fathom_trace::Activity;

    use crate::fake::{Fake, ROOT, hold_words};

    fn frames(functions: &[(&str, &str)]) -> Vec<Frame> {
        let frame = |(function, binary): &(&str, &str)| Frame {
            function: Some((*function).to_owned()),
            binary: (*binary).to_owned(),
            ..Frame::default()
        };
        functions.iter().map(frame).collect()
    }

    /// Returns a main thread that waits 40 times for a thread which computes or, for most of the time,
    /// sleeps. The main thread's stacks show these functions, outermost first.
    fn waits(sleeps: bool, functions: &[(&str, &str)]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        for turn in 0..40 {
            let at = turn * 25;
            fake.wait_for(ROOT, "futex", None, (at, at + 15, at + 15), Some(101));
            if sleeps {
                fake.wait_for(
                    101,
                    "clock_nanosleep",
                    None,
                    (at + 1, at + 14, at + 14),
                    None,
                );
            }
        }
        fake.stack(Activity::Wait, Some("futex"), frames(functions), 600);
        fake
    }

    #[test]
    fn who_waits_for_a_lock_whose_holder_sleeps_is_told_so() {
        let functions = [
            ("handle", "/bin/a"),
            ("pthread_rwlock_rdlock", "/lib/libc.so.6"),
        ];
        let found = waits(true, &functions).findings();
        assert_eq!(found[0].id, FindingId::LockContention);
        hold_words("behind", &found[0]);
        let (statement, advice) = (&found[0].statement, &found[0].advice);
        let begin = "A thread waited 40 times for a lock that another thread held, 600 ms in all";
        assert!(statement.starts_with(begin), "{statement}");
        assert!(statement.contains("the holder slept"), "{statement}");
        assert!(advice.starts_with("Release the lock before"), "{advice}");
    }

    #[test]
    fn who_waits_for_a_notification_waits_for_no_lock() {
        let functions = [("take", "/bin/a"), ("pthread_cond_wait", "/lib/libc.so.6")];
        let ids = waits(false, &functions).ids();
        assert!(!ids.contains(&"lock-contention"), "{ids:?}");
    }

    #[test]
    fn the_lock_of_an_interpreter_is_named() {
        let functions = [
            ("main", "/srv/app.py"),
            ("pthread_cond_timedwait", "/lib/libc.so.6"),
        ];
        let mut fake = waits(false, &functions);
        fake.trace.processes[0].execs[0].path = "/usr/bin/python3".to_owned();
        let frames = frames(&[("statistics", "/srv/app.py")]);
        fake.stack(Activity::OwnCode, None, frames, 900);
        let rows = fake.trace.stacks.iter_mut().flat_map(|it| &mut it.rows);
        rows.last().expect("just added").tid = 101;
        // A pool's helper runs no function of the program.
        let mut helper = waits(false, &functions.map(|(name, _)| (name, "/lib/libc.so.6")));
        helper.trace.processes[0].execs[0].path = "/usr/bin/python3".to_owned();
        assert!(!helper.ids().contains(&"lock-contention"));
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::LockContention, "{found:?}");
        let words = "for the interpreter's own lock (the GIL), 600 ms in all, while another thread ran, for most of \
                     the time in `statistics`";
        assert!(found[0].statement.contains(words), "{}", found[0].statement);
        assert!(found[0].advice.contains("processes"), "{}", found[0].advice);
    }
}
