//! Detects threads that wait for locks which nobody releases.

use fathom_model::{CodePlace, without_type_arguments};
use fathom_trace::Activity;

use crate::lock_waits::is_for_lock;
use crate::mechanisms::prelude::*;

/// The part of the observed time for which at least two threads must wait.
const LEAST_PART: f64 = 0.25;
/// The part of the observed time that such threads run at most: some runtimes look now and then whether there
/// is a deadlock.
const MOST_RUNNING: f64 = 0.05;
/// The maximum number of threads to name.
const MOST_NAMED: usize = 4;

/// A thread that waits for a lock until the end.
struct Waiter {
    pid: u32,
    tid: u32,
    ns: u64,
    /// The number of its row in the stacks.
    row: usize,
}

/// Returns the threads of one process that waited for locks until the end of the observation, without any
/// thread of the tree ending one of these waits; empty if there are fewer than two.
fn waiters(analysis: &Analysis<'_>) -> Vec<Waiter> {
    let trace = analysis.trace;
    let Some(stacks) = trace.stacks.as_ref().filter(|_| trace.is_cut_off()) else {
        return Vec::new();
    };
    let mut found: BTreeMap<(u32, u32), Option<Waiter>> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        let in_lock = row.call.as_deref().is_some_and(calls::is_lock);
        if row.activity != Activity::Wait || !in_lock || analysis.works.is_of_runtime(row.tid) {
            continue;
        }
        let frames = row.node.into_iter().flat_map(|node| stacks.tree.path(node));
        if !is_for_lock(frames) {
            continue;
        }
        let waiter = Waiter {
            pid: row.pid,
            tid: row.tid,
            ns: row.ns,
            row: at,
        };
        let ended = row.woken_by.is_some_and(|by| analysis.thread(by).is_some());
        let known = found.entry((row.pid, row.tid));
        let known = known.or_insert(Some(Waiter { ns: 0, ..waiter }));
        match known.as_mut() {
            _ if ended => *known = None,
            Some(known) => known.ns += row.ns,
            None => {}
        }
    }
    let whole = trace.duration_ns as f64;
    let stays = |waiter: &Waiter| {
        let ran = analysis
            .thread(waiter.tid)
            .map_or(0.0, |times| times.on_cpu_ns);
        waiter.ns as f64 >= LEAST_PART * whole && ran <= MOST_RUNNING * whole
    };
    let staying = found.into_values().flatten().filter(stays);
    let by_process = grouped(staying.map(|waiter| (waiter.pid, waiter)));
    let most = by_process.into_values().max_by_key(Vec::len);
    most.filter(|waiters| waiters.len() >= 2)
        .unwrap_or_default()
}

/// Returns whether there are such threads.
pub(crate) fn is_dead(analysis: &Analysis<'_>) -> bool {
    !waiters(analysis).is_empty()
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let waiters = waiters(analysis);
    let first = waiters.first()?;
    let places: Vec<CodePlace> = waiters
        .iter()
        .map(|waiter| analysis.own_place(waiter.row).unwrap_or_default())
        .collect();
    let mut names: Vec<String> = Vec::new();
    for name in places.iter().filter_map(|place| place.function.as_deref()) {
        let name = format!("`{}`", without_type_arguments(name));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(MOST_NAMED);
    let within = if_so(!names.is_empty(), || {
        format!(" in {}", names.join(" and in "))
    });
    let waited = analysis.untraced(waiters.iter().map(|it| it.ns).min().unwrap_or(0) as f64);
    let waited = waited.min(analysis.timed_ns);
    let statement = format!(
        "{} threads waited for locks until the end{within}, for at least {}, and no thread released them.",
        waiters.len(),
        analysis.time_and_share(waited),
    );
    let is_one = |row: &OffCpuRow| waiters.iter().any(|it| it.tid == row.tid);
    let mut claim = Claim::new(FindingId::LockContention, analysis, waited, statement);
    claim.code = places.into_iter().next().unwrap_or_default();
    Some(
        claim
            .evidence("threads that wait", waiters.len(), "threads")
            .evidence("time that each waits", waited, "ns")
            .advice(
                "If each of these threads holds a lock that another one wants, they wait for ever (a deadlock): let \
                 all threads take the locks in the same order, or hold only one at a time.",
            )
            .pid(first.pid)
            .observed()
            .likely()
            .in_waits(analysis, waited, |row, _| is_one(row)),
    )
}

#[cfg(test)]
mod tests {
    use fathom_stacks::Frame;
    use fathom_trace::{Activity, Cause};

    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns two threads that wait in this function of the C library for the rest of the observation.
    fn two(function: &str) -> Fake {
        let mut fake = Fake::new(2000);
        fake.trace.end.cut_short = true;
        fake.waits(Some("futex"), None, Cause::Asleep, 1, 1_990_000);
        for (tid, own) in [(101, "pay"), (102, "refund")] {
            fake.thread(ROOT, tid, 10, 2000, 1990);
            fake.trace.threads.last_mut().expect("just added").on_cpu_ns = Some(1_000_000);
            fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 1, 1_980_000);
            let frame = |binary: &str, name: &str| Frame {
                binary: binary.to_owned(),
                function: Some(name.to_owned()),
                ..Frame::default()
            };
            let frames = [
                frame("/bin/bank", own),
                frame("/usr/lib/libc.so.6", function),
                frame("/usr/lib/libc.so.6", "futex_wait"),
            ];
            fake.stack(Activity::Wait, Some("futex"), frames, 1980);
            let stacks = fake.trace.stacks.as_mut().expect("just added");
            stacks.rows.last_mut().expect("just added").tid = tid;
        }
        fake
    }

    #[test]
    fn locks_that_nobody_releases_are_named_with_who_waits() {
        let mut fake = two("pthread_mutex_lock");
        let found = fake.findings();
        hold_words("dead", &found[0]);
        let words = "2 threads waited for locks until the end in `pay` and in `refund`, for at least 1.98 s";
        assert!(found[0].statement.starts_with(words), "{found:?}");
    }

    #[test]
    fn threads_that_wait_for_events_or_for_a_lock_that_is_passed_on_are_not_dead() {
        let is_reported = |fake: &mut Fake| {
            let found = fake.findings();
            found
                .iter()
                .any(|it| it.statement.contains("no thread released"))
        };
        assert!(!is_reported(&mut two("pthread_cond_wait")));
        let mut fake = two("pthread_mutex_lock");
        let stacks = fake.trace.stacks.as_mut().expect("it has stacks");
        stacks.rows[1].woken_by = Some(101);
        assert!(!is_reported(&mut fake));
        let mut fake = two("pthread_mutex_lock");
        fake.trace.end.cut_short = false;
        assert!(!is_reported(&mut fake));
    }
}
