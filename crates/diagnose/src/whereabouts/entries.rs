//! Finds the library functions through which a program makes its calls, and how much of its own code is in
//! them.

use std::collections::{HashMap, HashSet};

use fathom_trace::{Activity, SyscallRow, Trace};

use super::route::{Key, Routes};
use crate::calls;
use crate::thresholds as t;

/// A library function called by own code, given as its index among all such functions.
type Entry = usize;

type ByCall = HashMap<String, HashSet<Option<Entry>>>;

/// Call sites by entry, taken from stacks.
#[derive(Default)]
pub(crate) struct Entries {
    /// For each thread and descriptor, and then each call, the function that own code called to make it;
    /// `None` if own code makes the call itself.
    of_calls: HashMap<(u32, Option<i32>), ByCall>,
    /// For each thread and path, the functions that own code called to open the path.
    of_openers: HashMap<(u32, String), HashSet<Option<Entry>>>,
    own: HashMap<u32, Own>,
}

/// A thread's own code.
#[derive(Default)]
struct Own {
    samples: u64,
    ns: u64,
    /// The number of these samples in each such function, including its callees.
    within: HashMap<Entry, u64>,
}

impl Own {
    fn part_in(&self, entries: impl Iterator<Item = Entry>) -> f64 {
        let within = entries.filter_map(|entry| self.within.get(&entry));
        within.sum::<u64>() as f64 / self.ns as f64
    }
}

impl Entries {
    pub(crate) fn new(trace: &Trace, routes: &Routes) -> Self {
        let mut entries = Self::default();
        let Some(stacks) = &trace.stacks else {
            return entries;
        };
        let mut known: HashMap<Key<'_>, Entry> = HashMap::new();
        for (at, row) in stacks.rows.iter().enumerate() {
            let mut entry = || {
                let last = routes.of(stacks, at).next_back()?;
                let last = Some(last).filter(|step| !step.is_own)?;
                let next = known.len();
                Some(*known.entry(last.key()).or_insert(next))
            };
            match (row.activity, row.call.as_deref()) {
                (Activity::OwnCode, _) => {
                    let own = entries.own.entry(row.tid).or_default();
                    own.samples += row.samples;
                    own.ns += row.ns;
                    if let Some(entry) = entry() {
                        *own.within.entry(entry).or_default() += row.ns;
                    }
                }
                (Activity::Call, Some(call)) => {
                    if let Some(path) = row.path.as_ref().filter(|_| calls::opens_file(call)) {
                        let openers = entries.of_openers.entry((row.tid, path.clone()));
                        openers.or_default().insert(entry());
                    }
                    let on_it = entries.of_calls.entry((row.tid, row.fd)).or_default();
                    on_it.entry(call.to_owned()).or_default().insert(entry());
                }
                _ => {}
            }
        }
        entries
    }

    /// Returns the fraction, 0 to 1, of a thread's own code that is spent in the functions through which it
    /// makes these calls. Returns `None` if that is unknown, or if the thread makes them without a library.
    pub(crate) fn part(&self, tid: u32, calls: &[&SyscallRow]) -> Option<f64> {
        let own = self.sampled(tid)?;
        let known = calls
            .iter()
            .filter_map(|row| self.of_calls.get(&(tid, row.fd))?.get(&row.name));
        let entries: Option<HashSet<Entry>> = known.flatten().copied().collect();
        let entries = entries.filter(|entries| !entries.is_empty())?;
        Some(own.part_in(entries.into_iter()))
    }

    /// Returns the fraction, 0 to 1, of a thread's own code that is spent in the library functions through
    /// which it opens one of these paths, including all their work on the data; `None` if unknown.
    pub(crate) fn part_of_openers(&self, tid: u32, paths: &[String]) -> Option<f64> {
        let own = self.sampled(tid)?;
        let key = |path: &String| (tid, path.clone());
        let openers = paths
            .iter()
            .filter_map(|path| self.of_openers.get(&key(path)));
        let entries: HashSet<Entry> = openers.flatten().copied().flatten().collect();
        Some(own.part_in(entries.into_iter()))
    }

    /// Returns a thread's own code, if there are enough samples of it.
    fn sampled(&self, tid: u32) -> Option<&Own> {
        let own = self.own.get(&tid);
        own.filter(|own| own.samples >= t::LEAST_SAMPLES && own.ns > 0)
    }
}
