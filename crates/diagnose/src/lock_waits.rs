//! Finds out from stacks what threads wait for in a call that serves locks as well as events.
//!
//! A mutex, a condition variable and a thread's end are all awaited in `futex`. The functions that lead there
//! differ.

use std::collections::HashMap;

use fathom_stacks::Frame;
use fathom_trace::{Activity, StackRow, Trace};

use crate::calls;
use crate::file_name::file_name;
use crate::runtimes::Use;
use crate::thresholds as t;

/// What a wait is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// A lock that another thread holds.
    Lock,
    /// The lock under which an interpreter runs all of a process's code.
    GlobalLock,
    /// Something that another thread does: its end, a notification, a result.
    Event,
    /// The same, in a condition variable that nothing else explains: mostly work for idle threads.
    Condition,
}

/// What one thread waited for, by the time that its stacks represent.
#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    lock_ns: u64,
    global_ns: u64,
    event_ns: u64,
    /// The part of `event_ns` that was in condition variables alone.
    condition_ns: u64,
    all_ns: u64,
    stacks: u64,
}

/// What the threads of a trace waited for.
#[derive(Debug, Default)]
pub(crate) struct LockWaits(HashMap<u32, Waits>);

impl LockWaits {
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut of: HashMap<u32, Waits> = HashMap::new();
        let Some(stacks) = &trace.stacks else {
            return Self::default();
        };
        let in_lock = |row: &&StackRow| {
            row.activity == Activity::Wait && row.call.as_deref().is_some_and(calls::is_lock)
        };
        for row in stacks.rows.iter().filter(in_lock) {
            let frames = row.node.into_iter().flat_map(|node| stacks.tree.path(node));
            let waits = of.entry(row.tid).or_default();
            waits.all_ns += row.ns;
            waits.stacks += row.samples;
            match awaited(frames) {
                Some(Awaited::Lock) => waits.lock_ns += row.ns,
                Some(Awaited::GlobalLock) => waits.global_ns += row.ns,
                Some(Awaited::Event) => waits.event_ns += row.ns,
                Some(Awaited::Condition) => {
                    waits.event_ns += row.ns;
                    waits.condition_ns += row.ns;
                }
                None => {}
            }
        }
        Self(of)
    }

    /// Returns the part of these threads' waits, 0 to 1, that `of` selects; 0 if too few stacks are known.
    fn part(&self, tids: &[u32], of: impl Fn(&Waits) -> u64) -> f64 {
        let waits = || tids.iter().filter_map(|tid| self.0.get(tid));
        let stacks: u64 = waits().map(|waits| waits.stacks).sum();
        let all: u64 = waits().map(|waits| waits.all_ns).sum();
        match stacks >= t::LEAST_SAMPLES_OF_NAMED {
            true => waits().map(of).sum::<u64>() as f64 / all.max(1) as f64,
            false => 0.0,
        }
    }

    /// Returns the part of these threads' waits that is for locks.
    pub(crate) fn for_locks(&self, tids: &[u32]) -> f64 {
        self.part(tids, |waits| waits.lock_ns + waits.global_ns)
    }

    /// Returns the part of these threads' waits that is for an interpreter's own lock.
    pub(crate) fn for_global_lock(&self, tids: &[u32]) -> f64 {
        self.part(tids, |waits| waits.global_ns)
    }

    /// Returns the part of these threads' waits that is for what other threads do.
    pub(crate) fn for_events(&self, tids: &[u32]) -> f64 {
        self.part(tids, |waits| waits.event_ns)
    }

    /// Returns the part of these threads' waits that is in condition variables, as for work in a pool.
    pub(crate) fn in_conditions(&self, tids: &[u32]) -> f64 {
        self.part(tids, |waits| waits.condition_ns)
    }
}

/// Returns whether a wait with these frames, innermost first, is for a lock that the program takes.
pub(crate) fn is_for_lock<'a>(frames: impl Iterator<Item = &'a Frame>) -> bool {
    awaited(frames) == Some(Awaited::Lock)
}

/// Returns what a wait with these frames, innermost first, is for; `None` if no frame shows it.
fn awaited<'a>(frames: impl Iterator<Item = &'a Frame>) -> Option<Awaited> {
    let (mut in_condition, mut by_script, mut is_parked) = (false, false, false);
    for frame in frames {
        let name = frame.function.as_deref().unwrap_or_default();
        is_parked |= name == "Unsafe_Park";
        by_script |= Use::TakesOrAwaits.is_named(name);
        if by_script && is_of_script(frame) {
            return Some(match Use::AwaitsEvent.is_named(name) {
                true => Awaited::Event,
                false => Awaited::Lock,
            });
        }
        // Python waits with a time limit for nothing but its own lock.
        if in_condition && !Use::AwaitsEvent.is_named(name) && is_of_python(frame) {
            return Some(Awaited::GlobalLock);
        }
        // Java's monitors wait in a condition.
        if Use::TakesLock.is_named(name) {
            return Some(Awaited::Lock);
        }
        if Use::AwaitsEvent.is_named(name) {
            match name.contains("_cond_") {
                true => in_condition = true,
                false => return Some(Awaited::Event),
            }
        }
    }
    // Java parks threads that wait for its library's locks in condition variables, too.
    in_condition.then_some(match is_parked {
        true => Awaited::Event,
        false => Awaited::Condition,
    })
}

/// Returns whether a frame is a function of a Python program, or of the interpreter itself.
fn is_of_python(frame: &Frame) -> bool {
    let file = file_name(&frame.binary);
    let is_interpreter = file.starts_with("python") || file.starts_with("libpython");
    is_interpreter || is_of_script(frame)
}

/// Returns whether a frame is a function of a Python program.
fn is_of_script(frame: &Frame) -> bool {
    frame.binary.ends_with(".py") || frame.binary.starts_with('<')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(frames: &[(&str, &str)]) -> Option<Awaited> {
        let frame = |(function, binary): &(&str, &str)| Frame {
            function: Some((*function).to_owned()),
            binary: (*binary).to_owned(),
            ..Frame::default()
        };
        let frames: Vec<Frame> = frames.iter().map(frame).collect();
        awaited(frames.iter())
    }

    #[test]
    fn a_lock_is_told_from_an_event_by_the_functions_that_wait() {
        let libc = "/lib/libc.so.6";
        let rust = [
            ("syscall", libc),
            (
                "<std::sys::sync::rwlock::futex::RwLock>::read_contended",
                "/bin/a",
            ),
            ("a::handle", "/bin/a"),
        ];
        assert_eq!(of(&rust), Some(Awaited::Lock));
        let cpp = [
            ("__futex_abstimed_wait_common", libc),
            ("__pthread_rwlock_wrlock_full64", libc),
            ("pthread_rwlock_wrlock", libc),
            ("update", "/bin/a"),
        ];
        assert_eq!(of(&cpp), Some(Awaited::Lock));
        let condition = [
            ("__lll_lock_wait", libc),
            ("__pthread_mutex_cond_lock", libc),
            ("pthread_cond_wait", libc),
            ("take_job", "/bin/a"),
        ];
        assert_eq!(of(&condition), Some(Awaited::Condition));
        let join = [("__pthread_clockjoin_ex", libc), ("main", "/bin/a")];
        assert_eq!(of(&join), Some(Awaited::Event));
        assert_eq!(of(&[("syscall", libc), ("main", "/bin/a")]), None);
    }

    #[test]
    fn a_lock_of_python_is_told_from_an_event_by_the_function_that_takes_it() {
        let by = |caller: &str, file: &str| {
            of(&[
                ("__futex_abstimed_wait_common64", "/lib/libc.so.6"),
                ("PyThread_acquire_lock_timed", "/usr/bin/python3.11"),
                ("lock_PyThread_acquire_lock", "/usr/bin/python3.11"),
                ("_PyEval_EvalFrameDefault", "/usr/bin/python3.11"),
                (caller, file),
            ])
        };
        let library = "/usr/lib/python3.11/threading.py";
        assert_eq!(by("refund", "/srv/bank.py"), Some(Awaited::Lock));
        assert_eq!(by("Condition.__enter__", library), Some(Awaited::Lock));
        assert_eq!(by("Condition.wait", library), Some(Awaited::Event));
    }

    #[test]
    fn a_monitor_of_java_is_told_from_what_its_threads_notify_each_other_of() {
        let jvm = "/opt/jdk/lib/server/libjvm.so";
        let by = |function: &str| {
            of(&[
                ("pthread_cond_wait", "/lib/libc.so.6"),
                ("PlatformEvent::park", jvm),
                (function, jvm),
                ("Table.store", "//anon"),
            ])
        };
        assert_eq!(by("ObjectMonitor::EnterI"), Some(Awaited::Lock));
        assert_eq!(by("ObjectMonitor::wait"), Some(Awaited::Event));
        assert_eq!(by("Unsafe_Park"), Some(Awaited::Event));
    }

    #[test]
    fn python_waits_for_its_own_lock_in_a_condition_of_its_own() {
        let by = |caller: &str| {
            of(&[
                ("__futex_abstimed_wait_common64", "/lib/libc.so.6"),
                ("__pthread_cond_wait_common", "/lib/libc.so.6"),
                ("pthread_cond_timedwait", "/lib/libc.so.6"),
                ("f", caller),
            ])
        };
        for own in [
            "/srv/app.py",
            "/usr/bin/python3.11",
            "/lib/libpython3.12.so.1.0",
            "<string>",
        ] {
            assert_eq!(by(own), Some(Awaited::GlobalLock), "{own}");
        }
        let pool = "/lib/python3/numpy/_queue.cpython-311-x86_64-linux-gnu.so";
        assert_eq!(by(pool), Some(Awaited::Condition));
    }
}
