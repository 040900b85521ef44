//! Sums own code by what its stacks lead to.

use fathom_trace::Activity;

use crate::mechanisms::prelude::*;
use crate::runtimes::is_engines;

/// Samples of own code with something in common.
#[derive(Debug, Default)]
pub(crate) struct Below {
    pub samples: u64,
    /// Their time on the critical path of an untraced run, in ns.
    pub ns: f64,
    /// Their part of the time of all samples of own code, on the critical path or not, 0 to 1.
    pub part_of_all: f64,
    pub pid: u32,
    pub ways: BTreeMap<Way, u64>,
    /// Whether the threads also collected garbage, whose time belongs to all code in proportion.
    pub with_collection: bool,
}

/// The frame of the program's own function that is nearest to a sample, and that of the library function that it
/// called.
pub(super) type Way = (Option<u32>, Option<u32>);

/// Returns the way to a row of the stacks.
pub(super) fn way_to(analysis: &Analysis<'_>, at: usize) -> Way {
    (own_caller(analysis, at), analysis.routes().entry(at))
}

/// Returns the samples by the key that `key_of` gives each row of the stacks, with the way to it, if any. Shells and
/// the runtimes' own threads are left out: what they do is up to them.
pub(super) fn below<K: Ord>(
    analysis: &Analysis<'_>,
    key_of: impl Fn(usize) -> Option<(K, Way)>,
) -> BTreeMap<K, Below> {
    let rows = analysis.trace.stacks.iter().flat_map(|it| &it.rows);
    let (mut all, mut everywhere, mut with_collection) = (0.0, 0.0, false);
    let mut found: BTreeMap<K, Below> = BTreeMap::new();
    for (at, row) in rows.enumerate() {
        if row.activity != Activity::OwnCode || analysis.works.is_of_runtime(row.tid) {
            continue;
        }
        let work = analysis.works.of_stack(at).map(|(work, _)| work.role);
        if work == Some(ThreadRole::Collector) {
            with_collection = true;
            continue;
        }
        let on_path = row.ns as f64 * analysis.weight(row.tid);
        all += on_path;
        everywhere += row.ns as f64;
        let is_shell = || analysis.runtime(Some(row.pid)).has(Habit::RunsCommands);
        if let Some((key, way)) = key_of(at).filter(|_| !is_shell()) {
            let below = found.entry(key).or_default();
            *below.ways.entry(way).or_default() += row.samples;
            below.samples += row.samples;
            below.ns += on_path;
            below.part_of_all += row.ns as f64;
            below.pid = row.pid;
        }
    }
    let own_code = analysis.spent_ns(TimeCategory::UserCode);
    for below in found.values_mut() {
        below.ns *= own_code / all.max(1.0);
        below.part_of_all /= everywhere.max(1.0);
        below.with_collection = with_collection;
    }
    found
}

/// Returns the frame of the program's own function that is nearest to a row of the stacks. If no function of a
/// script is in the stack, the engine or interpreter that runs it isn't the program.
pub(crate) fn own_caller(analysis: &Analysis<'_>, at: usize) -> Option<u32> {
    let frames = &analysis.trace.stacks.as_ref()?.tree.frames;
    let caller = analysis.routes().own_caller(at)?;
    let binary = &frames[caller as usize].binary;
    let interprets = || Runtime::interpreting(binary).is_some_and(|it| it.has(Habit::GlobalLock));
    (!is_engines(binary, None) && !interprets()).then_some(caller)
}

impl Below {
    pub(super) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.ns += other.ns;
        self.part_of_all += other.part_of_all;
        self.pid = other.pid;
        self.with_collection |= other.with_collection;
        for (way, samples) in other.ways {
            *self.ways.entry(way).or_default() += samples;
        }
    }

    /// Returns the frame of the most frequent caller; `None` if its function is unknown.
    pub(super) fn main_caller(&self) -> Option<u32> {
        let ways = self.ways.iter();
        most(ways.map(|((caller, _), samples)| (*caller, *samples)))?
    }

    /// Returns the frame of the most frequent library function that was called; `None` if it is unknown.
    pub(super) fn main_entry(&self) -> Option<u32> {
        let ways = self.ways.iter();
        most(ways.map(|((_, entry), samples)| (*entry, *samples)))?
    }
}
