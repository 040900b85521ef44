//! Groups the sampled stacks of a trace by the thread's activity.

use std::borrow::Cow;
use std::collections::HashMap;

use fathom_model::CodePlace;
use fathom_stacks::Frame;
use fathom_trace::{Activity, FunctionRow, StackRow};

use super::locks;
use super::route::Step;
use crate::analysis::Analysis;
use crate::observation::Observation;
use crate::runtimes::{Work, group_of};

/// A route with its weight.
#[derive(Debug, Clone)]
pub(super) struct Site<'a> {
    pub route: Vec<Step<'a>>,
    /// The work of a runtime at the site, if any.
    pub work: Option<&'static Work>,
    /// The file, folder or lock that it was about.
    pub object: Option<Cow<'a, str>>,
    pub ns: f64,
    pub stacks: u64,
    /// Whether another thread of the tree ended the wait.
    pub by_thread: bool,
}

/// Keys for looking up stacks, narrowest first. The first key for which stacks are known is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum By<'a> {
    Descriptor(u32, Option<&'a str>, Option<i32>),
    Thread(u32, Option<&'a str>),
    Process(u32, Option<&'a str>),
    Tree(Option<&'a str>),
}

/// The purposes of functions. Each name is looked up once.
#[derive(Default)]
struct Groups(HashMap<*const Frame, Option<&'static str>>);

impl Groups {
    /// Adds the purpose of the library function at the end of a route. This is the function's own purpose, or
    /// that of the first function it led to whose purpose is known.
    fn add<'a>(
        &mut self,
        route: &mut [Step<'_>],
        innermost_first: impl Iterator<Item = &'a Frame>,
    ) {
        let Some(entry) = route.last_mut().filter(|step| !step.is_own) else {
            return;
        };
        let is_within = |frame: &&Frame| !std::ptr::eq(*frame, entry.frame);
        let mut within: Vec<&Frame> = innermost_first.take_while(is_within).collect();
        within.push(entry.frame);
        let group = |frame: &Frame| {
            let known = self.0.entry(std::ptr::from_ref(frame));
            *known.or_insert_with(|| group_of(frame))
        };
        entry.group = within.into_iter().rev().find_map(group);
    }
}

/// The stacks of one activity.
pub(super) struct Sites<'a> {
    rows: Vec<Site<'a>>,
    by: HashMap<(Activity, By<'a>), Vec<usize>>,
}

impl<'a> Sites<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>) -> Self {
        let mut sites = Self {
            rows: Vec::new(),
            by: HashMap::new(),
        };
        if let Some(stacks) = &analysis.trace.stacks {
            let mut groups = Groups::default();
            for (at, row) in stacks.rows.iter().enumerate() {
                let mut route: Vec<Step<'_>> = analysis.routes().of(stacks, at).collect();
                let frames = row.node.into_iter().flat_map(|node| stacks.tree.path(node));
                groups.add(&mut route, frames.skip(analysis.works.of_runtime(at)));
                let work = analysis.works.of_stack(at);
                let begins = work.and_then(|(_, from)| {
                    row.node.and_then(|node| stacks.tree.path(node).nth(from))
                });
                let work = work.map(|(work, _)| work);
                let operation = work.zip(begins).and_then(|(work, at)| work.operation(at));
                let by_thread = row.woken_by.is_some_and(|by| analysis.thread(by).is_some());
                sites.add((row, by_thread), route, (work, operation));
            }
            locks::name(&mut sites.rows, &stacks.rows);
        }
        sites
    }

    fn add(
        &mut self,
        (row, by_thread): (&'a StackRow, bool),
        route: Vec<Step<'a>>,
        (work, operation): (Option<&'static Work>, Option<String>),
    ) {
        let at = self.rows.len();
        self.rows.push(Site {
            route,
            work,
            object: operation
                .map(Cow::Owned)
                .or(row.path.as_deref().map(Cow::Borrowed)),
            // If the run was stopped at its calls, their time is unknown.
            ns: if row.ns > 0 { row.ns } else { row.calls } as f64,
            stacks: row.samples,
            by_thread,
        });
        let call = row.call.as_deref();
        for by in [
            By::Descriptor(row.tid, call, row.fd),
            By::Thread(row.tid, call),
            By::Process(row.pid, call),
            By::Tree(call),
        ] {
            self.by.entry((row.activity, by)).or_default().push(at);
        }
    }

    /// Returns where a thread did this, as precisely as is known, with fractions that add up to 1.
    pub(super) fn of(
        &self,
        (pid, tid): (u32, u32),
        activities: &[Activity],
        call: Option<&'a str>,
        fd: Option<i32>,
    ) -> Vec<(&Site<'a>, f64)> {
        let narrowest_first = [
            By::Descriptor(tid, call, fd),
            By::Thread(tid, call),
            By::Process(pid, call),
            By::Tree(call),
        ];
        for by in narrowest_first {
            for activity in activities {
                let Some(found) = self.by.get(&(*activity, by)) else {
                    continue;
                };
                let found = || found.iter().map(|at| &self.rows[*at]);
                let all: f64 = found().map(|site| site.ns).sum();
                if all > 0.0 {
                    return found().map(|site| (site, site.ns / all)).collect();
                }
            }
        }
        Vec::new()
    }
}

/// The functions of own code, as frames, from samples of a process tree without stacks.
pub(super) struct Functions {
    frames: Vec<(u32, Frame, u64)>,
    /// Whether they come from another run, whose threads don't correspond to threads of this one.
    of_another_run: bool,
}

impl Functions {
    pub(super) fn new(observation: &Observation) -> Self {
        let more = observation.more_samples.as_ref();
        let profile = more.or(observation.trace.profile.as_ref());
        let rows = profile.into_iter().flat_map(|profile| &profile.functions);
        Self {
            frames: rows.map(|row| (row.tid, frame(row), row.samples)).collect(),
            of_another_run: more.is_some(),
        }
    }

    /// Returns the functions of a thread, or of all threads if the thread has none, with fractions that add
    /// up to 1.
    pub(super) fn of(&self, tid: u32) -> Vec<(&Frame, u64, f64)> {
        let of_thread = |one: &&(u32, Frame, u64)| one.0 == tid && !self.of_another_run;
        let mut found: Vec<_> = self.frames.iter().filter(of_thread).collect();
        if found.is_empty() && self.of_another_run {
            found = self.frames.iter().collect();
        }
        let all: u64 = found.iter().map(|one| one.2).sum();
        let part = |one: &(u32, Frame, u64)| one.2 as f64 / all.max(1) as f64;
        found
            .into_iter()
            .map(|one| (&one.1, one.2, part(one)))
            .collect()
    }
}

fn frame(row: &FunctionRow) -> Frame {
    Frame {
        binary: row.file.clone(),
        function: row.function.clone(),
        ..Frame::default()
    }
}

/// Returns, for each row of own code's stacks, the function, its nearest own caller, and the number of
/// samples. Two runs can be compared by these.
pub(crate) fn own_code_sites<'a>(
    analysis: &Analysis<'a>,
) -> Vec<(&'a StackRow, CodePlace, Option<CodePlace>)> {
    let Some(stacks) = &analysis.trace.stacks else {
        return Vec::new();
    };
    let rows = stacks.rows.iter().enumerate();
    let own = rows.filter(|(_, row)| row.activity == Activity::OwnCode);
    let place = |step: Step<'_>| CodePlace {
        function: step.frame.function.clone(),
        binary: Some(step.frame.binary.clone()),
        after: step.frame.after.clone(),
        ..CodePlace::default()
    };
    own.filter_map(|(at, row)| {
        let mut innermost_first = analysis.routes().of(stacks, at).rev();
        let last = innermost_first.next()?;
        let caller = innermost_first.find(|step| step.is_own);
        Some((row, place(last), caller.map(place)))
    })
    .collect()
}
