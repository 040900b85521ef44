//! What the probes know of the machine before they begin.

use std::path::{Path, PathBuf};

use crate::affinity::{self, Pinned};
use crate::reported::{self, ReportedCache};

/// Where and on what the probes run. While it lives, the thread that made it stays on one CPU.
#[derive(Debug)]
pub struct Context {
    /// CPUs that this process may use.
    pub cpus: Vec<usize>,
    /// The CPU on which the probes of one thread run: the quietest of them.
    pub cpu: usize,
    /// Caches as the kernel reports them.
    pub caches: Vec<ReportedCache>,
    /// Memory in bytes that the probes may use together: a quarter of what is available.
    pub memory_budget: usize,
    /// Where the probes of files write; their files are deleted.
    pub directory: PathBuf,
    _pinned: Option<Pinned>,
}

/// A size between first touch that is cheap and a last-level cache that still holds half.
const MOST_MEMORY_SET: usize = 256 << 20;

impl Context {
    /// Chooses the CPU and pins to it; files go to `directory`.
    pub fn new(directory: PathBuf) -> Context {
        let cpus = affinity::allowed_cpus();
        let cpu = affinity::quietest(&cpus);
        Context {
            caches: reported::caches(Path::new("/"), cpu.unwrap_or(0)),
            memory_budget: available_memory() / 4,
            directory,
            _pinned: cpu.map(Pinned::to),
            cpu: cpu.unwrap_or(0),
            cpus,
        }
    }

    /// A context that knows nothing, for tests of what takes values only.
    #[cfg(test)]
    pub fn bare() -> Context {
        Context {
            cpus: Vec::new(),
            cpu: 0,
            caches: Vec::new(),
            memory_budget: 0,
            directory: PathBuf::new(),
            _pinned: None,
        }
    }

    /// Reported size of the cache at `level` in bytes.
    pub fn cache_bytes(&self, level: u32) -> Option<usize> {
        self.caches
            .iter()
            .find(|cache| cache.level == level)
            .map(|cache| cache.bytes)
    }

    /// Reported size of the last-level cache in bytes, 32 MiB if nothing is reported.
    pub fn last_level_bytes(&self) -> usize {
        self.caches.last().map_or(32 << 20, |cache| cache.bytes)
    }

    /// A working set that lies in memory: four times the last level, 64 to 256 MiB, and within
    /// the budget.
    pub fn memory_set(&self) -> usize {
        (self.last_level_bytes() * 4)
            .clamp(64 << 20, MOST_MEMORY_SET)
            .min(self.memory_budget)
    }

    /// Whether [`Context::memory_set`] is at least twice the last level, so that what is measured
    /// there is mostly memory.
    pub fn memory_set_is_memory(&self) -> bool {
        self.memory_set() >= 2 * self.last_level_bytes()
    }
}

fn available_memory() -> usize {
    let kb = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("MemAvailable:"))?;
            line.trim()
                .trim_end_matches("kB")
                .trim()
                .parse::<usize>()
                .ok()
        });
    kb.map_or(1 << 30, |kb| kb * 1024)
}
