//! Stacks of several runs of the same command, until they are named.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_stacks::python::{PythonFrame, mixed};
use fathom_stacks::{Files, Frame, NOWHERE, Place, Reach, Tree, Unwinder, named_tree};

use super::alike::Alike;
use super::collector::StackCollector;
use crate::calls;
use crate::python::PythonStack;
use crate::result::{Activity, StackRow, Stacks, Trace};

/// Number of bytes of a stack that are copied initially: in most programs, this reaches main.
const FIRST_BYTES: u32 = 8 << 10;
/// If more than [`OFTEN_CUT_OFF`] of the stacks were deeper than their copies, the next run copies more
/// bytes, by this factor.
const MORE: u32 = 4;
const OFTEN_CUT_OFF: f64 = 0.03;
/// Maximum number of bytes of a stack in a record, whose length is a 16-bit number.
const MOST_BYTES: u32 = 63 << 10;

/// Collects the stacks of several runs. A clone refers to the same pool.
#[derive(Clone, Debug, Default)]
pub struct StackPool(Arc<Mutex<Pool>>);

#[derive(Debug, Default)]
struct Pool {
    files: Files,
    tree: Tree<Place>,
    python: Tree<PythonFrame>,
    runs: Vec<Run>,
    /// Number of bytes copied with each sample, if it is more than initially.
    bytes: Option<u32>,
}

/// Number of complete samples from which truncated ones are no longer used.
const ENOUGH: u64 = 64;
/// Number of bytes copied if there is only one run: deeper stacks are rare, and only existing bytes are
/// copied.
const BYTES_OF_ONLY_RUN: u32 = 32 << 10;

/// The observations of one run.
#[derive(Debug, Default)]
struct Run {
    /// The start of its trace; `None` until the trace exists.
    start: Option<u64>,
    rows: HashMap<Key, Weight>,
    taken: u64,
    whole: u64,
    cut_off: u64,
    thinned: u64,
    /// Number of stacks with Python frames; the next field counts those whose frames were changing.
    python: u64,
    torn: u64,
    /// Number of bytes copied of each stack.
    bytes: u32,
    /// The identities of its processes and threads.
    alike: Alike,
}

/// The number of samples, the time and the number of calls that stacks represent.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    samples: u64,
    ns: f64,
    calls: f64,
}

impl Weight {
    fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.ns += other.ns;
        self.calls += other.calls;
    }
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    pid: u32,
    tid: u32,
    activity: Activity,
    call: Option<u32>,
    fd: Option<i32>,
    path: Option<Arc<str>>,
    woken_by: Option<u32>,
    node: Option<u32>,
    /// The Python frames, and whether the native frames reach the thread's first function.
    python: Option<(u32, bool)>,
}

impl Run {
    /// Returns whether too little of the stacks was copied, and more could have been.
    fn is_cut_off(&self) -> bool {
        let unwound = self.taken - self.thinned;
        self.bytes < MOST_BYTES && self.cut_off as f64 > OFTEN_CUT_OFF * unwound as f64
    }

    fn samples_of(&self, activity: Activity) -> u64 {
        let of_it = self.rows.iter().filter(|(key, _)| key.is_of(activity));
        of_it.map(|(_, row)| row.samples).sum()
    }
}

impl Key {
    fn is_of(&self, activity: Activity) -> bool {
        self.activity == activity
    }

    fn row(self, weight: Weight) -> StackRow {
        StackRow {
            pid: self.pid,
            tid: self.tid,
            activity: self.activity,
            call: self.call.map(calls::name),
            fd: self.fd,
            path: self.path.map(|path| path.to_string()),
            woken_by: self.woken_by,
            node: self.node,
            samples: weight.samples,
            ns: weight.ns.round() as u64,
            calls: weight.calls.round() as u64,
        }
    }
}

impl Pool {
    /// Returns the runs that show this activity of `main`'s threads. If `main` saw any, this is `main`
    /// itself, except for own code, of which each run saw a part.
    fn runs_with<'a>(&'a self, main: &'a Run, activity: Activity) -> Vec<&'a Run> {
        let saw = |run: &&Run| run.rows.keys().any(|key| key.is_of(activity));
        if activity != Activity::OwnCode && saw(&main) {
            return vec![main];
        }
        let mut runs: Vec<&Run> = self.runs.iter().filter(saw).collect();
        // Omit truncated stacks if there are enough complete ones.
        let most = runs.iter().map(|run| run.bytes).max();
        let deep = |run: &&Run| !run.is_cut_off() || Some(run.bytes) == most;
        let of_deep = runs.iter().copied().filter(deep);
        let of_deep: u64 = of_deep.map(|run| run.samples_of(activity)).sum();
        if of_deep >= ENOUGH {
            runs.retain(deep);
        }
        runs
    }

    /// Joins the samples of the threads of `main` with those of the corresponding threads in other runs.
    fn joined(&self, main: &Run, stacks: &mut Stacks) -> HashMap<Key, Weight> {
        let mut rows: HashMap<Key, Weight> = HashMap::new();
        let mut counted: Vec<&Run> = Vec::new();
        let all = [
            Activity::OwnCode,
            Activity::Fault,
            Activity::Call,
            Activity::Wait,
        ];
        for activity in all {
            let runs = self.runs_with(main, activity);
            for run in &runs {
                if !counted.iter().any(|other| std::ptr::eq(*other, *run)) {
                    stacks.taken += run.taken;
                    stacks.whole += run.whole;
                    stacks.cut_off += run.cut_off;
                    stacks.thinned += run.thinned;
                    stacks.python += run.python;
                    stacks.torn += run.torn;
                    counted.push(run);
                }
                let of_it = run.rows.iter().filter(|(key, _)| key.is_of(activity));
                for (key, weight) in of_it {
                    let numbers = (key.pid, key.tid);
                    let Some((pid, tid)) = main.alike.here_or_process(&run.alike, numbers) else {
                        continue;
                    };
                    let there = |other: &&&Run| other.alike.has(&run.alike, numbers);
                    let times = runs.iter().filter(there).count().max(1) as f64;
                    let key = Key {
                        pid,
                        tid,
                        ..key.clone()
                    };
                    rows.entry(key).or_default().add(Weight {
                        samples: weight.samples,
                        ns: weight.ns / times,
                        calls: weight.calls / times,
                    });
                }
            }
        }
        rows
    }
}

impl StackPool {
    /// Creates a pool for a single run, which can't be repeated if stacks are deeper than their copies.
    pub fn of_one_run() -> Self {
        let pool = Self::default();
        pool.lock().bytes = Some(BYTES_OF_ONLY_RUN);
        pool
    }

    /// Returns the number of bytes of each stack to copy in the next run.
    pub(crate) fn bytes_to_copy(&self) -> u32 {
        self.lock().bytes.unwrap_or(FIRST_BYTES)
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unwinds the stacks collected in a run, and drops the copies.
    pub(super) fn unwind(&self, collected: StackCollector, files: &Files) {
        let mut pool = self.lock();
        let Pool {
            files: all,
            tree,
            python,
            ..
        } = &mut *pool;
        let numbers = all.absorb(files);
        let mut run = Run {
            taken: collected.placed.len() as u64 + collected.thinned,
            thinned: collected.thinned,
            ..Run::default()
        };
        let mut unwinder = Unwinder::default();
        for one in collected.placed {
            let (stack, copy) = (&one.stack, &one.stack.copy);
            let from = copy.registers.stack().unwrap_or(0);
            let mapped = &one.mapped;
            let mut chain = unwinder.unwind(files, mapped, &copy.registers, from, &copy.bytes);
            let copied = (&copy.registers, from, &*copy.bytes);
            unwinder.splice(files, mapped, copied, &mut chain, &copy.callers);
            match chain.reach {
                Reach::Root => run.whole += 1,
                Reach::CutOff => run.cut_off += 1,
                Reach::Broken => {}
            }
            let frames = chain.frames.into_iter().chain(std::iter::repeat(None));
            let mut places = Vec::with_capacity(chain.places.len());
            for (place, frame) in chain.places.into_iter().zip(frames) {
                let file = numbers.get(place.file as usize).copied().unwrap_or(NOWHERE);
                let method = frame.filter(|_| all.maker(file).is_some());
                let method = method.and_then(|it| collected.methods.at(stack, it));
                places.push(match method {
                    Some((method, name)) => {
                        all.know_method(file, method, name);
                        Place {
                            file,
                            returns: false,
                            offset: method,
                        }
                    }
                    None => Place { file, ..place },
                });
            }
            let places = places.into_iter().rev();
            let frames = match &copy.python {
                PythonStack::Read(frames) => {
                    run.python += 1;
                    python.add(frames.iter().rev().cloned())
                }
                PythonStack::Torn => {
                    run.torn += 1;
                    continue;
                }
                PythonStack::Unknown => None,
            };
            let is_whole = chain.reach == Reach::Root;
            let key = Key {
                node: tree.add(places),
                python: frames.map(|node| (node, is_whole)),
                pid: stack.pid,
                tid: stack.tid,
                activity: stack.activity,
                call: stack.call,
                fd: stack.fd,
                path: stack.path.clone(),
                woken_by: stack.woken_by,
            };
            let row = run.rows.entry(key).or_default();
            row.add(Weight {
                samples: stack.samples,
                ns: stack.ns as f64,
                calls: stack.calls,
            });
        }
        let bytes = pool.bytes.unwrap_or(FIRST_BYTES);
        run.bytes = bytes;
        if run.is_cut_off() {
            pool.bytes = Some((bytes * MORE).min(MOST_BYTES));
        }
        pool.runs.push(run);
    }

    /// Adds the trace of the last run.
    pub(crate) fn traced(&self, trace: &Trace) {
        self.read_maps();
        if let Some(run) = self
            .lock()
            .runs
            .last_mut()
            .filter(|run| run.start.is_none())
        {
            run.start = Some(trace.started_clock_ns);
            run.alike = Alike::of(trace);
        }
    }

    /// Notes the ids of the last run's processes in their own namespaces.
    pub(crate) fn known_inside(&self, numbers: HashMap<u32, u32>) {
        self.lock().files.known_inside(numbers);
    }

    /// Reads the name maps that the processes have written so far. They are read now, because maps are
    /// removed with their processes, whose ids may be reused.
    pub fn read_maps(&self) {
        let mut pool = self.lock();
        let Pool { files, tree, .. } = &mut *pool;
        files.read_maps(tree.frames.iter().map(|place| (place.file, place.inside())));
    }

    /// Returns whether there are fewer than `enough` samples of own code, or the stacks of the last run were
    /// deeper than their copies.
    pub fn wants_more(&self, enough: u64) -> bool {
        let is_cut_off = {
            let pool = self.lock();
            let sampled = |run: &&Run| run.samples_of(Activity::OwnCode) > 0;
            pool.runs.iter().rfind(sampled).is_some_and(Run::is_cut_off)
        };
        is_cut_off || self.samples() < enough
    }

    /// Returns the number of samples of own code so far, over all runs.
    pub fn samples(&self) -> u64 {
        let pool = self.lock();
        let runs = pool.runs.iter();
        runs.map(|run| run.samples_of(Activity::OwnCode)).sum()
    }

    /// Drops the observations of a run that turned out to be of a different kind.
    pub fn forget(&self, trace: &Trace) {
        let start = Some(trace.started_clock_ns);
        self.lock().runs.retain(|run| run.start != start);
    }

    /// Returns the named stacks of a run. The samples of own code of all other runs are included, scaled to
    /// the average of one run. An activity that this run didn't see at all is taken from a run that did.
    /// Returns `None` if no run saw a stack.
    ///
    /// Opens the files of the programs and reads their symbols, which takes some memory.
    pub fn named(&self, trace: &Trace) -> Option<Stacks> {
        let pool = self.lock();
        let start = Some(trace.started_clock_ns);
        let empty = Run {
            alike: Alike::of(trace),
            ..Run::default()
        };
        let main = pool.runs.iter().find(|run| run.start == start);
        let main = main.unwrap_or(&empty);
        if pool.runs.is_empty() {
            return None;
        }
        let mut stacks = Stacks::default();
        let rows = pool.joined(main, &mut stacks);
        let (tree, nodes) = named_tree(&pool.files, &pool.tree);
        let native = |key: &Key| key.node.and_then(|node| nodes.get(node as usize).copied());
        let mut named: HashMap<Key, Weight> = HashMap::new();
        for (key, weight) in rows {
            let frames: Vec<&Frame> =
                native(&key).map_or_else(Vec::new, |node| tree.path(node).collect());
            let node = match key.python {
                Some((node, is_whole)) => {
                    let python: Vec<&PythonFrame> = pool.python.path(node).collect();
                    let frames = mixed(&frames, &python, is_whole);
                    stacks.tree.add(frames.into_iter().rev())
                }
                None => stacks.tree.add(frames.into_iter().rev().cloned()),
            };
            let key = Key {
                node,
                python: None,
                ..key
            };
            named.entry(key).or_default().add(weight);
        }
        stacks.rows = named
            .into_iter()
            .map(|(key, weight)| key.row(weight))
            .collect();
        let order = |row: &StackRow| {
            let of_call = (row.call.clone(), row.fd, row.path.clone(), row.woken_by);
            let who = (row.pid, row.tid, row.activity);
            (
                std::cmp::Reverse(row.ns),
                std::cmp::Reverse(row.samples),
                who,
                of_call,
                row.node,
            )
        };
        stacks.rows.sort_by_cached_key(order);
        Some(stacks)
    }
}
