//! Keeps copies of stacks until they are unwound.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use fathom_stacks::Files;

use super::java::Methods;
use super::pool::StackPool;
use crate::perf::record::StackCopy;
use crate::profile::spaces::{Mapped, Spaces};
use crate::result::Activity;

/// Maximum total size in bytes of all copies and of the mappings at their time.
const MOST_BYTES: usize = 32 << 20;

/// One observation of a thread, or several that are represented by one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawStack {
    pub pid: u32,
    pub tid: u32,
    /// Time by the monotonic clock, ns; needed because mappings change.
    pub at: u64,
    pub activity: Activity,
    /// The number of the call that the thread was in.
    pub call: Option<u32>,
    /// That call's descriptor.
    pub fd: Option<i32>,
    /// The path argument of the call, the target of its descriptor, or the object that a page fault touched.
    pub path: Option<Arc<str>>,
    /// For a page fault, the address that was touched. The object at that address becomes the path.
    pub touched: Option<u64>,
    /// For a wait for a lock or a child, the thread that ended it.
    pub woken_by: Option<u32>,
    /// Time that it represents, ns.
    pub ns: u64,
    /// Number of observations that it represents.
    pub samples: u64,
    /// Number of calls or faults that it represents; 0 for the thread's own code.
    pub calls: f64,
    pub copy: StackCopy,
}

impl RawStack {
    /// Creates a sample of a thread's own code, which represents `ns`.
    pub(crate) fn of_own_code((pid, tid): (u32, u32), ns: u64, copy: StackCopy) -> Self {
        Self {
            pid,
            tid,
            at: 0,
            activity: Activity::OwnCode,
            call: None,
            fd: None,
            path: None,
            touched: None,
            woken_by: None,
            ns,
            samples: 1,
            calls: 0.0,
            copy,
        }
    }

    /// Returns the kind of this observation: one of two observations of the same kind may represent both.
    fn kind(&self) -> (Activity, u32, Option<u32>) {
        (self.activity, self.tid, self.call)
    }

    fn bytes(&self) -> usize {
        size_of::<Placed>()
            + self.copy.bytes.len()
            + size_of_val(&*self.copy.callers)
            + self.copy.python.bytes()
    }
}

/// A copy, with the mappings of its process at that time.
#[derive(Debug)]
pub(super) struct Placed {
    pub stack: RawStack,
    pub mapped: Mapped,
}

/// Collects copies of stacks from any source.
#[derive(Debug)]
pub(crate) struct StackCollector {
    pool: StackPool,
    /// Copies for which not all mappings are known yet, in order of time.
    later: VecDeque<RawStack>,
    pub(super) placed: Vec<Placed>,
    /// Number of bytes that `later` and `placed` use.
    bytes: usize,
    /// Number of copies dropped for lack of memory.
    pub(super) thinned: u64,
    random: Random,
    /// The methods that JVMs interpret.
    pub(super) methods: Methods,
}

impl StackCollector {
    /// Creates a collector that adds its stacks to this pool after the run.
    pub(crate) fn new(pool: StackPool) -> Self {
        Self {
            pool,
            later: VecDeque::new(),
            placed: Vec::new(),
            bytes: 0,
            thinned: 0,
            random: Random::default(),
            methods: Methods::default(),
        }
    }

    /// Unwinds all stacks of the processes that `is_ours` accepts. `files` contains the files of the
    /// mappings.
    pub(crate) fn finish(mut self, files: &Files, is_ours: impl Fn(u32) -> bool) {
        self.placed.retain(|one| is_ours(one.stack.pid));
        let pool = self.pool.clone();
        pool.unwind(self, files);
    }

    /// Takes a copy that was made at its own time `at`. Copies of processes outside the tree are dropped
    /// later, when the mappings at that time are known.
    pub(crate) fn take(&mut self, stack: RawStack) {
        self.bytes += stack.bytes();
        let place = self.later.partition_point(|other| other.at <= stack.at);
        self.later.insert(place, stack);
        self.thin_if_full();
    }

    /// Places the copies made before `at`: all mappings until then are known and in `spaces`.
    pub(crate) fn place_until(&mut self, at: u64, spaces: &Spaces) {
        while self.later.front().is_some_and(|stack| stack.at < at) {
            if let Some(stack) = self.later.pop_front() {
                self.bytes -= stack.bytes();
                self.place(stack, spaces);
            }
        }
    }

    /// Takes a copy of a process with its current mappings.
    pub(crate) fn place(&mut self, mut stack: RawStack, spaces: &Spaces) {
        let Some(mapped) = spaces.mapped(stack.pid) else {
            return;
        };
        if let Some(address) = stack.touched {
            let pointer = stack.copy.registers.stack();
            let touched = spaces.touched(stack.pid, address, pointer);
            stack.path = touched.map(Arc::from);
        }
        self.methods.look(&stack, mapped, &spaces.files);
        self.bytes += stack.bytes();
        // The mappings now have a second owner, so later mappings don't change this version.
        if Rc::strong_count(mapped) == 1 {
            self.bytes += size_of_val(mapped.as_slice());
        }
        let mapped = Rc::clone(mapped);
        self.placed.push(Placed { stack, mapped });
        self.thin_if_full();
    }

    fn thin_if_full(&mut self) {
        if self.bytes <= MOST_BYTES {
            return;
        }
        self.thin(|stack| Some(stack.kind()));
        // If only few had the same kind, drop more, so that the next thinning isn't soon.
        while self.bytes > MOST_BYTES / 4 * 3 && self.placed.len() > 1 {
            self.thin(|_| None::<()>);
        }
        // The mappings for these copies aren't known, so the oldest are dropped.
        while self.bytes > MOST_BYTES
            && let Some(stack) = self.later.pop_front()
        {
            self.bytes -= stack.bytes();
            self.thinned += 1;
        }
    }

    /// Drops one of every two neighbours of a kind; the other one represents both. The probability that one
    /// is dropped is the other's share of their time, so the distribution of time stays the same on average.
    fn thin<K: Eq + std::hash::Hash>(&mut self, kind: impl Fn(&RawStack) -> K) {
        let mut kept: Vec<Placed> = Vec::with_capacity(self.placed.len());
        let mut alone: HashMap<K, usize> = HashMap::new();
        for mut next in std::mem::take(&mut self.placed) {
            let key = kind(&next.stack);
            let Some(at) = alone.remove(&key) else {
                alone.insert(key, kept.len());
                kept.push(next);
                continue;
            };
            let before = &mut kept[at];
            let (ns, others) = (before.stack.ns, next.stack.ns);
            self.thinned += 1;
            if self.random.below(ns.saturating_add(others).max(2)) < others.max(1) {
                std::mem::swap(before, &mut next);
            }
            before.stack.ns = ns.saturating_add(others);
            before.stack.samples += next.stack.samples;
            before.stack.calls += next.stack.calls;
        }
        self.placed = kept;
        self.count_bytes();
    }

    fn count_bytes(&mut self) {
        let later: usize = self.later.iter().map(RawStack::bytes).sum();
        let placed: usize = self.placed.iter().map(|one| one.stack.bytes()).sum();
        let mut maps: Vec<_> = self.placed.iter().map(|one| &one.mapped).collect();
        maps.sort_by_key(|mapped| Rc::as_ptr(mapped));
        maps.dedup_by_key(|mapped| Rc::as_ptr(mapped));
        let maps: usize = maps.iter().map(|one| size_of_val(one.as_slice())).sum();
        self.bytes = later + placed + maps;
    }
}

/// A pseudo-random sequence that is the same in each run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    /// Creates a different sequence for each seed.
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// Returns a number below the limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::record::{Record, What};

    const KIB: usize = 1 << 10;

    fn stack(tid: u32, at: u64, ns: u64) -> RawStack {
        let copy = StackCopy {
            bytes: vec![0; 64 * KIB].into(),
            ..StackCopy::default()
        };
        RawStack {
            at,
            ..RawStack::of_own_code((10, tid), ns, copy)
        }
    }

    fn map(spaces: &mut Spaces, from: u64) {
        let path = "//anon".to_owned();
        let what = What::Mapped {
            pid: 10,
            path,
            from,
            length: 0x1000,
            offset: 0,
            inode: 0,
        };
        spaces.take(&Record { at: 0, what });
    }

    #[test]
    fn what_memory_has_no_room_for_is_thinned_evenly_and_counted() {
        let spaces = Spaces::of(&[10]);
        let mut collector = StackCollector::new(StackPool::default());
        for at in 0..4_000 {
            // One thread is seen three times as often as the other.
            let tid = if at % 4 == 0 { 11 } else { 12 };
            collector.place(stack(tid, at, 100), &spaces);
            assert!(collector.bytes <= MOST_BYTES);
        }
        let kept = &collector.placed;
        assert!(kept.len() > 200);
        assert_eq!(collector.thinned, 4_000 - kept.len() as u64);
        let ns = |tid| -> u64 {
            let of_it = kept.iter().filter(|one| one.stack.tid == tid);
            of_it.map(|one| one.stack.ns).sum()
        };
        assert_eq!((ns(11), ns(12)), (100_000, 300_000));
        let early = kept.iter().filter(|one| one.stack.at < 2_000);
        let early: u64 = early.map(|one| one.stack.ns).sum();
        assert!((180_000..=220_000).contains(&early), "{early}");
    }

    #[test]
    fn the_longer_of_two_is_the_one_that_stays_more_often() {
        let spaces = Spaces::of(&[10]);
        let mut stayed = 0;
        let mut collector = StackCollector::new(StackPool::default());
        for at in 0..1_000 {
            collector.placed.clear();
            collector.place(stack(11, 2 * at, 900), &spaces);
            collector.place(stack(11, 2 * at + 1, 100), &spaces);
            collector.thin(RawStack::kind);
            let [one] = &collector.placed[..] else {
                panic!("one stays");
            };
            assert_eq!((one.stack.ns, one.stack.samples), (1_000, 2));
            stayed += u32::from(one.stack.at % 2 == 0);
        }
        assert!((850..950).contains(&stayed), "{stayed}");
    }

    #[test]
    fn a_copy_has_what_was_mapped_when_it_was_made() {
        let mut spaces = Spaces::of(&[10]);
        let mut collector = StackCollector::new(StackPool::default());
        map(&mut spaces, 0x1000);
        // The stacks are reported late and out of order; the last one is of a process outside the tree.
        collector.take(stack(11, 30, 1));
        collector.take(stack(11, 10, 1));
        collector.take(RawStack {
            pid: 99,
            ..stack(99, 5, 1)
        });
        collector.place_until(20, &spaces);
        map(&mut spaces, 0x5000);
        collector.place_until(40, &spaces);
        let mapped: Vec<usize> = collector
            .placed
            .iter()
            .map(|one| one.mapped.len())
            .collect();
        assert_eq!(mapped, [1, 2]);
        collector.count_bytes();
        assert_eq!(collector.placed[0].stack.at, 10);
    }

    #[test]
    fn what_waits_for_its_mappings_is_bounded_too() {
        let mut collector = StackCollector::new(StackPool::default());
        for at in 0..2_000 {
            collector.take(stack(11, at, 1));
            assert!(collector.bytes <= MOST_BYTES);
        }
        assert!(collector.thinned > 1_000);
    }
}
