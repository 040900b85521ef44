//! Work that a runtime does in addition to the program's own, and how to recognise it.
//!
//! A trace shows this work only through the names of threads and functions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use fathom_model::ThreadRole;
use fathom_stacks::Frame;
use fathom_trace::{Activity, FunctionRow, Thread, Trace};
use serde::Deserialize;

use super::functions::{Names, without_suffix};
use super::{ALL, begins};
use crate::calls;
use crate::file_name::file_name;
use crate::thresholds as t;

/// A kind of work of a runtime.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Work {
    pub role: ThreadRole,
    /// Variables, options and calls that change the amount of this work.
    pub changed_by: Vec<String>,
    /// Prefixes of the names of threads that do only this work. The kernel keeps only 15 bytes of a name.
    threads: Vec<String>,
    /// Prefixes of the names of other threads; if such threads are present, the threads above do something
    /// else.
    unless_beside: Vec<String>,
    /// Functions such that everything below them in the stack is this work, or that only this work calls.
    functions: Names,
    /// Functions that also call the program's own work, so that only time spent directly in them counts.
    innermost: Names,
    /// Libraries, by a part of their file name, whose own code is this work.
    own_code_of: Vec<String>,
    /// Libraries that do this work when they yield their CPU or wait for other threads.
    waits_of: Vec<String>,
    /// What the work is called if it begins with a method of a class that is named for an operation, after
    /// this prefix.
    operation: Option<(String, String)>,
    /// The variable that sets the number of threads.
    size: Option<String>,
    /// Advice if this work takes much time, in the words of the runtime's users.
    advice: Option<String>,
}

impl Default for Work {
    /// Returns work without recognisable threads or functions.
    fn default() -> Self {
        Self {
            role: ThreadRole::Service,
            changed_by: Vec::new(),
            threads: Vec::new(),
            unless_beside: Vec::new(),
            functions: Names::default(),
            innermost: Names::default(),
            own_code_of: Vec::new(),
            waits_of: Vec::new(),
            operation: None,
            size: None,
            advice: None,
        }
    }
}

impl Work {
    /// Returns the operation that this work is, by the function with which it begins: `safepoint: ThreadDump`.
    pub(crate) fn operation(&self, begins: &Frame) -> Option<String> {
        let (name, prefix) = self.operation.as_ref()?;
        let class = begins.function.as_deref()?.split("::").next();
        let class = class.and_then(|class| class.strip_prefix(prefix.as_str()));
        Some(class.map_or(name.clone(), |class| format!("{name}: {class}")))
    }

    /// What to do if the work takes much time.
    pub(crate) fn advice(&self) -> String {
        if let Some(words) = &self.advice {
            return words.clone();
        }
        let names: Vec<String> = self.changed_by.iter().map(|it| format!("`{it}`")).collect();
        let change = match names.is_empty() {
            true => "a program with fewer threads causes less of it".to_owned(),
            false => format!("change it with {}", names.join(", ")),
        };
        format!("This is the runtime's own work; {change}.")
    }
}

fn all() -> impl Iterator<Item = &'static Work> {
    ALL.iter().flat_map(|(_, runtime)| &runtime.work)
}

/// The share of a thread's stacks above which the thread counts as doing only this work.
const NEARLY_ALL: f64 = 0.9;

/// The work in the threads and stacks of a trace that is not the program's own.
pub(crate) struct Works {
    named: HashMap<u32, &'static Work>,
    /// Threads classified by their stacks.
    others: HashMap<u32, &'static Work>,
    /// For each row of the trace's stacks, its work and the frame at which the work begins, counted from the
    /// innermost one.
    stacks: Vec<Option<(&'static Work, usize)>>,
    /// Work by function, for samples without stacks.
    functions: Vec<&'static Work>,
    /// Teams of threads that a library created to share the program's work, by process.
    teams: BTreeMap<u32, Team>,
}

/// Threads that share a program's work and wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Team {
    pub threads: BTreeSet<u32>,
    /// The setting for the number of threads.
    pub size: &'static str,
    /// The number of samples of the threads' own code, and how many of these found them waiting for each
    /// other.
    samples: u64,
    idle: u64,
}

impl Team {
    /// Returns the fraction of their own code in which they did the program's work, 0 to 1; `None` if there
    /// are too few samples.
    pub(crate) fn part_of_work(&self) -> Option<f64> {
        let work = self.samples - self.idle;
        let known = self.samples >= t::LEAST_SAMPLES;
        known.then(|| work as f64 / self.samples as f64)
    }
}

impl Works {
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut names = WorkOfStacks::default();
        let mut stacks = Vec::new();
        let mut weights: HashMap<(u32, u32), HashMap<Option<*const Work>, f64>> = HashMap::new();
        let mut found: HashMap<*const Work, &'static Work> = HashMap::new();
        for (tree, row) in trace
            .stacks
            .iter()
            .flat_map(|it| it.rows.iter().map(|row| (&it.tree, row)))
        {
            let frames = row.node.into_iter().flat_map(|node| tree.path(node));
            let work = names.of(frames, row.call.as_deref());
            let own = work
                .map(|(work, _)| work)
                .filter(|work| work.role != ThreadRole::Pool);
            found.extend(own.map(|work| (std::ptr::from_ref(work), work)));
            let of_thread = weights.entry((row.pid, row.tid)).or_default();
            *of_thread.entry(own.map(std::ptr::from_ref)).or_default() += row.samples.max(1) as f64;
            stacks.push(work);
        }
        let others = weights.into_iter().filter_map(|((pid, tid), weights)| {
            let all: f64 = weights.values().sum();
            let of_program = weights.get(&None).copied().unwrap_or(0.0);
            let most = weights
                .into_iter()
                .filter_map(|(work, weight)| Some((found[&work?], weight)));
            let (most, _) = most.max_by(|a, b| a.1.total_cmp(&b.1))?;
            (tid != pid && of_program <= (1.0 - NEARLY_ALL) * all).then_some((tid, most))
        });
        let functions = trace.profile.iter().flat_map(|profile| &profile.functions);
        let teams = teams(trace, &stacks);
        Self {
            named: named(&trace.threads),
            others: others.collect(),
            stacks,
            functions: functions.filter_map(of_row).collect(),
            teams,
        }
    }

    /// Returns the work of a row of the stacks, and the frame at which it begins.
    pub(crate) fn of_stack(&self, row: usize) -> Option<(&'static Work, usize)> {
        *self.stacks.get(row)?
    }

    /// Returns how many of a row's innermost frames belong to a runtime, and so can't be a location in the
    /// program.
    pub(crate) fn of_runtime(&self, row: usize) -> usize {
        match self.of_stack(row) {
            Some((work, from)) if work.role != ThreadRole::Pool => from,
            _ => 0,
        }
    }

    /// Returns the work that a thread does exclusively.
    pub(crate) fn of_thread(&self, tid: u32) -> Option<&'static Work> {
        let by_stacks = || self.others.get(&tid);
        self.named.get(&tid).or_else(by_stacks).copied()
    }

    /// Returns whether a runtime created this thread for itself. Such a thread does none of the program's
    /// work and doesn't compete with it for locks.
    pub(crate) fn is_of_runtime(&self, tid: u32) -> bool {
        self.of_thread(tid)
            .is_some_and(|work| work.role != ThreadRole::Pool)
    }

    /// Returns the runtime's work that makes a thread's calls with this name: idling, if nearly all of their
    /// stacks in `trace` show it, or otherwise the work of a thread that exists for something other than the
    /// program's work.
    pub(crate) fn made_by(&self, trace: &Trace, tid: u32, call: &str) -> Option<&'static Work> {
        let rows = trace.stacks.iter().flat_map(|stacks| &stacks.rows);
        let of_call = rows.zip(&self.stacks).filter(|(row, _)| {
            row.tid == tid && row.call.as_deref() == Some(call) && row.activity == Activity::Call
        });
        let (mut all, mut idle, mut found) = (0, 0, None);
        for (row, work) in of_call {
            all += row.samples.max(1);
            if let Some((work, _)) = work.filter(|(work, _)| work.role == ThreadRole::Idle) {
                idle += row.samples.max(1);
                found = Some(work);
            }
        }
        let idles = found.filter(|_| idle as f64 >= NEARLY_ALL * all as f64);
        let is_own = |work: &&Work| work.role != ThreadRole::Pool;
        idles.or_else(|| self.of_thread(tid).filter(is_own))
    }

    /// Teams of threads that a library created to share the program's work, by process.
    pub(crate) fn teams(&self) -> impl Iterator<Item = (u32, &Team)> {
        self.teams.iter().map(|(pid, team)| (*pid, team))
    }

    /// Returns the setting for the number of threads that share the program's work, if a library created such
    /// threads.
    pub(crate) fn sizes(&self) -> Option<&'static str> {
        let stacks = self.stacks.iter().flatten().map(|(work, _)| *work);
        let threads = self.named.values().copied();
        let mut all = stacks.chain(threads).chain(self.functions.iter().copied());
        all.find_map(|work| work.size.as_deref())
    }
}

/// Finds teams by stacks or, without stacks, by functions of own code.
fn teams(trace: &Trace, stacks: &[Option<(&'static Work, usize)>]) -> BTreeMap<u32, Team> {
    let rows = trace.stacks.iter().flat_map(|it| &it.rows).zip(stacks);
    let of_stacks = rows.map(|(row, work)| {
        let is_own = row.activity == Activity::OwnCode;
        let work = work.map(|(work, _)| work);
        (row.pid, row.tid, work, if is_own { row.samples } else { 0 })
    });
    let functions = trace.profile.iter().flat_map(|profile| &profile.functions);
    let functions = functions.filter(|_| trace.stacks.is_none());
    let of_functions = functions.map(|row| (row.pid, row.tid, of_row(row), row.samples));
    let mut teams: BTreeMap<u32, Team> = BTreeMap::new();
    for (pid, tid, work, samples) in of_stacks.chain(of_functions) {
        let team = teams.entry(pid).or_default();
        team.samples += samples;
        let idle = work.filter(|work| work.role == ThreadRole::Idle);
        if let Some(size) = idle.and_then(|work| work.size.as_deref()) {
            team.threads.insert(tid);
            team.size = size;
            team.idle += samples;
        }
    }
    teams.retain(|_, team| !team.threads.is_empty());
    teams
}

/// Maps threads that do only one kind of work to it, by their names.
fn named(threads: &[Thread]) -> HashMap<u32, &'static Work> {
    let mut beside: HashSet<(u32, *const Work)> = HashSet::new();
    for thread in threads {
        for work in all().filter(|work| begins(&thread.name, &work.unless_beside)) {
            beside.insert((thread.pid, std::ptr::from_ref(work)));
        }
    }
    let work_of = |thread: &Thread| {
        let is = |work: &&'static Work| {
            begins(&thread.name, &work.threads)
                && !beside.contains(&(thread.pid, std::ptr::from_ref(*work)))
        };
        Some((thread.tid, all().find(is)?))
    };
    threads.iter().filter_map(work_of).collect()
}

/// Returns the work of a function without its stack.
pub(crate) fn of_function(frame: &Frame) -> Option<&'static Work> {
    let found = WorkOfStacks::default().of(std::iter::once(frame), None);
    found.map(|(work, _)| work)
}

/// Returns advice about threads that spin in a library, in the terms of the library's users.
pub(crate) fn advice_on_spinning(row: &FunctionRow) -> Option<&'static str> {
    of_row(row)?.advice.as_deref()
}

fn of_row(row: &FunctionRow) -> Option<&'static Work> {
    of_function(&Frame {
        binary: row.file.clone(),
        function: row.function.clone(),
        ..Frame::default()
    })
}

/// Classifies stacks by their work. Each name is looked up once.
#[derive(Default)]
struct WorkOfStacks<'a> {
    below: HashMap<&'a str, Option<&'static Work>>,
}

impl<'a> WorkOfStacks<'a> {
    /// Returns the work of a stack (innermost frame first) that was taken in this call or in own code, and
    /// the frame at which the work begins.
    fn of(
        &mut self,
        frames: impl Iterator<Item = &'a Frame>,
        call: Option<&str>,
    ) -> Option<(&'static Work, usize)> {
        let waits = call.is_some_and(|call| call == "sched_yield" || calls::is_lock(call));
        let mut found: Option<(&'static Work, usize)> = None;
        // The C library's functions for making a call are further in.
        let mut may_be_innermost = waits || call.is_none();
        for (at, frame) in frames.enumerate() {
            let file = file_name(&frame.binary);
            if may_be_innermost && !(waits && file.starts_with("libc.")) {
                may_be_innermost = false;
                found = innermost(frame, file, waits).map(|work| (work, at));
            }
            let Some(name) = frame.function.as_deref() else {
                continue;
            };
            let known = *self.below.entry(name).or_insert_with(|| {
                let name = without_suffix(name);
                all().find(|work| work.functions.have(name))
            });
            match (known, found) {
                (Some(work), None) => found = Some((work, at)),
                // The work begins at the frame that other code called.
                (Some(work), Some((before, _))) if std::ptr::eq(work, before) => {
                    found = Some((work, at));
                }
                _ => {}
            }
        }
        found
    }
}

/// Returns work that only the innermost frame shows: a library's own code, or the call that it makes.
fn innermost(frame: &Frame, file: &str, waits: bool) -> Option<&'static Work> {
    let name = frame.function.as_deref().map(without_suffix);
    let in_it = |work: &&Work| {
        let files = if waits {
            &work.waits_of
        } else {
            &work.own_code_of
        };
        files.iter().any(|part| file.contains(part))
            || name.is_some_and(|name| work.innermost.have(name))
    };
    all().find(in_it)
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
        let trace = Trace {
            threads: threads(names),
            ..Trace::default()
        };
        let works = Works::new(&trace);
        let role = |thread: &Thread| works.of_thread(thread.tid).map(|work| work.role);
        trace.threads.iter().map(role).collect()
    }

    fn of_stack(innermost_first: &[(&str, &str)], call: Option<&str>) -> Option<&'static Work> {
        let frames = innermost_first.iter().map(|(file, name)| Frame {
            binary: (*file).to_owned(),
            function: (!name.is_empty()).then(|| (*name).to_owned()),
            ..Frame::default()
        });
        let frames: Vec<Frame> = frames.collect();
        let found = WorkOfStacks::default().of(frames.iter(), call);
        found.map(|(work, _)| work)
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
                .contains(&"gc.freeze()".to_owned())
        );
        let own = [(go, "main.parse"), (go, "main.main")];
        assert_eq!(role_of(&own, None), None);
    }

    #[test]
    fn a_safepoint_is_named_by_its_operation() {
        let jvm = "/usr/lib/jvm/lib/server/libjvm.so";
        let of = |operation: &'static str| {
            let stack = [
                (jvm, "vframeStream::next()"),
                (jvm, operation),
                (jvm, "VM_Operation::evaluate()"),
                (jvm, "VMThread::run()"),
            ];
            let work = of_stack(&stack, None).expect("it is known");
            let begins = Frame {
                function: Some(operation.to_owned()),
                ..Frame::default()
            };
            (work.role, work.operation(&begins))
        };
        let named = |name: &str| Some(name.to_owned());
        let dump = (ThreadRole::Service, named("safepoint: ThreadDump"));
        assert_eq!(of("VM_ThreadDump::doit()"), dump);
        assert_eq!(
            of("VM_GenCollectFull::doit()"),
            (ThreadRole::Collector, None)
        );
        let waits = of("SafepointSynchronize::block(JavaThread*)");
        assert_eq!(waits, (ThreadRole::Service, named("safepoint")));
    }

    #[test]
    fn what_a_runtime_looks_for_by_itself_has_the_option_that_ends_it() {
        let make = "/usr/bin/make";
        let stack = [
            (make, "parse_file_seq"),
            (make, ""),
            (make, "try_implicit_rule"),
            (make, "update_file"),
        ];
        let work = of_stack(&stack, None).expect("it is known");
        assert_eq!(work.role, ThreadRole::Service);
        assert!(work.changed_by.contains(&"-r".to_owned()));
        assert_eq!(role_of(&stack[3..], None), None);
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
        assert!(idle.changed_by.contains(&"OMP_NUM_THREADS".to_owned()));
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
