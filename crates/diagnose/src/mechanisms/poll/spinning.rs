//! Detects threads that spin on memory until another thread changes it, without any call.

use super::burning;
use crate::mechanisms::prelude::*;
use crate::runtimes::{advice_on_spinning, spins_in_runtime};

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
    let first = functions.iter().find(spins)?;
    let mut samples = BTreeMap::new();
    for row in functions.iter().filter(spins) {
        *samples.entry(row.tid).or_default() += samples_of(row);
    }
    Some(Spinning {
        what,
        samples,
        first,
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
    let mut all: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for row in functions {
        let (samples, locking) = all.entry(row.tid).or_default();
        *samples += row.samples;
        *locking += row.samples * u64::from(is_spinlock(row));
    }
    let fights = |(samples, locking): &&(u64, u64)| {
        *locking >= t::LEAST_SAMPLES && *locking as f64 >= t::PART_IN_SPIN_LOCK * *samples as f64
    };
    all.values().filter(fights).count() > 1
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
    let mut all: BTreeMap<u32, (u64, u64, u64)> = BTreeMap::new();
    for row in functions {
        let (of_thread, asking, around) = all.entry(row.tid).or_default();
        *of_thread += row.samples;
        *asking += row.samples * u64::from(Use::AsksChannel.is_of(row));
        *around += row.samples * u64::from(Use::Channel.is_of(row));
    }
    all.retain(|_, (of_thread, asking, around)| {
        let bulk = (*asking + *around) as f64 >= t::PART_OF_ASKING * *of_thread as f64;
        *asking >= t::LEAST_SAMPLES && bulk
    });
    let is_asked = |row: &&FunctionRow| all.contains_key(&row.tid) && Use::AsksChannel.is_of(row);
    Some(Spinning {
        what: What::Channel,
        first: functions.iter().find(is_asked)?,
        samples: all
            .into_iter()
            .map(|(tid, (of_thread, ..))| (tid, of_thread))
            .collect(),
    })
}

fn claim(analysis: &Analysis<'_>, spins: Option<Spinning<'_>>) -> Option<Claim> {
    let Spinning {
        what,
        samples,
        first,
    } = spins?;
    let threads: Vec<&ThreadTimes> = analysis
        .threads
        .iter()
        .filter(|times| samples.contains_key(&times.tid))
        .collect();
    let period = analysis.trace.profile.as_ref()?.period_ns as f64;
    let burnt: f64 = samples
        .values()
        .map(|samples| analysis.untraced(*samples as f64 * period))
        .sum();
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
            .evidence("CPU time of spinning", burnt, "ns")
            .advice(match advice_on_spinning(first) {
                Some(words) => words,
                None => match what {
                What::Lock => "Hold the lock for a shorter time, split it or the data (one part for each thread), and use a \
                     lock that sleeps (a mutex) where it is held for longer than a microsecond.",
                What::Channel => Runtime::of_function(first).advice(&[Topic::Channel]),
                What::Memory => "Sleep until the event: use a condition variable, a futex (`std::thread::park`, \
                     `atomic::wait`), a semaphore or a channel; spin for a few microseconds at most before that.",
            }})
            .pid(first.pid)
            .tid(first.tid),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, ROOT};

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
        let begin = "A thread spun in `wait_until_ready` for 698 ms of CPU time";
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
    fn code_that_does_not_say_so_is_not_taken_for_spinning() {
        let mut fake = spinning("work");
        fake.trace.profile.as_mut().expect("there").functions[0].spins = 10;
        assert!(fake.ids().is_empty());
    }
}
