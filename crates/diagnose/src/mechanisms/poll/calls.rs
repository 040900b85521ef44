//! Detects loops that poll instead of waiting.

use super::burning;
use super::paths::{Awaited, awaited};
use crate::entry_exit_overhead::cpu_in_calls;
use crate::mechanisms::prelude::*;

/// Returns the number of calls of this row that returned at once with nothing. `children` is the number of
/// children of the process.
fn empty_turns(
    analysis: &Analysis<'_>,
    lookups: Option<&Awaited<'_>>,
    row: &SyscallRow,
    children: u64,
) -> u64 {
    let quick = (row.total_ns as f64) < row.calls as f64 * t::SHORTEST_SLEEP_NS;
    let name = row.name.as_str();
    if let Some(lookups) = lookups {
        lookups.calls.min(row.errors)
    } else if name == "sched_yield" || calls::is_sleep(name) && quick {
        row.calls
    } else if calls::is_poll(name) {
        awake(analysis, row)
    } else if name == "wait4" || name == "waitid" {
        // Each child ends once: the other calls had nothing to report (WNOHANG).
        awake(analysis, row).saturating_sub(row.errors + children)
    } else if calls::is_lock(name) {
        // The lock had just been released, so the thread that wanted it continues.
        0
    } else {
        row.would_block
    }
}

/// Returns the number of calls that returned without sleeping. If waits aren't counted, this is all of them
/// if hardly any of the time was spent asleep.
fn awake(analysis: &Analysis<'_>, row: &SyscallRow) -> u64 {
    let asleep = row.blocked_ns.unwrap_or(0) as f64;
    if asleep < 0.2 * row.total_ns as f64 {
        row.calls
    } else if analysis.counts_waits() {
        row.calls
            .saturating_sub(analysis.waits_in(row.tid, |call| call == row.name))
    } else {
        0
    }
}

/// Returns threads that made calls, with their thread number in the list of calls, and their times. Calls
/// that were traced in another run have that run's numbers. In this case, the thread of a process with the
/// most calls is assumed to be the busiest, and so on.
fn callers<'a>(analysis: &'a Analysis<'_>) -> Vec<(u32, &'a ThreadTimes)> {
    let rows = analysis.trace.syscalls.iter();
    let calls = totals(rows.map(|row| ((row.pid, row.tid), row.calls)));
    let (own, mut others): (Vec<_>, Vec<_>) = calls
        .into_iter()
        .partition(|((_, tid), _)| analysis.thread(*tid).is_some());
    let own: BTreeSet<u32> = own.iter().map(|((_, tid), _)| *tid).collect();
    let known = own
        .iter()
        .filter_map(|tid| Some((*tid, analysis.thread(*tid)?)));
    let mut found: Vec<(u32, &ThreadTimes)> = known.collect();
    if analysis.by_stops() {
        let mut rest = analysis.threads_that(|times| !own.contains(&times.tid));
        rest.sort_by(|a, b| b.on_cpu_ns.total_cmp(&a.on_cpu_ns));
        others.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
        for ((pid, tid), _) in others {
            // Threads that search for work may yield.
            let may_idle = analysis.runtime(Some(pid)).idle_wait("sched_yield");
            if let Some(at) = rest.iter().position(|times| times.pid == pid && !may_idle) {
                found.push((tid, rest.remove(at)));
            }
        }
    }
    found
}

/// A thread that polls in a loop.
struct Loop<'a> {
    times: &'a ThreadTimes,
    /// The number of iterations, that is, calls that had nothing to report.
    turns: u64,
    /// The CPU time in these calls (`polls_ns`) and in the whole loop (`own_ns`), in the traced run.
    polls_ns: f64,
    own_ns: f64,
    /// The row that has the most of these calls.
    row: &'a SyscallRow,
    /// Whether the thread is on the critical path for most of the time.
    rules: bool,
}

fn loops<'a>(
    analysis: &'a Analysis<'_>,
    lookups: &BTreeMap<(u32, &'a str), Awaited<'a>>,
) -> Vec<Loop<'a>> {
    let lookups = |row: &'a SyscallRow| lookups.get(&(row.tid, row.name.as_str()));
    let callers = callers(analysis);
    let found = callers.into_iter().filter_map(|(tid, times)| {
        let rows = || analysis.rows_of(tid);
        let children = analysis.children_of(times.pid).count() as u64;
        // If a thread was traced only by the stops tier, it is unknown which of its sleeps and polls were
        // short; threads of a runtime search for work in such calls.
        let known_by_call = |row: &SyscallRow| {
            let waits = calls::is_sleep(&row.name) || calls::is_poll(&row.name);
            // A runtime may nap for microseconds while it waits for its own lock or searches for work.
            let by_runtime =
                calls::is_sleep(&row.name) && analysis.runtime(Some(row.pid)).idle_wait(&row.name);
            !by_runtime && (tid == times.tid || !waits && !row.name.starts_with("wait"))
        };
        let empty_turns = |row: &'a SyscallRow| match known_by_call(row) {
            true => empty_turns(analysis, lookups(row), row, children),
            false => 0,
        };
        let turns: u64 = rows().map(empty_turns).sum();
        // A busy server polls and then reads, so its iterations aren't empty.
        let moved: u64 = rows()
            .filter(|row| row.bytes > 0)
            .map(|row| row.calls - row.would_block.min(row.calls))
            .sum();
        // The stops tier sees as many calls as its time budget allows, and a loop that only polls uses up the
        // budget.
        let least = match analysis.by_stops() {
            true => t::MANY_POLLS / 6,
            false => t::MANY_POLLS,
        };
        if turns < least || turns < 5 * moved {
            return None;
        }
        // The loop also burns the time between its calls. This is the thread's whole time on a CPU,
        // multiplied by the part of its calls that are iterations of the loop.
        let calls: u64 = rows().map(|row| row.calls).sum();
        let polls_ns: f64 = rows()
            .filter(|row| empty_turns(row) > 0)
            .map(|row| cpu_in_calls(row, analysis.entry_exit.call_ns))
            .sum();
        let own_ns = times.on_cpu_ns * turns as f64 / calls.max(1) as f64;
        // A thread that computes for long and polls in between doesn't waste the time in which it computes.
        let own_ns = match analysis.by_stops() {
            true => own_ns,
            false => own_ns.min(polls_ns * t::LOOP_PER_CALL),
        };
        let row = rows().max_by_key(|row| empty_turns(row))?;
        let own_ns = own_ns.min(lookups(row).map_or(f64::INFINITY, |it| it.ns() as f64));
        let within: u64 = rows()
            .filter(|row| empty_turns(row) > 0)
            .map(|row| row.total_ns)
            .sum();
        let rules =
            within as f64 * analysis.weight(times.tid) > 0.5 * analysis.trace.duration_ns as f64;
        Some(Loop {
            times,
            turns,
            polls_ns,
            own_ns,
            row,
            rules,
        })
    });
    found.collect()
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let lookups = awaited(analysis);
    let all = loops(analysis, &lookups);
    let first = largest(&all, |one| one.own_ns)?;
    // Other threads that poll in the same way have the same problem.
    let alike =
        |other: &&Loop<'_>| other.row.name == first.row.name && other.own_ns >= 0.2 * first.own_ns;
    let alike: Vec<&Loop<'_>> = all.iter().filter(alike).collect();
    let turns: u64 = alike.iter().map(|other| other.turns).sum();
    let sum = |ns: fn(&Loop<'_>) -> f64| {
        let each = alike.iter().map(|other| analysis.untraced(ns(other)));
        each.sum::<f64>()
    };
    let burnt = sum(|other| other.own_ns);
    // A thread that only yields leaves the CPU to others that have work, and burns little of it. If the run
    // was stopped at its calls, their cost is unknown.
    let calls_are_dear = analysis.by_stops() || analysis.share(sum(|other| other.polls_ns)) >= 0.03;
    if !(calls_are_dear || first.rules) {
        return None;
    }
    let threads: Vec<&ThreadTimes> = alike.iter().map(|one| one.times).collect();
    let (who, their) = match alike.len() {
        1 => ("A thread".to_owned(), "its loop"),
        threads => (format!("{threads} threads"), "their loops"),
    };
    let row = first.row;
    let work = analysis.works.made_by(analysis.trace, row.tid, &row.name);
    let (at_least, turns_in_words) = (
        if analysis.by_stops() { "at least " } else { "" },
        count(turns),
    );
    let statement = match work {
        Some(work) if work.role == ThreadRole::Idle => format!(
            "{who} of a library polled {at_least}{turns_in_words} times with `{}` while it had no work; {their} took",
            row.name
        ),
        Some(_) => format!(
            "{who} of the runtime waited for others {at_least}{turns_in_words} times with `{}`; {their} took",
            row.name
        ),
        None => format!(
            "{who} polled {at_least}{turns_in_words} times with `{}` and got nothing; {their} took",
            row.name
        ),
    };
    let burning_ns = (statement.as_str(), burnt, ", which no other thread needed");
    let asked = lookups.get(&(row.tid, row.name.as_str()));
    let path = match asked {
        Some(awaited) => awaited.paths.first().map(|path| (*path).to_owned()),
        None => row.fd.and_then(|fd| analysis.name_of(row.pid, fd)),
    };
    let claim = burning(FindingId::BusyPolling, analysis, &threads, burning_ns);
    // A runtime that waits for its own threads isn't a loop of the program. Such waits count if other threads
    // lack CPUs.
    if work.is_some() && !Least::OF_WORK.is_reached(analysis, claim.could_win_ns as f64) {
        return None;
    }
    Some(
        claim
            .least(if first.rules { Least::NONE } else { Least::OF_WORK })
            .evidence("empty turns", turns, "calls")
            .evidence("CPU time of the loop", burnt, "ns")
            .advice(match (asked, work) {
                (_, Some(work)) => work.advice(),
                (Some(_), None) => "Let the producer of the file announce it, through a pipe or a socket, or watch its folder \
                     (`inotify`); where that is impossible, sleep between tries.".into(),
                (None, None) => "Wait for the event: block in the read, give the poll a time limit, join the threads, or wait on a condition.".into(),
            })
            .pid(first.times.pid)
            .tid(first.times.tid)
            .on(row.fd, path),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    #[test]
    fn yields_without_end_are_found() {
        let mut fake = Fake::new(1000);
        fake.calls("sched_yield", None, 500_000, 0, 400);
        assert_eq!(fake.ids()[0], "busy-polling");
    }

    #[test]
    fn how_a_library_waits_for_its_threads_is_no_loop_of_the_programs() {
        use fathom_stacks::Frame;
        let reported = |ready_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("sched_yield", None, 500_000, 0, 400);
            let frame = |binary: &str, name: &str| Frame {
                binary: binary.to_owned(),
                function: Some(name.to_owned()),
                ..Frame::default()
            };
            let way = [
                frame("/bin/program", "main"),
                frame("/opt/libopenblas.so.0", "dgemm_"),
                frame("/usr/lib/libc.so.6", "sched_yield"),
            ];
            fake.stack(fathom_trace::Activity::Call, Some("sched_yield"), way, 90);
            fake.thread(crate::fake::ROOT, 101, 0, 1000, 1000);
            let ready = fathom_trace::Cause::Preempted;
            fake.waits_of(101, None, None, ready, 100, ready_ms * 10);
            let found = fake.findings().into_iter();
            let mut found = found.filter(|it| it.id == FindingId::BusyPolling);
            found.next().map(|it| (it.statement, it.advice))
        };
        assert_eq!(reported(0), None);
        let (statement, advice) = reported(400).expect("another thread lacks the CPU");
        assert!(statement.contains("of a library polled"), "{statement}");
        assert!(advice.contains("OPENBLAS_NUM_THREADS"), "{advice}");
    }

    #[test]
    fn loops_that_ask_the_same_are_one_finding() {
        let mut fake = Fake::new(1000);
        fake.thread(crate::fake::ROOT, 101, 0, 1000, 600);
        fake.thread(crate::fake::ROOT, 102, 0, 1000, 600);
        let ready = fathom_trace::Cause::Preempted;
        fake.waits(None, None, ready, 100, 7_000);
        for tid in [101, 102] {
            let row = fake.calls_of(tid, "read", Some(4), 500_000, 0, 600);
            (row.would_block, row.errors) = (500_000, 500_000);
        }
        let found = &fake.findings()[0];
        let begin =
            "2 threads polled 1,000,000 times with `read` and got nothing; their loops took 1.2";
        assert!(found.statement.starts_with(begin), "{}", found.statement);
        // This is how long the third thread was ready without a CPU.
        assert_eq!(found.could_win_ns / 1_000_000, 700);
    }

    #[test]
    fn stops_see_only_the_first_turns() {
        let mut fake = Fake::new(1000);
        fake.trace.tier = Some(fathom_trace::Tier::Perf);
        fake.trace.calls_from = Some(fathom_trace::Tier::Ptrace);
        fake.calls("accept4", Some(3), 900, 0, 400).would_block = 900;
        assert_eq!(fake.ids(), ["busy-polling"]);
    }

    #[test]
    fn a_loop_of_another_thread_that_was_stopped_at_is_reported_too() {
        let mut fake = Fake::new(1000);
        fake.trace.tier = Some(fathom_trace::Tier::Perf);
        fake.trace.calls_from = Some(fathom_trace::Tier::Ptrace);
        fake.thread(crate::fake::ROOT, 101, 0, 1000, 990);
        fake.descriptor(4, "eventfd");
        fake.calls("mmap", None, 30, 0, 0);
        // The thread had a different number in the other run.
        let row = fake.calls_of(555, "read", Some(4), 6_600, 0, 0);
        (row.would_block, row.errors) = (6_600, 6_600);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::BusyPolling);
        let begin = "A thread polled at least 6,600 times with `read`";
        assert!(
            found[0].statement.starts_with(begin),
            "{}",
            found[0].statement
        );
        assert_eq!(found[0].place.tid, Some(101));
    }

    #[test]
    fn naps_of_a_runtimes_watcher_that_was_stopped_at_are_no_loop() {
        let mut fake = Fake::new(1000);
        fake.trace.tier = Some(fathom_trace::Tier::Perf);
        fake.trace.calls_from = Some(fathom_trace::Tier::Ptrace);
        fake.thread(crate::fake::ROOT, 101, 0, 1000, 990);
        fake.calls("mmap", None, 30, 0, 0);
        fake.calls_of(555, "nanosleep", None, 4_000, 0, 0);
        fake.calls_of(555, "epoll_pwait", Some(4), 4_000, 0, 0);
        assert!(!fake.ids().contains(&"busy-polling"));
    }

    #[test]
    fn a_lock_that_was_let_go_of_meanwhile_is_no_poll() {
        let mut fake = Fake::new(1000);
        let row = fake.calls("futex", None, 9_000, 0, 20_000);
        (row.would_block, row.errors) = (9_000, 9_000);
        assert!(!fake.ids().contains(&"busy-polling"));
    }

    #[test]
    fn a_loop_wins_the_wall_time_that_it_took_from_others() {
        for (ready_ms, wall_ms) in [(0, 0), (400, 400)] {
            let mut fake = Fake::new(1000);
            fake.calls("sched_yield", None, 500_000, 0, 400);
            fake.thread(crate::fake::ROOT, 101, 0, 1000, 1000);
            let ready = fathom_trace::Cause::Preempted;
            fake.waits_of(101, None, None, ready, 100, ready_ms * 10);
            let found = &fake.findings()[0];
            assert_eq!(found.id, FindingId::BusyPolling);
            assert_eq!(found.could_win_ns / 1_000_000, wall_ms);
            assert_eq!(found.could_win_cpu_ns / 1_000_000, 1000);
        }
    }

    #[test]
    fn a_loop_beside_the_critical_path_wins_no_more_than_the_path_lacked_a_cpu() {
        let mut fake = Fake::new(1000);
        fake.thread(crate::fake::ROOT, 101, 0, 1000, 400);
        fake.calls_of(101, "sched_yield", None, 500_000, 0, 600);
        fake.thread(crate::fake::ROOT, 102, 0, 1000, 600);
        let ready = fathom_trace::Cause::Preempted;
        fake.waits_of(102, None, None, ready, 100, 4_000);
        let found = &fake.findings()[0];
        assert_eq!(found.id, FindingId::BusyPolling);
        assert_eq!(found.could_win_ns, 0);
        assert_eq!(found.could_win_cpu_ns / 1_000_000, 400);
    }

    #[test]
    fn who_computes_and_asks_in_between_is_not_taken_for_who_only_asks() {
        let mut fake = Fake::new(1000);
        fake.calls("sched_yield", None, 30_000, 0, 300);
        fake.thread(crate::fake::ROOT, 101, 0, 1000, 400);
        fake.calls_of(101, "sched_yield", None, 500_000, 0, 600);
        let found = &fake.findings()[0];
        assert_eq!(
            (found.id.as_str(), found.place.tid),
            ("busy-polling", Some(101))
        );
        assert_eq!(found.could_win_cpu_ns / 1_000_000, 400);
    }

    #[test]
    fn asking_for_the_end_of_a_child_without_waiting_is_found() {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 990, 990);
        fake.calls("wait4", None, 500_000, 0, 600);
        assert_eq!(fake.ids()[0], "busy-polling");
    }

    #[test]
    fn a_long_wait_does_not_hide_the_empty_polls() {
        let mut fake = Fake::new(1000);
        fake.waits(
            Some("epoll_wait"),
            None,
            fathom_trace::Cause::Asleep,
            3,
            50_000,
        );
        let row = fake.calls("epoll_wait", None, 100_000, 0, 3_500);
        row.blocked_ns = Some(150_000_000);
        assert_eq!(fake.ids()[0], "busy-polling");
    }

    #[test]
    fn polls_that_wait_are_not_empty() {
        let mut fake = Fake::new(1000);
        fake.waits(
            Some("epoll_wait"),
            None,
            fathom_trace::Cause::Asleep,
            9_900,
            50,
        );
        let row = fake.calls("epoll_wait", None, 10_000, 0, 60_000);
        row.blocked_ns = Some(495_000_000);
        assert!(!fake.ids().contains(&"busy-polling"));
    }

    #[test]
    fn a_server_polls_and_reads() {
        let mut fake = Fake::new(1000);
        fake.calls("epoll_wait", None, 100_000, 0, 400);
        fake.calls("recvfrom", Some(9), 100_000, 500, 900);
        assert!(!fake.ids().contains(&"busy-polling"));
    }
}
