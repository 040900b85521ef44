//! Properties of the machine that the probes need before they begin.

use std::path::{Path, PathBuf};

use crate::affinity::{self, Pinned};
use crate::reported::{self, ReportedCache};

/// Where the probes run. While it exists, the thread that created it is pinned to one CPU.
#[derive(Debug)]
pub(crate) struct Context {
    /// CPUs that this process may use.
    pub cpus: Vec<usize>,
    /// The CPU for single-threaded probes: the quietest one.
    pub cpu: usize,
    /// Caches as the kernel reports them.
    pub caches: Vec<ReportedCache>,
    /// Memory in bytes that the probes may use in total: a quarter of the available memory, within the limits
    /// of this process's control group.
    pub memory_budget: usize,
    /// The folder for the files of file probes, which are deleted afterwards.
    pub directory: PathBuf,
    _pinned: Option<Pinned>,
}

/// Minimum size of a working set in memory, which is otherwise four times the last-level cache.
const LEAST_MEMORY_SET: usize = 64 << 20;
/// Upper limit of the working set in memory, if that is at least twice the last-level cache: touching and
/// linking it takes tenths of a second.
const USUAL_MEMORY_SET: usize = 256 << 20;
/// Absolute maximum of the working set in memory: a larger set takes seconds to touch and link, too long for
/// a profile of seconds.
const MOST_MEMORY_SET: usize = 2 << 30;

/// Why there is no comparable memory figure.
pub(crate) const SMALLER_MEMORY_SET: &str =
    "the available memory, or the limit of the control group, forces a smaller working set";

/// Why there is no memory figure.
pub(crate) const NO_MEMORY_SET: &str = "a working set of twice the last-level cache would exceed 2 GiB, or a quarter of the memory available here";

impl Context {
    /// Chooses the CPU and pins to it; files go to `directory`.
    pub(crate) fn new(directory: PathBuf) -> Context {
        let cpus = affinity::allowed_cpus();
        let cpu = affinity::quietest(&cpus);
        Context {
            caches: reported::caches(Path::new("/"), cpu.unwrap_or(0)),
            memory_budget: usize::try_from(available_memory() / 4).unwrap_or(usize::MAX),
            directory,
            _pinned: cpu.map(Pinned::to),
            cpu: cpu.unwrap_or(0),
            cpus,
        }
    }

    /// Returns an empty context, for tests of functions that only take values.
    #[cfg(test)]
    pub(crate) fn bare() -> Context {
        Context {
            cpus: Vec::new(),
            cpu: 0,
            caches: Vec::new(),
            memory_budget: 0,
            directory: PathBuf::new(),
            _pinned: None,
        }
    }

    /// Returns the reported size of the cache at `level` in bytes.
    pub(crate) fn cache_bytes(&self, level: u32) -> Option<usize> {
        self.caches
            .iter()
            .find(|cache| cache.level == level)
            .map(|cache| cache.bytes)
    }

    /// Returns the reported size of the last-level cache in bytes, or 32 MiB if nothing is reported.
    pub(crate) fn last_level_bytes(&self) -> usize {
        self.caches.last().map_or(32 << 20, |cache| cache.bytes)
    }

    /// Returns the size of a working set in memory: four times the last-level cache, but 64 to 256 MiB. If
    /// that is less than twice the cache, as on servers with hundreds of MiB of cache, the size is three
    /// times the cache. The budget limits it.
    pub(crate) fn memory_set(&self) -> usize {
        self.usual_memory_set().min(self.memory_budget)
    }

    /// Returns whether the budget allows the size used on a machine with enough memory: only then are figures
    /// comparable with other sessions.
    pub(crate) fn has_usual_memory_set(&self) -> bool {
        self.memory_set() == self.usual_memory_set()
    }

    fn usual_memory_set(&self) -> usize {
        let last = self.last_level_bytes();
        let usual = (last * 4).clamp(LEAST_MEMORY_SET, USUAL_MEMORY_SET);
        match usual < 2 * last {
            true => (last * 3).min(MOST_MEMORY_SET).next_multiple_of(2 << 20),
            false => usual,
        }
    }

    /// Returns whether [`Context::memory_set`] is at least twice the last-level cache, so that it measures
    /// mostly memory.
    pub(crate) fn memory_set_is_memory(&self) -> bool {
        self.memory_set() >= 2 * self.last_level_bytes()
    }
}

/// Returns the bytes that this program may use without taking memory from others: the memory available on the
/// system, within the memory limit of this process's control group. 1 GiB if the system doesn't report it.
pub fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").ok();
    let of_system = text.and_then(|text| parse_available(&text));
    let of_group = fathom_measure::cgroup::memory_left(Path::new("/"));
    of_system
        .unwrap_or(1 << 30)
        .min(of_group.unwrap_or(u64::MAX))
}

/// Parses the available memory in bytes from `/proc/meminfo`.
pub(crate) fn parse_available(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kb = line.trim().trim_end_matches("kB").trim();
    kb.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(last: usize, budget: usize) -> Context {
        Context {
            caches: vec![ReportedCache {
                level: 3,
                bytes: last,
                line: Some(64),
                ways: None,
                shared_cpus: String::new(),
            }],
            memory_budget: budget,
            ..Context::bare()
        }
    }

    #[test]
    fn a_set_in_memory_is_a_multiple_of_the_last_level() {
        const MIB: usize = 1 << 20;
        let set = |last: usize| with(last * MIB, 8 << 30).memory_set() / MIB;
        assert_eq!([set(8), set(32), set(64)], [64, 128, 256]);
        // Servers, where 256 MiB would be mostly or entirely in the cache.
        assert_eq!([set(105), set(260), set(1152)], [256, 780, 2048]);
    }

    #[test]
    fn a_set_that_the_budget_makes_too_small_is_no_memory() {
        let scarce = with(260 << 20, 512 << 20);
        assert_eq!(scarce.memory_set(), 512 << 20);
        assert!(!scarce.memory_set_is_memory());
        assert!(with(260 << 20, 1 << 30).memory_set_is_memory());
        assert!(!with(1152 << 20, 8 << 30).memory_set_is_memory());
        assert!(!with(32 << 20, 96 << 20).has_usual_memory_set());
        assert!(with(32 << 20, 128 << 20).has_usual_memory_set());
    }
}
