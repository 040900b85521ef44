//! The CPU time and memory that the control groups of this process allow, in versions 1 and 2.
//!
//! A limit applies to a group and all groups below it, so every group from this process's own up to the
//! mounted root counts, and the lowest limit applies. Limits above a container's own hierarchy can't be read
//! from inside, but the throttling they cause can.

mod place;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use place::own_and_above;

/// The groups that limit CPU time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuGroups {
    /// The folders, starting with that of this process's group.
    folders: Vec<PathBuf>,
}

impl CpuGroups {
    /// Returns the groups of this process, in the system whose files are below `root`; `None` if no group is
    /// visible.
    pub fn of(root: &Path) -> Option<CpuGroups> {
        let folders = own_and_above(root, "cpu")?;
        Some(CpuGroups { folders })
    }

    /// Returns the number of CPUs that the lowest limit allows (0.4 is 40 ms in each 100); `None` without a
    /// limit.
    pub fn limit(&self) -> Option<f64> {
        let limits = self.folders.iter().filter_map(|folder| limit_of(folder));
        limits.min_by(f64::total_cmp)
    }

    /// Returns how long limits have kept threads from a CPU since the groups were created, in ns, summed over
    /// all CPUs.
    pub fn throttled_ns(&self) -> u64 {
        let texts = self.counts().into_iter();
        let texts = texts.filter_map(|path| fs::read_to_string(path).ok());
        let each = texts.filter_map(|text| parse_throttled_ns(&text));
        each.fold(0, u64::saturating_add)
    }

    /// Returns the files with the counts. Since Linux 6.7, one file says how long this process's group was
    /// throttled by any limit above it, even one that isn't visible from inside a container; before that,
    /// each group counts only its own limit.
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

/// Returns the number of CPUs that one group allows.
fn limit_of(folder: &Path) -> Option<f64> {
    let (quota, period) = match read(folder, "cpu.max") {
        Some(text) => {
            let mut words = text.split_ascii_whitespace();
            // `max` isn't a number and means no limit.
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

/// Parses the count: microseconds in version 2, nanoseconds in version 1; `None` if the group doesn't count
/// it.
fn parse_throttled_ns(counts: &str) -> Option<u64> {
    let micros = field(counts, "throttled_usec").map(|us| us.saturating_mul(1000));
    micros.or_else(|| field(counts, "throttled_time"))
}

/// Reads how long limits have kept this process's group from a CPU. The files stay open, so a reading takes
/// some microseconds and doesn't allocate.
#[derive(Debug)]
pub struct ThrottleMeter {
    files: Vec<File>,
}

/// More than the size of a `cpu.stat`, which has 12 lines in version 2.
const COUNTS_BYTES: usize = 1024;

impl ThrottleMeter {
    /// Opens the files. Returns `None` if no group has a limit and this one was never throttled, because then
    /// it won't be.
    pub fn open(root: &Path) -> Option<ThrottleMeter> {
        let groups = CpuGroups::of(root)?;
        if groups.limit().is_none() && groups.throttled_ns() == 0 {
            return None;
        }
        let paths = groups.counts().into_iter();
        let files: Vec<File> = paths.filter_map(|path| File::open(path).ok()).collect();
        (!files.is_empty()).then_some(ThrottleMeter { files })
    }

    /// Returns the total so far in ns, summed over all CPUs; only differences are meaningful.
    pub fn ns(&self) -> u64 {
        let each = self.files.iter().filter_map(|file| {
            let mut buffer = [0; COUNTS_BYTES];
            let length = file.read_at(&mut buffer, 0).ok()?;
            parse_throttled_ns(std::str::from_utf8(&buffer[..length]).ok()?)
        });
        each.fold(0, u64::saturating_add)
    }
}

/// File names of the limit: in version 2, where the second one only slows a group down, and in version 1.
const MEMORY_LIMITS: [&str; 3] = ["memory.max", "memory.high", "memory.limit_in_bytes"];
/// File names of the current usage.
const MEMORY_USED: [&str; 2] = ["memory.current", "memory.usage_in_bytes"];
/// The part of the usage that the kernel reclaims before it kills a process: the file cache.
const GIVEN_UP: [[&str; 2]; 2] = [
    ["total_inactive_file", "inactive_file"],
    ["total_active_file", "active_file"],
];

/// Returns the bytes that the groups of this process have left; `None` if none of them limits memory.
pub fn memory_left(root: &Path) -> Option<u64> {
    let folders = own_and_above(root, "memory")?;
    let left = folders.iter().filter_map(|folder| memory_left_by(folder));
    left.min()
}

fn memory_left_by(folder: &Path) -> Option<u64> {
    let bytes = |name: &&str| read(folder, name)?.trim().parse::<u64>().ok();
    // Without a limit, version 1 reports the largest possible number of pages.
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

/// The folders of the groups that limit this process, and of groups above which no limit applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unlimited {
    /// This process's own groups, in each hierarchy that limits it.
    pub own: Vec<PathBuf>,
    /// For each of them, the group above the highest one that limits it.
    pub above: Vec<PathBuf>,
}

/// Returns the groups that limit the CPU time or the memory of this process. Returns `Err` with a message if
/// there are none, or if a limit is set where nothing is visible above it.
///
/// # Errors
/// A message.
pub fn limiting(root: &Path) -> Result<Unlimited, String> {
    let mut found = Unlimited::default();
    for (controller, what) in [("cpu", "CPU time"), ("memory", "memory")] {
        let limits = |folder: &PathBuf| match controller {
            "cpu" => limit_of(folder).is_some(),
            _ => memory_left_by(folder).is_some(),
        };
        let folders = own_and_above(root, controller).unwrap_or_default();
        let Some(highest) = folders.iter().rposition(limits) else {
            continue;
        };
        let above = folders.get(highest + 1);
        let above =
            above.ok_or_else(|| format!("its {what} is limited outside of this container"))?;
        // In version 2, both limits have the same hierarchy.
        match found.own.iter().position(|own| *own == folders[0]) {
            Some(at) if found.above[at].starts_with(above) => found.above[at] = above.clone(),
            Some(_) => {}
            None => {
                found.own.push(folders[0].clone());
                found.above.push(above.clone());
            }
        }
    }
    match found.own.is_empty() {
        true => Err("no control group limits its CPU time or memory".to_owned()),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests;
