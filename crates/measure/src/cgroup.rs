//! What the control groups of this process allow it: CPU time and memory, in version 1 and 2.
//!
//! A limit holds for a group and for all below it, so every group from the own one up to where the
//! hierarchy is mounted counts, and the least limit is the one in force. Limits above a container's
//! own hierarchy can't be read from inside; that they stopped it can.

mod place;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use place::own_and_above;

/// The groups that limit CPU time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuGroups {
    /// The own group first.
    folders: Vec<PathBuf>,
}

impl CpuGroups {
    /// Of this process, in the system whose files are below `root`; `None` where no group can be
    /// seen.
    pub fn of(root: &Path) -> Option<CpuGroups> {
        let folders = own_and_above(root, "cpu")?;
        Some(CpuGroups { folders })
    }

    /// CPUs that the least limit allows (0.4 is 40 ms in each 100); `None` without a limit.
    pub fn limit(&self) -> Option<f64> {
        let limits = self.folders.iter().filter_map(|folder| limit_of(folder));
        limits.min_by(f64::total_cmp)
    }

    /// For how long limits have kept threads from a CPU since the groups were made, ns, all CPUs
    /// together.
    pub fn throttled_ns(&self) -> u64 {
        let texts = self.counts().into_iter();
        let texts = texts.filter_map(|path| fs::read_to_string(path).ok());
        let each = texts.filter_map(|text| parse_throttled_ns(&text));
        each.fold(0, u64::saturating_add)
    }

    /// The files that count it. Since Linux 6.7 one says how long the own group was stopped by
    /// whichever limit above it, also by those that aren't seen from inside a container; before,
    /// each group counts for its own limit.
    fn counts(&self) -> Vec<PathBuf> {
        let own = self.folders.first().map(|own| own.join("cpu.stat.local"));
        match own.filter(|path| path.exists()) {
            Some(own) => vec![own],
            None => {
                let folders = self.folders.iter();
                folders.map(|folder| folder.join("cpu.stat")).collect()
            }
        }
    }
}

fn read(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

/// CPUs that one group allows.
fn limit_of(folder: &Path) -> Option<f64> {
    let (quota, period) = match read(folder, "cpu.max") {
        Some(text) => {
            let mut words = text.split_ascii_whitespace();
            // `max` is not a number, and no limit.
            (words.next()?.parse().ok()?, words.next()?.parse().ok()?)
        }
        None => (
            number(folder, "cpu.cfs_quota_us")?,
            number(folder, "cpu.cfs_period_us")?,
        ),
    };
    let (quota, period): (i64, i64) = (quota, period);
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

fn number(folder: &Path, name: &str) -> Option<i64> {
    read(folder, name)?.trim().parse().ok()
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        (key == name).then(|| value.trim().parse().ok()).flatten()
    })
}

/// In version 2 microseconds, in version 1 nanoseconds; `None` for a group that doesn't count it.
fn parse_throttled_ns(counts: &str) -> Option<u64> {
    let micros = field(counts, "throttled_usec").map(|us| us.saturating_mul(1000));
    micros.or_else(|| field(counts, "throttled_time"))
}

/// Reads how long limits have kept this process's group from a CPU, from files that stay open: some
/// microseconds, and nothing is allocated.
#[derive(Debug)]
pub struct ThrottleMeter {
    files: Vec<File>,
}

/// More than a `cpu.stat` has, which in version 2 is 12 lines.
const COUNTS_BYTES: usize = 1024;

impl ThrottleMeter {
    /// `None` where no group has a limit and none ever stopped this one: it won't.
    pub fn open(root: &Path) -> Option<ThrottleMeter> {
        let groups = CpuGroups::of(root)?;
        if groups.limit().is_none() && groups.throttled_ns() == 0 {
            return None;
        }
        let paths = groups.counts().into_iter();
        let files: Vec<File> = paths.filter_map(|path| File::open(path).ok()).collect();
        (!files.is_empty()).then_some(ThrottleMeter { files })
    }

    /// So far, ns, all CPUs together; only differences mean something.
    pub fn ns(&self) -> u64 {
        let each = self.files.iter().filter_map(|file| {
            let mut buffer = [0; COUNTS_BYTES];
            let length = file.read_at(&mut buffer, 0).ok()?;
            parse_throttled_ns(std::str::from_utf8(&buffer[..length]).ok()?)
        });
        each.fold(0, u64::saturating_add)
    }
}

/// Names of the limit in version 2, which slows a group down from the second on, and in version 1.
const MEMORY_LIMITS: [&str; 3] = ["memory.max", "memory.high", "memory.limit_in_bytes"];
/// What is used of it.
const MEMORY_USED: [&str; 2] = ["memory.current", "memory.usage_in_bytes"];
/// Part of that which the kernel gives up before it kills: the cache of files.
const GIVEN_UP: [[&str; 2]; 2] = [
    ["total_inactive_file", "inactive_file"],
    ["total_active_file", "active_file"],
];

/// Bytes that the groups of this process leave it; `None` where none of them limits memory.
pub fn memory_left(root: &Path) -> Option<u64> {
    let folders = own_and_above(root, "memory")?;
    let left = folders.iter().filter_map(|folder| memory_left_by(folder));
    left.min()
}

fn memory_left_by(folder: &Path) -> Option<u64> {
    let bytes = |name: &&str| read(folder, name)?.trim().parse::<u64>().ok();
    // Without a limit version 1 has the largest number of pages.
    let limits = MEMORY_LIMITS.iter().filter_map(bytes);
    let limit = limits.filter(|bytes| *bytes < 1 << 60).min()?;
    let used = MEMORY_USED.iter().find_map(bytes).unwrap_or(0);
    let stat = read(folder, "memory.stat").unwrap_or_default();
    let given_up = GIVEN_UP.iter().filter_map(|names| {
        let mut names = names.iter();
        names.find_map(|name| field(&stat, name))
    });
    let kept = used.saturating_sub(given_up.fold(0, u64::saturating_add));
    Some(limit.saturating_sub(kept))
}

#[cfg(test)]
mod tests;
