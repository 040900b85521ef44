//! Divides the account into its smallest known pieces.

use std::collections::{BTreeMap, HashMap};

use fathom_model::{ThreadRole, TimeCategory};
use fathom_trace::{Activity, DescriptorKind, Tier};

use super::objects::{Objects, is_path};
use super::route::{Step, alone};
use super::sites::{Functions, Site, Sites};
use crate::analysis::{Analysis, OnPath};
use crate::calls;
use crate::runtimes::{self, Work};

/// Time of one kind, on one object, reached by one route through the code.
#[derive(Debug, Clone)]
pub(super) struct Atom<'a> {
    pub kind: TimeCategory,
    pub call: Option<&'a str>,
    pub object: Option<String>,
    /// Work that a runtime does on the program's behalf.
    pub work: Option<&'static Work>,
    pub route: Vec<Step<'a>>,
    pub ns: f64,
    pub count: Option<f64>,
    /// The number of sampled stacks that show this time; `None` if its whole route is known.
    pub stacks: Option<u64>,
}

/// The call with which a process ends.
pub(super) const ENDS: &str = "exit_group";

/// A part of the account, before its objects and routes are known.
struct Part<'a> {
    pid: u32,
    tid: u32,
    kind: TimeCategory,
    call: Option<&'a str>,
    fd: Option<i32>,
    object: Option<&'a DescriptorKind>,
    ns: f64,
    count: Option<u64>,
}

/// The data from which atoms are made.
pub(super) struct Source<'a> {
    analysis: &'a Analysis<'a>,
    sites: Sites<'a>,
    functions: Functions,
    objects: Objects<'a>,
    /// Number of calls of each name.
    calls: HashMap<&'a str, u64>,
}

impl<'a> Source<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>) -> Self {
        let mut calls: HashMap<&str, u64> = HashMap::new();
        for row in &analysis.trace.syscalls {
            *calls.entry(&row.name).or_default() += row.calls;
        }
        Self {
            analysis,
            sites: Sites::new(analysis),
            functions: Functions::new(analysis.observation),
            objects: Objects::new(analysis),
            calls,
        }
    }

    /// Returns all atoms of the account.
    pub(super) fn atoms(&'a self) -> Vec<Atom<'a>> {
        let parts = parts(self.analysis).into_iter();
        parts.flat_map(|part| self.of(part)).collect()
    }

    fn of(&'a self, part: Part<'a>) -> Vec<Atom<'a>> {
        let ways = self.ways(&part);
        let mut atoms = Vec::new();
        for (object, of_object) in self.objects_of(&part, &ways) {
            // The ways that led to this object, or to no object, if any are known.
            let own: Vec<&Way<'a>> = ways
                .iter()
                .filter(|way| way.path == object.as_deref())
                .collect();
            let own = match own.is_empty() {
                true => ways.iter().collect(),
                false => own,
            };
            let all: f64 = own.iter().map(|way| way.part).sum();
            for way in own {
                let fraction = of_object * way.part / all.max(f64::MIN_POSITIVE);
                atoms.push(self.atom(&part, object.clone(), way, fraction));
            }
        }
        atoms
    }

    fn atom(
        &self,
        part: &Part<'a>,
        object: Option<String>,
        way: &Way<'a>,
        fraction: f64,
    ) -> Atom<'a> {
        let command = self.objects.command(part.pid);
        let object = match (object, command) {
            // Every process has a heap, so the name includes the command.
            (Some(memory), Some(command))
                if part.kind == TimeCategory::PageFaults && !is_path(&memory) =>
            {
                Some(format!("{memory} of {command}"))
            }
            (object, command) => object.or_else(|| command.map(str::to_owned)),
        };
        let of_thread = || self.analysis.works.of_thread(part.tid);
        // If a time limit ends the wait, the thread waits for the program's own timer.
        let is_timer =
            |work: &&Work| work.role == ThreadRole::Idle && part.kind == TimeCategory::Sleeping;
        let work = way.work.or_else(of_thread).filter(|work| !is_timer(work));
        Atom {
            kind: part.kind,
            call: part.call,
            object,
            work,
            // For a thread that does only a runtime's work, the location in the code doesn't matter.
            route: match (way.work, work) {
                (None, Some(work)) if work.role != ThreadRole::Pool => Vec::new(),
                _ => way.route.clone(),
            },
            ns: part.ns * fraction,
            count: part.count.map(|count| count as f64 * fraction),
            stacks: way.stacks,
        }
    }

    /// Returns the ways that led to a part, with fractions that add up to 1.
    fn ways(&'a self, part: &Part<'a>) -> Vec<Way<'a>> {
        let activities: &[Activity] = match part.kind {
            TimeCategory::UserCode => &[Activity::OwnCode],
            TimeCategory::PageFaults => &[Activity::Fault],
            kind if kind.is_in_kernel() => &[Activity::Call, Activity::Wait],
            _ => &[Activity::Wait, Activity::Call],
        };
        let who = (part.pid, part.tid);
        let mut found = self.sites.of(who, activities, part.call, part.fd);
        // Pauses and waits for locks may be the same call; a thread ends only the latter.
        let ends = match part.kind {
            TimeCategory::Locks => Some(true),
            TimeCategory::Sleeping => Some(false),
            _ => None,
        };
        let ends = ends.filter(|_| part.call.is_some_and(calls::is_lock));
        if let Some(by_thread) = ends {
            let fits = |(site, _): &(&Site<'_>, f64)| site.by_thread == by_thread;
            let all: f64 = found.iter().filter(|one| fits(one)).map(|one| one.1).sum();
            if all > 0.0 {
                found.retain(fits);
                found.iter_mut().for_each(|one| one.1 /= all);
            }
        }
        let is_sampled = part.kind == TimeCategory::UserCode;
        let found = found.into_iter().map(|(site, share)| Way {
            route: site.route.clone(),
            work: site.work,
            path: site.object.as_deref(),
            part: share,
            stacks: is_sampled.then_some(site.stacks),
        });
        let mut ways: Vec<Way<'a>> = found.collect();
        if ways.is_empty() && is_sampled {
            let functions = self.functions.of(part.tid).into_iter();
            ways = functions
                .map(|(frame, samples, share)| Way {
                    route: alone(frame),
                    work: runtimes::of_function(frame),
                    path: None,
                    part: share,
                    stacks: Some(samples),
                })
                .collect();
        }
        if ways.is_empty() {
            ways.push(Way {
                route: Vec::new(),
                work: None,
                path: None,
                part: 1.0,
                stacks: None,
            });
        }
        ways
    }

    /// Returns the objects of a part, with fractions that add up to 1. They are what its descriptor referred
    /// to, or else the paths recorded with its stacks, or else the paths that such calls named. For page
    /// faults, and for waits outside of any call (which are page faults too), they are the memory or files
    /// touched.
    fn objects_of(&self, part: &Part<'a>, ways: &[Way<'a>]) -> Vec<(Option<String>, f64)> {
        let of_stacks = || {
            let mut parts: BTreeMap<Option<&str>, f64> = BTreeMap::new();
            for way in ways {
                *parts.entry(way.path).or_default() += way.part;
            }
            let parts = parts.into_iter();
            parts
                .map(|(path, part)| (path.map(str::to_owned), part))
                .collect()
        };
        let Some(call) = part.call else {
            return of_stacks();
        };
        if call == ENDS {
            return vec![(self.objects.given_back(), 1.0)];
        }
        // A pause in a call of locks has a timer without a descriptor.
        let polls = calls::is_poll(call);
        if let Some(object) = part.object.filter(|_| part.fd.is_some() || polls) {
            let name = match object {
                DescriptorKind::Timer if polls => "timer".to_owned(),
                object => object.to_string(),
            };
            return vec![(Some(name), 1.0)];
        }
        let by_stack = ways.iter().any(|way| way.path.is_some());
        if let Some(fd) = part.fd {
            // A descriptor number may have been reused for several files; stacks know which one it was.
            if by_stack && fd > 2 {
                return of_stacks();
            }
            let named = self.objects.of_descriptor(part.pid, fd);
            if named.is_some() {
                return vec![(named, 1.0)];
            }
        }
        if by_stack && !self.objects.times_paths_of(part.pid, call) {
            return of_stacks();
        }
        let all = self.calls.get(call).copied().unwrap_or(0);
        let named = self.objects.named_by(part.pid, call, all);
        let known: f64 = named.iter().map(|(_, part)| part).sum();
        let mut objects: Vec<(Option<String>, f64)> = named
            .into_iter()
            .map(|(path, part)| (Some(path.to_owned()), part))
            .collect();
        if known < 1.0 {
            objects.push((None, 1.0 - known));
        }
        objects
    }
}

/// A way that led to a part.
struct Way<'a> {
    route: Vec<Step<'a>>,
    work: Option<&'static Work>,
    path: Option<&'a str>,
    part: f64,
    stacks: Option<u64>,
}

fn parts<'a>(analysis: &'a Analysis<'a>) -> Vec<Part<'a>> {
    let of_calls = analysis.by_stops();
    let on_path = analysis.on_path().into_iter();
    let mut parts: Vec<Part<'a>> = on_path
        .filter(|part| !(of_calls && part.spent == TimeCategory::Kernel))
        .map(|part: OnPath<'a>| Part {
            pid: part.pid,
            tid: part.tid,
            kind: part.spent,
            call: part.call,
            fd: part.fd,
            object: part.object,
            ns: part.ns,
            count: part.count,
        })
        .collect();
    if of_calls {
        // In that case, the cost of calls is modelled, and the kernel's time is one part.
        let rows = analysis.trace.syscalls.iter();
        parts.extend(rows.map(|row| Part {
            pid: row.pid,
            tid: row.tid,
            kind: TimeCategory::Kernel,
            call: Some(&row.name),
            fd: row.fd,
            object: None,
            ns: analysis.cost_ns(row),
            count: Some(row.calls + analysis.missed(row).0),
        }));
        let root = analysis.trace.processes.first().map_or(0, |root| root.pid);
        let faults = analysis.fault_cost();
        parts.push(Part {
            pid: root,
            tid: root,
            kind: TimeCategory::PageFaults,
            call: None,
            fd: None,
            object: None,
            ns: faults.ns,
            count: Some(faults.count),
        });
    }
    if analysis.trace.tier == Some(Tier::Ptrace)
        && let Some(root) = analysis.trace.processes.first()
    {
        parts.push(Part {
            pid: root.pid,
            tid: root.pid,
            kind: TimeCategory::UserCode,
            call: None,
            fd: None,
            object: None,
            ns: analysis.spent_ns(TimeCategory::UserCode),
            count: None,
        });
    }
    parts.extend(taken_down(analysis));
    parts.retain(|part| part.ns > 0.0);
    parts
}

/// Returns the part of the account for taking down what ended, see [`Analysis::taken_down_ns`].
fn taken_down<'a>(analysis: &Analysis<'_>) -> Option<Part<'a>> {
    let root = analysis.trace.processes.first()?.pid;
    Some(Part {
        pid: root,
        tid: root,
        kind: TimeCategory::KernelProcesses,
        call: Some(ENDS),
        fd: None,
        object: None,
        ns: analysis.taken_down_ns(),
        count: None,
    })
}
