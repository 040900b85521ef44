//! Detects tasks that wait for other tasks, of which nobody can run any: those of a pool whose threads all wait.

use fathom_model::{CodePlace, without_type_arguments};
use fathom_trace::Activity;

use crate::mechanisms::prelude::*;

/// The part of the observed time for which each of the threads must wait.
const LEAST_PART: f64 = 0.25;
/// The maximum part of this wait for which all threads of the process together run: a JVM starts in 50 ms.
const MOST_RUNNING: f64 = 0.2;
/// The maximum part of this wait that another thread waits for something outside: it may work on what is awaited.
const MOST_ELSEWHERE: f64 = 0.5;

/// Threads of one process that wait for tasks that no thread works on.
struct Starved {
    pid: u32,
    threads: usize,
    /// How long each of them waited at least, as traced.
    waited_ns: u64,
    code: CodePlace,
}

/// The waits of one thread for other tasks.
#[derive(Default)]
struct Waits {
    ns: u64,
    /// Whether the thread runs tasks of a pool.
    in_pool: bool,
    /// The time by the frame of the program's own function.
    places: BTreeMap<Option<u32>, u64>,
}

/// Returns the threads of the process in which most of them wait.
fn starved(analysis: &Analysis<'_>) -> Option<Starved> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let [awaits, runs] = [Use::AwaitsTask, Use::RunsTasks].map(|it| analysis.frames_for(it));
    let mut waits: BTreeMap<(u32, u32), Waits> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        let in_lock = row.call.as_deref().is_some_and(calls::is_lock);
        let by_nobody = row.woken_by.is_none_or(|by| analysis.thread(by).is_none());
        if row.activity != Activity::Wait || !in_lock || !by_nobody {
            continue;
        }
        let frames = || {
            row.node
                .into_iter()
                .flat_map(|node| stacks.tree.frame_numbers_of(node))
        };
        if frames().any(|number| awaits[number as usize]) {
            let of = waits.entry((row.pid, row.tid)).or_default();
            of.ns += row.ns;
            of.in_pool |= frames().any(|number| runs[number as usize]);
            *of.places
                .entry(analysis.routes().own_caller(at))
                .or_default() += row.ns;
        }
    }
    let least = LEAST_PART * analysis.trace.duration_ns as f64;
    let staying = waits.into_iter().filter(|(_, of)| of.ns as f64 >= least);
    let by_process = grouped(staying.map(|((pid, tid), of)| (pid, (tid, of))));
    let (pid, found) = by_process
        .into_iter()
        .max_by_key(|(_, found)| found.len())?;
    let waited_ns = found.iter().map(|(_, of)| of.ns).min()?;
    let tids: Vec<u32> = found.iter().map(|(tid, _)| *tid).collect();
    let (mut ran, mut elsewhere) = (0.0, 0.0_f64);
    for times in analysis.threads_of(pid).filter(|times| !times.of_runtime) {
        ran += times.on_cpu_ns;
        if !tids.contains(&times.tid) {
            elsewhere = elsewhere.max(super::asleep::asleep_ns(times));
        }
    }
    let in_pool = found.iter().any(|(_, of)| of.in_pool);
    let is_starved = (tids.len() > 1 || in_pool)
        && ran <= MOST_RUNNING * waited_ns as f64
        && elsewhere <= MOST_ELSEWHERE * waited_ns as f64;
    let places = totals(found.into_iter().flat_map(|(_, of)| of.places));
    let caller = places
        .into_iter()
        .max_by_key(|(_, ns)| *ns)
        .and_then(|(place, _)| place);
    is_starved.then(|| Starved {
        pid,
        threads: tids.len(),
        waited_ns,
        code: caller
            .and_then(|it| analysis.place_of_frame(it))
            .unwrap_or_default(),
    })
}

/// Returns whether there are such threads.
pub(crate) fn is_starved(analysis: &Analysis<'_>) -> bool {
    starved(analysis).is_some()
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let starved = starved(analysis)?;
    let within = starved.code.function.as_deref().map(without_type_arguments);
    let within = within.map_or_else(String::new, |name| format!(" in `{name}`"));
    let who = match starved.threads {
        1 => "A thread".to_owned(),
        threads => format!("{threads} threads at once"),
    };
    let waited = analysis
        .untraced(starved.waited_ns as f64)
        .min(analysis.timed_ns);
    let statement = format!(
        "{who} waited{within} for other tasks until the time was up, for at least {}, and no thread worked on these \
         tasks.",
        analysis.time_and_share(waited),
    );
    let mut claim = Claim::new(FindingId::LockContention, analysis, waited, statement);
    claim.code = starved.code;
    let is_meant =
        |row: &OffCpuRow| row.pid == starved.pid && row.call.as_deref().is_some_and(calls::is_lock);
    Some(
        claim
            .evidence("threads that wait", starved.threads, "threads")
            .evidence("time that each waits", waited, "ns")
            .advice(
                "A task that waits for another one of the same pool keeps a thread, and if all threads wait, nobody is \
                 left for the tasks in the queue (a deadlock of the pool): let a task do the inner work itself, give \
                 inner tasks a pool of their own, or continue with their results without waiting.",
            )
            .pid(starved.pid)
            .likely()
            .in_waits(analysis, waited, |row, _| is_meant(row)),
    )
}

#[cfg(test)]
mod tests {
    use fathom_stacks::Frame;
    use fathom_trace::{Activity, Cause};

    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns a pool of two threads that wait for tasks, and the main thread, which waits for their results.
    fn pool(function: &str) -> Fake {
        let mut fake = Fake::new(2000);
        fake.waits(Some("futex"), None, Cause::Asleep, 1, 1_990_000);
        for tid in [101, 102] {
            fake.thread(ROOT, tid, 10, 2000, 1990);
            fake.trace.threads.last_mut().expect("just added").on_cpu_ns = Some(1_000_000);
            fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 3, 600_000);
            let frames = ["App.price", function, "jdk.internal.misc.Unsafe.park"];
            let frames = frames.map(|name| Frame {
                binary: "//anon".to_owned(),
                function: Some(name.to_owned()),
                ..Frame::default()
            });
            fake.stack(Activity::Wait, Some("futex"), frames, 1800);
            let stacks = fake.trace.stacks.as_mut().expect("just added");
            stacks.rows.last_mut().expect("just added").tid = tid;
        }
        fake
    }

    fn is_reported(fake: &mut Fake) -> bool {
        let found = fake.findings();
        found
            .iter()
            .any(|it| it.statement.contains("for other tasks"))
    }

    #[test]
    fn a_pool_whose_threads_all_wait_for_it_is_named_with_where_they_wait() {
        let mut fake = pool("java.util.concurrent.FutureTask.get");
        let found = fake.findings();
        hold_words("starved", &found[0]);
        let words = "2 threads at once waited in `App.price` for other tasks until the time was up, for at least 1.80 s";
        assert!(found[0].statement.starts_with(words), "{found:?}");
    }

    #[test]
    fn tasks_that_some_thread_works_on_are_not_starved() {
        let get = "java.util.concurrent.FutureTask.get";
        assert!(!is_reported(&mut pool(
            "java.util.concurrent.LinkedBlockingQueue.poll"
        )));
        let mut ended = pool(get);
        ended.trace.stacks.as_mut().expect("it has stacks").rows[1].woken_by = Some(101);
        assert!(!is_reported(&mut ended));
        let mut computed = pool(get);
        computed.thread(ROOT, 103, 0, 2000, 1000);
        computed
            .trace
            .threads
            .last_mut()
            .expect("just added")
            .on_cpu_ns = Some(900_000_000);
        assert!(!is_reported(&mut computed));
        let mut slept = pool(get);
        slept.thread(ROOT, 103, 0, 2000, 2000);
        slept
            .trace
            .threads
            .last_mut()
            .expect("just added")
            .on_cpu_ns = Some(1_000_000);
        slept.waits_of(
            103,
            Some("clock_nanosleep"),
            None,
            Cause::Asleep,
            3,
            600_000,
        );
        assert!(!is_reported(&mut slept));
    }
}
