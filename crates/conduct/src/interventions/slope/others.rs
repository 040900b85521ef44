//! The threads that run at the same time as what is delayed.
//!
//! If another thread takes about as long as the delayed one, each delay shows in the total time, although making
//! the delayed thread faster would save nothing. And a delay may itself put a thread on the critical path. So
//! the other threads are held back by as much as the largest delay: a run with the largest delay then compares
//! with the command as it is, and the runs with smaller delays with a command in which the calls are faster
//! (the virtual speed-up of Coz, Curtsinger and Berger 2015).

use fathom_measure::ThreadName;
use fathom_trace::{Thread, Trace};

use super::delayed::{Delayed, LEAST_RUN_NS, MOST_PLACES, in_order};

/// The minimum share of the delayed calls that a thread makes to be among the delayed threads.
const MAKES: f64 = 0.05;
/// The maximum number of threads that are held back, those that run the longest: each is watched by a thread
/// of Fathom's own.
const MOST_THREADS: usize = 4;

/// The threads that run at the same time as what is delayed.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OtherThreads {
    /// The threads, with their running times in seconds.
    threads: Vec<(ThreadName, f64)>,
    /// The running time of the delayed thread, in seconds; that of the longest if there are several.
    delayed: f64,
}

impl OtherThreads {
    /// Returns the threads of an observed run.
    pub(crate) fn of(delayed: &Delayed, trace: &Trace) -> OtherThreads {
        let is_delayed: Vec<bool> = match delayed {
            Delayed::Calls { numbers, .. } => making(numbers, trace),
            Delayed::Threads(which, _) => {
                let of = |one| name_of(one, trace);
                let all = trace.threads.iter().map(of);
                all.map(|name| name.is_some_and(|name| is_same(which, &name)))
                    .collect()
            }
        };
        let all = || trace.threads.iter().zip(&is_delayed);
        let own: Vec<&Thread> = all().filter_map(|(one, own)| own.then_some(one)).collect();
        let own_names: Vec<ThreadName> = own.iter().filter_map(|one| name_of(one, trace)).collect();
        let mut others: Vec<(ThreadName, f64)> = all()
            .filter(|(one, is_own)| !**is_own && own.iter().any(|own| overlap(one, own)))
            .filter(|(one, _)| one.on_cpu_ns.unwrap_or(0) >= LEAST_RUN_NS)
            .filter_map(|(one, _)| Some((name_of(one, trace)?, run_of(one))))
            // Processes of the same name can't be told apart in other runs.
            .filter(|(name, _)| !own_names.iter().any(|own| is_same(own, name)))
            .collect();
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut named: Vec<ThreadName> = Vec::new();
        others.retain(|(name, _)| {
            let is_new = !named.contains(name);
            named.extend(is_new.then(|| name.clone()));
            is_new
        });
        others.truncate(MOST_THREADS);
        OtherThreads {
            threads: others,
            delayed: own.into_iter().map(run_of).fold(0.0, f64::max),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Returns for how many thousandths of its running time each thread is stopped, so that it is held back by
    /// at least `seconds`, or by as large a part of any phase as what is delayed.
    pub(super) fn held_back_by(&self, seconds: f64) -> Vec<(ThreadName, u32)> {
        let share = |run: f64| match run.min(self.delayed) {
            0.0 => 1_000.0,
            run => (1_000.0 * seconds / run).min(1_000.0),
        };
        let threads = self.threads.iter();
        threads
            .map(|(name, run)| (name.clone(), share(*run).round() as u32))
            .collect()
    }
}

/// Returns for each thread whether it makes calls with these numbers.
fn making(numbers: &[u32], trace: &Trace) -> Vec<bool> {
    let calls = |meant: &dyn Fn(u32) -> bool| -> f64 {
        let rows = trace.syscalls.iter();
        let rows = rows.filter(|row| numbers.contains(&row.number) && meant(row.tid));
        rows.map(|row| (row.calls + row.unfinished) as f64).sum()
    };
    let all = calls(&|_| true);
    let threads = trace.threads.iter();
    threads
        .map(|one| all > 0.0 && calls(&|tid| tid == one.tid) >= MAKES * all)
        .collect()
}

/// Returns the name by which a thread is found in other runs.
fn name_of(one: &Thread, trace: &Trace) -> Option<ThreadName> {
    let all = in_order(trace, one.pid);
    let first = all.iter().find(|other| other.tid == one.pid)?;
    let place = all.iter().position(|other| other.tid == one.tid)?;
    Some(ThreadName {
        process: first.name.clone(),
        place: (place < MOST_PLACES).then_some(place),
        name: one.name.clone(),
    })
}

fn is_same(which: &ThreadName, one: &ThreadName) -> bool {
    let is_meant = match which.place {
        Some(place) => one.place == Some(place),
        None => one.name == which.name,
    };
    one.process == which.process && is_meant
}

fn overlap(one: &Thread, other: &Thread) -> bool {
    let before = |a: &Thread, b: &Thread| a.ended_ns.is_some_and(|end| end <= b.started_ns);
    !before(one, other) && !before(other, one)
}

fn run_of(one: &Thread) -> f64 {
    one.on_cpu_ns.unwrap_or(0) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::SyscallRow;

    fn thread(pid: u32, tid: u32, name: &str, run_ms: u64) -> Thread {
        Thread {
            pid,
            tid,
            name: name.to_owned(),
            started_ns: u64::from(tid),
            on_cpu_ns: Some(run_ms * 1_000_000),
            ..Thread::default()
        }
    }

    fn stats(tid: u32, calls: u64) -> SyscallRow {
        SyscallRow {
            pid: 1,
            tid,
            name: "newfstatat".to_owned(),
            number: 262,
            calls,
            ..SyscallRow::default()
        }
    }

    /// A thread that looks up files, one that computes, one that hardly runs, and a process that came before.
    fn trace() -> Trace {
        let before = Thread {
            started_ns: 0,
            ended_ns: Some(1),
            ..thread(9, 9, "before", 100)
        };
        Trace {
            threads: vec![
                thread(1, 1, "main", 250),
                thread(1, 2, "main", 150),
                thread(1, 3, "main", 5),
                before,
            ],
            syscalls: vec![stats(1, 40), stats(2, 10_000)],
            ..Trace::default()
        }
    }

    fn looks_up() -> Delayed {
        Delayed::Calls {
            numbers: vec![262],
            calls: Some(10_040),
        }
    }

    #[test]
    fn what_computes_at_the_same_time_is_held_back() {
        let others = OtherThreads::of(&looks_up(), &trace());
        let names: Vec<_> = others.threads.iter().map(|(name, _)| name.place).collect();
        assert_eq!(names, [Some(0)]);
        // The delay is two fifths of the thread that it delays.
        let [(_, share)] = &others.held_back_by(0.06)[..] else {
            panic!("{others:?}")
        };
        assert_eq!(*share, 400);
        assert_eq!(others.held_back_by(9.0)[0].1, 1_000);
    }

    #[test]
    fn threads_of_the_same_name_are_stopped_once() {
        // Two processes of one name, and a thread that runs for a time between theirs.
        let mut trace = trace();
        trace.threads.push(thread(5, 5, "helper", 300));
        trace.threads.push(thread(6, 6, "helper", 100));
        let others = OtherThreads::of(&looks_up(), &trace);
        let names: Vec<&str> = others
            .threads
            .iter()
            .map(|(name, _)| name.process.as_str())
            .collect();
        assert_eq!(names, ["helper", "main"]);
    }

    #[test]
    fn threads_are_told_apart_by_their_place() {
        let which = ThreadName {
            process: "main".to_owned(),
            place: Some(0),
            name: "main".to_owned(),
        };
        let others = OtherThreads::of(&Delayed::Threads(which, 0.25), &trace());
        let names: Vec<_> = others.threads.iter().map(|(name, _)| name.place).collect();
        assert_eq!(names, [Some(1)]);
    }

    #[test]
    fn nothing_is_held_back_where_all_threads_are_delayed() {
        let mut trace = trace();
        trace.syscalls[0].calls = 9_000;
        assert!(OtherThreads::of(&looks_up(), &trace).is_empty());
        // Another process of the same name may be the delayed one in the next run.
        let mut trace = self::trace();
        trace.threads[0] = thread(7, 7, "main", 250);
        trace.threads[1] = thread(1, 1, "main", 150);
        trace.syscalls = vec![stats(1, 10_000)];
        assert!(OtherThreads::of(&looks_up(), &trace).is_empty());
    }
}
