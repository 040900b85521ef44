//! Detects threads that spin on memory until another thread changes it, without any call.

use fathom_trace::{Activity, StackRow};

use super::burning;
use crate::mechanisms::per_item::stopping;
use crate::mechanisms::prelude::*;
use crate::runtimes::{advice_on_spinning, spins_in_runtime};

/// The minimum part of the samples of yielding that show who asked for it. The scheduler switches to a stack of its
/// own, which doesn't; the runtime's own tasks, such as those that collect garbage, yield only there.
const PART_ASKED: f64 = 0.05;

/// Finds threads that spin until memory changes.
pub(crate) fn on_memory(analysis: &Analysis<'_>) -> Option<Claim> {
    claim(analysis, spinners(functions(analysis), What::Memory))
}

/// Finds threads that spin until a channel has a value.
pub(crate) fn on_channels(analysis: &Analysis<'_>) -> Option<Claim> {
    claim(analysis, askers(functions(analysis)))
}

/// Finds threads that spin until a lock is free.
pub(crate) fn for_lock(analysis: &Analysis<'_>) -> Option<Claim> {
    claim(analysis, spinners(functions(analysis), What::Lock))
}

/// Finds tasks of a runtime that only let others run until something has happened. Their time is in the
/// runtime's scheduler, in its own code and its calls.
pub(crate) fn by_tasks(analysis: &Analysis<'_>) -> Option<Claim> {
    let stacks = analysis.trace.stacks.as_ref()?;
    // Go's tasks yield while a collection that they asked for goes on.
    if stopping::collects(analysis) {
        return None;
    }
    let yields = analysis.frames_for(Use::Yields);
    let in_yields = |(_, row): &(usize, &StackRow)| {
        let frames = row.node.into_iter();
        let mut frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
        frames.any(|number| yields[number as usize])
    };
    let (mut pid, mut samples, mut asked) = (None, 0, 0);
    let mut burnt: BTreeMap<u32, f64> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate().filter(in_yields) {
        if !matches!(row.activity, Activity::OwnCode | Activity::Call) {
            continue;
        }
        pid = Some(row.pid);
        samples += row.samples;
        if analysis.routes().own_caller(at).is_some() {
            asked += row.samples;
        }
        *burnt.entry(row.tid).or_default() += analysis.untraced(row.ns as f64);
    }
    let threads = analysis.threads_that(|times| burnt.contains_key(&times.tid));
    let burnt: f64 = burnt.values().sum();
    let is_asked = asked as f64 >= PART_ASKED * samples as f64;
    if samples < t::LEAST_SAMPLES || !is_asked || burnt < t::LEAST_SHARE * analysis.cpu_ns {
        return None;
    }
    let runtime = analysis.runtime(pid);
    let spun = format!(
        "Some {} did nothing but yield while they waited, which took",
        runtime.tasks()
    );
    Some(
        burning(
            FindingId::BusyPolling,
            analysis,
            &threads,
            (&spun, burnt, ""),
        )
        .evidence("CPU time spent yielding", burnt, "ns")
        .advice(runtime.advice(&[Topic::Yield, Topic::Channel]))
        .pid(pid),
    )
}

fn functions<'a>(analysis: &Analysis<'a>) -> &'a [FunctionRow] {
    let profile = analysis.trace.profile.as_ref();
    profile.map_or(&[], |profile| &profile.functions)
}

/// What the threads wait for.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Memory,
    Lock,
    Channel,
}

/// Threads that spin.
struct Spinning<'a> {
    what: What,
    /// The number of samples that found them spinning, by thread.
    samples: BTreeMap<u32, u64>,
    /// The function with the most such samples.
    first: &'a FunctionRow,
}

/// Returns threads that samples found in waiting loops.
fn spinners(functions: &[FunctionRow], what: What) -> Option<Spinning<'_>> {
    let contended = what == What::Lock && is_contended_spinlock(functions);
    let samples_of = |row: &FunctionRow| match contended && is_spinlock(row) {
        true => row.samples,
        false => row.spins,
    };
    let spins = |row: &&FunctionRow| {
        let for_lock = what == What::Lock;
        is_lock(row) == for_lock
            && samples_of(row) >= t::LEAST_SAMPLES_OF_NAMED
            && !spins_in_runtime(row)
    };
    let rows = functions.iter().filter(spins);
    Some(Spinning {
        what,
        samples: totals(rows.map(|row| (row.tid, samples_of(row)))),
        first: functions.iter().find(spins)?,
    })
}

/// Reports whether the function is the C library's spin lock.
fn is_spinlock(row: &FunctionRow) -> bool {
    row.function.as_deref() == Some("pthread_spin_lock")
}

/// Reports whether threads spend so much of their time in the spin lock that most of that time must be
/// waiting, although samples aren't in its loop. A free lock takes 10 ns, and a contended one mostly delays
/// the instruction that requests it.
fn is_contended_spinlock(functions: &[FunctionRow]) -> bool {
    let all = totals(functions.iter().map(|row| (row.tid, row.samples)));
    let locking = functions.iter().filter(|row| is_spinlock(row));
    let locking = totals(locking.map(|row| (row.tid, row.samples)));
    let fights = |(tid, locking): &(&u32, &u64)| {
        **locking >= t::LEAST_SAMPLES && part_of(**locking, all[tid]) >= t::PART_IN_SPIN_LOCK
    };
    locking.iter().filter(fights).count() > 1
}

/// Reports whether the name contains `lock` or `mutex` as a word: `block` and `clock` don't count.
fn is_lock(row: &FunctionRow) -> bool {
    let name = row.function.as_deref().unwrap_or_default();
    let mut words = String::new();
    for c in name.chars() {
        match c {
            'A'..='Z' => words.extend([' ', c.to_ascii_lowercase()]),
            c if c.is_ascii_alphanumeric() => words.push(c),
            _ => words.push(' '),
        }
    }
    let is = |word: &str| ["lock", "spinlock", "rwlock", "trylock", "mutex"].contains(&word);
    words.split(' ').any(is)
}

/// Returns threads that do little other than polling channels.
fn askers(functions: &[FunctionRow]) -> Option<Spinning<'_>> {
    let of = |is: &dyn Fn(&FunctionRow) -> bool| {
        let rows = functions.iter().filter(|row| is(row));
        totals(rows.map(|row| (row.tid, row.samples)))
    };
    let (asking, around) = (
        of(&|row| Use::AsksChannel.is_of(row)),
        of(&|row| Use::Channel.is_of(row)),
    );
    let mut samples = of(&|_| true);
    samples.retain(|tid, all| {
        let get = |samples: &BTreeMap<u32, u64>| samples.get(tid).copied().unwrap_or(0);
        let bulk = (get(&asking) + get(&around)) as f64 >= t::PART_OF_ASKING * *all as f64;
        get(&asking) >= t::LEAST_SAMPLES && bulk
    });
    let asks = |row: &&FunctionRow| Use::AsksChannel.is_of(row) && samples.contains_key(&row.tid);
    let first = functions.iter().find(asks)?;
    Some(Spinning {
        what: What::Channel,
        first,
        samples,
    })
}

fn claim(analysis: &Analysis<'_>, spins: Option<Spinning<'_>>) -> Option<Claim> {
    let Spinning {
        what,
        samples,
        first,
    } = spins?;
    let threads = analysis.threads_that(|times| samples.contains_key(&times.tid));
    // Each thread's own code is shared out by its samples: their period is that of a clock which may tick
    // more often than a thread that sleeps in between is sampled.
    let all = totals(functions(analysis).iter().map(|row| (row.tid, row.samples)));
    let spun = |times: &&ThreadTimes| {
        let part = part_of(samples[&times.tid], all[&times.tid]);
        analysis.untraced(times.sums.get(TimeCategory::UserCode) * part)
    };
    let burnt: f64 = threads.iter().map(spun).sum();
    // Each of many threads may spin for a moment, so the time is compared with what all of them compute.
    if burnt < t::LEAST_SHARE * analysis.cpu_ns {
        return None;
    }
    let name = first.function.as_deref().unwrap_or_default();
    let who = match samples.len() {
        1 => "A thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let within = match name {
        "" => String::new(),
        name => format!(" in `{name}`"),
    };
    let for_what = match what {
        What::Lock => " for a lock",
        What::Memory | What::Channel => "",
    };
    let spun = format!("{who} spun{for_what}{within} for");
    let id = match what {
        What::Lock => FindingId::LockContention,
        What::Memory | What::Channel => FindingId::BusyPolling,
    };
    Some(
        burning(id, analysis, &threads, (&spun, burnt, ""))
            .evidence("CPU time spent spinning", burnt, "ns")
            .advice(match advice_on_spinning(first) {
                Some(words) => words,
                None => match what {
                What::Lock => "Hold the lock for a shorter time, split it or the data (one part for each thread), and use a \
                     lock whose waiters sleep (a mutex) if it is held for longer than a microsecond.",
                What::Channel => Runtime::of_function(first).advice(&[Topic::Channel]),
                What::Memory => "Sleep until the event: use a condition variable, a futex (`std::thread::park`, \
                     `atomic::wait`), a semaphore or a channel; before that, spin for a few microseconds at most.",
            }})
            .pid(first.pid)
            .tid(first.tid),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;
    use fathom_stacks::Frame;
    use fathom_trace::Activity;

    use crate::Language;
    use crate::fake::{Fake, ROOT, hold_words};

    fn spinning(function: &str) -> Fake {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 990);
        fake.in_function(101, "/bin/program", function, 900);
        let profile = fake.trace.profile.as_mut().expect("made by in_function");
        profile.functions[0].spins = 700;
        fake.in_function(ROOT, "/bin/program", "work", 900);
        fake
    }

    #[test]
    fn who_spins_is_reported_with_the_function() {
        let found = &spinning("wait_until_ready").findings()[0];
        assert_eq!(
            (found.id.as_str(), found.place.tid),
            ("busy-polling", Some(101))
        );
        let begin = "A thread spun in `wait_until_ready` for 770 ms of CPU time";
        assert!(found.statement.starts_with(begin), "{}", found.statement);
    }

    #[test]
    fn spinning_for_a_lock_is_contention() {
        let found = &spinning("pthread_spin_lock").findings()[0];
        assert_eq!(found.id, FindingId::LockContention);
    }

    #[test]
    fn who_is_mostly_at_the_instruction_that_asks_for_a_lock_fights_for_it() {
        let reported = |locking: u64| {
            let mut fake = Fake::new(1000);
            for tid in [ROOT, 101] {
                if tid != ROOT {
                    fake.thread(ROOT, tid, 0, 1000, 990);
                }
                fake.in_function(tid, "/lib/libc.so.6", "pthread_spin_lock", locking);
                fake.in_function(tid, "/bin/program", "work", 900 - locking);
            }
            fake.ids()
        };
        assert_eq!(reported(500), ["lock-contention"]);
        assert!(reported(100).is_empty());
    }

    #[test]
    fn asking_a_channel_again_and_again_is_found() {
        let mut fake = Fake::new(1000);
        fake.in_function(ROOT, "/bin/program", "runtime.selectnbrecv", 300);
        fake.in_function(ROOT, "/bin/program", "runtime.chanrecv", 300);
        fake.in_function(ROOT, "/bin/program", "main.main", 300);
        let found = &fake.findings()[0];
        assert_eq!(found.id, FindingId::BusyPolling);
        assert!(found.advice.contains("`default`"), "{}", found.advice);
    }

    #[test]
    fn who_only_tries_to_receive_is_advised_to_wait() {
        let mut fake = Fake::new(1000);
        let function = "std::sync::mpmc::list::Channel<T>::try_recv";
        fake.in_function(ROOT, "/bin/program", function, 900);
        let found = &fake.findings()[0];
        assert_eq!(found.id, FindingId::BusyPolling);
        assert!(found.advice.contains("`recv`"), "{}", found.advice);
    }

    #[test]
    fn a_worker_that_asks_whether_to_stop_does_not_spin() {
        let mut fake = Fake::new(1000);
        fake.in_function(ROOT, "/bin/program", "runtime.selectnbrecv", 150);
        fake.in_function(ROOT, "/bin/program", "main.work", 800);
        // Other threads properly block on channels.
        fake.thread(ROOT, 101, 0, 1000, 500);
        fake.in_function(101, "/bin/program", "runtime.chanrecv", 400);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn blocks_and_clocks_are_no_locks() {
        let is = |function: &str| {
            super::is_lock(&fathom_trace::FunctionRow {
                function: Some(function.to_owned()),
                ..Default::default()
            })
        };
        for name in [
            "pthread_spin_lock",
            "Mutex::lock",
            "SpinLock::acquire",
            "raw_mutex",
        ] {
            assert!(is(name), "{name}");
        }
        for name in ["process_block", "wait_clock", "BlockingQueue::poll", ""] {
            assert!(!is(name), "{name}");
        }
    }

    #[test]
    fn tasks_that_yield_until_something_happens_are_named() {
        let found = |of_ms: u64, asks: bool| {
            let mut fake = Fake::new(1000);
            fake.language = Some(Language::Go);
            fake.in_function(ROOT, "/bin/program", "main.main", 1000);
            let frame = |name: &str| Frame {
                binary: "/bin/program".to_owned(),
                function: Some(name.to_owned()),
                ..Frame::default()
            };
            let yields = ["runtime.mcall", "runtime.gosched_m", "runtime.schedule"];
            fake.stack(Activity::OwnCode, None, yields.map(frame), of_ms);
            let mut work = |way: &[&str], ms: u64| {
                let way = way.iter().map(|name| frame(name));
                fake.stack(Activity::OwnCode, None, way, ms);
            };
            let asked_ms = if asks { of_ms / 10 } else { 0 };
            work(&["main.main", "runtime.Gosched"], asked_ms);
            work(&["main.main"], 1000 - of_ms - asked_ms);
            fake.findings()
        };
        let polls = found(700, true);
        assert_eq!(polls[0].id, FindingId::BusyPolling);
        hold_words("by_tasks", &polls[0]);
        assert!(polls[0].advice.contains("Gosched"), "{polls:?}");
        assert!(found(50, true).is_empty());
        assert!(
            found(700, false).is_empty(),
            "the runtime's own tasks yield"
        );
    }

    #[test]
    fn code_that_does_not_say_so_is_not_taken_for_spinning() {
        let mut fake = spinning("work");
        fake.trace.profile.as_mut().expect("there").functions[0].spins = 10;
        assert!(fake.ids().is_empty());
    }
}
