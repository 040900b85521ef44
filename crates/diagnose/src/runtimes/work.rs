//! What does a runtime do beside the program's own work, and what is that known by?
//!
//! Names of threads and functions are all that a trace shows of it.

use std::collections::{HashMap, HashSet};

use fathom_model::ThreadRole;
use fathom_stacks::Frame;
use fathom_trace::Thread;

use super::ALL;
use super::functions::{NAMES, Names, without_suffix};

/// A kind of work of a runtime.
#[derive(Debug)]
pub(crate) struct Work {
    pub role: ThreadRole,
    /// Variables, options and calls that change how much of it there is.
    pub changed_by: &'static [&'static str],
    /// Beginnings of the names of threads that do nothing else. The kernel keeps 15 bytes of one.
    pub(super) threads: &'static [&'static str],
    /// Beginnings of names of other threads beside which these do something else.
    pub(super) unless_beside: &'static [&'static str],
    /// Functions that it is below, and those that only it is in.
    pub(super) functions: Names,
    /// The same of functions that call the program's work too: only what is spent in them.
    pub(super) innermost: Names,
    /// Libraries, by a part of their file's name, whose own code is it.
    pub(super) own_code_of: &'static [&'static str],
    /// Libraries that are at it when they give up their CPU.
    pub(super) yields_of: &'static [&'static str],
}

/// Work that nothing shows.
pub(super) const WORK: Work = Work {
    role: ThreadRole::Service,
    changed_by: &[],
    threads: &[],
    unless_beside: &[],
    functions: NAMES,
    innermost: NAMES,
    own_code_of: &[],
    yields_of: &[],
};

fn all() -> impl Iterator<Item = &'static Work> {
    ALL.iter().flat_map(|(_, runtime)| runtime.work)
}

fn begins(name: &str, with: &[&str]) -> bool {
    with.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether it is a thread that a runtime made for itself: it does nothing of the program's work,
/// and competes with it for no lock.
pub(crate) fn is_of_runtime(thread: &Thread) -> bool {
    let of_program = |work: &&Work| work.role == ThreadRole::Pool;
    let mut own = all().filter(|work| !of_program(work));
    own.any(|work| begins(&thread.name, work.threads))
}

/// The work of threads that do nothing else, by their names.
pub(crate) fn of_threads(threads: &[Thread]) -> HashMap<u32, &'static Work> {
    let mut beside: HashSet<(u32, *const Work)> = HashSet::new();
    for thread in threads {
        for work in all().filter(|work| begins(&thread.name, work.unless_beside)) {
            beside.insert((thread.pid, std::ptr::from_ref(work)));
        }
    }
    let work_of = |thread: &Thread| {
        let is = |work: &&'static Work| {
            begins(&thread.name, work.threads)
                && !beside.contains(&(thread.pid, std::ptr::from_ref(*work)))
        };
        Some((thread.tid, all().find(is)?))
    };
    threads.iter().filter_map(work_of).collect()
}

/// Tells of what work stacks are. A name is looked up once.
#[derive(Default)]
pub(crate) struct WorkOfStacks<'a> {
    below: HashMap<&'a str, Option<&'static Work>>,
}

impl<'a> WorkOfStacks<'a> {
    /// Of a stack with its innermost frame first, taken in this call or in own code.
    pub(crate) fn of(
        &mut self,
        frames: impl Iterator<Item = &'a Frame>,
        call: Option<&str>,
    ) -> Option<&'static Work> {
        let mut is_innermost = true;
        let mut within_libc = call.is_some();
        for frame in frames {
            let file = frame.binary.rsplit('/').next().unwrap_or(&frame.binary);
            let is_of = |files: &[&str]| files.iter().any(|part| file.contains(part));
            // Above a call there is the C library's function for it.
            if is_innermost && call.is_none() || within_libc && !file.starts_with("libc.") {
                let name = frame.function.as_deref().map(without_suffix);
                let at = |work: &&Work| {
                    let in_it = name.is_some_and(|name| work.innermost.have(name));
                    match call {
                        Some("sched_yield") => in_it || is_of(work.yields_of),
                        Some(_) => false,
                        None => in_it || is_of(work.own_code_of),
                    }
                };
                if let Some(work) = all().find(at) {
                    return Some(work);
                }
                within_libc = false;
            }
            is_innermost = false;
            let Some(name) = frame.function.as_deref() else {
                continue;
            };
            let known = self.below.entry(name).or_insert_with(|| {
                let name = without_suffix(name);
                all().find(|work| work.functions.have(name))
            });
            if known.is_some() {
                return *known;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(names: &[&str]) -> Vec<Thread> {
        let named = |(tid, name): (u32, &&str)| Thread {
            pid: 10,
            tid,
            name: (*name).to_owned(),
            ..Thread::default()
        };
        (10..).zip(names).map(named).collect()
    }

    fn roles(names: &[&str]) -> Vec<Option<ThreadRole>> {
        let threads = threads(names);
        let known = of_threads(&threads);
        let role = |thread: &Thread| known.get(&thread.tid).map(|work| work.role);
        threads.iter().map(role).collect()
    }

    fn of_stack(innermost_first: &[(&str, &str)], call: Option<&str>) -> Option<&'static Work> {
        let frames = innermost_first.iter().map(|(file, name)| Frame {
            binary: (*file).to_owned(),
            function: (!name.is_empty()).then(|| (*name).to_owned()),
            ..Frame::default()
        });
        let frames: Vec<Frame> = frames.collect();
        WorkOfStacks::default().of(frames.iter(), call)
    }

    fn role_of(innermost_first: &[(&str, &str)], call: Option<&str>) -> Option<ThreadRole> {
        of_stack(innermost_first, call).map(|work| work.role)
    }

    #[test]
    fn threads_of_runtimes_are_known_by_their_names() {
        use ThreadRole::{Collector, Compiler, Pool, Service};
        assert_eq!(
            roles(&[
                "java",
                "GC Thread#0",
                "G1 Conc#0",
                "VM Thread",
                "C2 CompilerThre"
            ]),
            [
                None,
                Some(Collector),
                Some(Collector),
                Some(Service),
                Some(Compiler)
            ]
        );
        assert_eq!(
            roles(&[
                "node",
                "V8Worker",
                "libuv-worker",
                "tokio-runtime-w",
                "parser"
            ]),
            [None, Some(Service), Some(Pool), Some(Pool), None]
        );
    }

    #[test]
    fn a_machine_without_threads_to_collect_does_it_in_its_own() {
        let serial = roles(&["java", "VM Thread", "C1 CompilerThre"]);
        assert_eq!(serial[1], Some(ThreadRole::Collector));
    }

    #[test]
    fn below_a_collector_all_is_collecting() {
        let go = "/bin/tool";
        let stack = [
            (go, "runtime.scanobject"),
            (go, "runtime.gcDrain"),
            (go, "runtime.gcBgMarkWorker.func2"),
            (go, "runtime.systemstack"),
        ];
        assert_eq!(role_of(&stack, None), Some(ThreadRole::Collector));
        let python = [
            ("/usr/bin/python3", "visit_reachable"),
            ("/usr/bin/python3", "gc_collect_main"),
            ("/usr/bin/python3", "_PyEval_EvalFrameDefault"),
        ];
        assert_eq!(role_of(&python, None), Some(ThreadRole::Collector));
        assert!(
            of_stack(&python, None)
                .unwrap()
                .changed_by
                .contains(&"gc.freeze()")
        );
        let own = [(go, "main.parse"), (go, "main.main")];
        assert_eq!(role_of(&own, None), None);
    }

    #[test]
    fn a_barrier_is_idling_and_what_is_computed_for_it_is_not() {
        let barrier = [
            ("/usr/lib/libgomp.so.1.0.0", ""),
            ("/bin/a", "main._omp_fn.0"),
            ("/usr/lib/libgomp.so.1.0.0", ""),
        ];
        let idle = of_stack(&barrier, None).expect("it is known");
        assert_eq!(idle.role, ThreadRole::Idle);
        assert!(idle.changed_by.contains(&"OMP_NUM_THREADS"));
        let computing = [("/bin/a", "main._omp_fn.0"), barrier[0]];
        assert_eq!(role_of(&computing, None), None);
        let yielding = [
            ("/usr/lib/libc.so.6", "sched_yield"),
            ("/opt/numpy.libs/libscipy_openblas64_-1.so", ""),
        ];
        let call = Some("sched_yield");
        assert_eq!(role_of(&yielding, call), Some(ThreadRole::Idle));
        assert_eq!(role_of(&yielding, Some("write")), None);
        let own = [yielding[0], ("/bin/a", "spin")];
        assert_eq!(role_of(&own, call), None);
    }
}
