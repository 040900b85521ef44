//! Measures what a server's whole process tree has used so far.

use std::fs;

/// Sums over all processes of a tree since each began. Subtract two to measure an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeUsage {
    /// CPU time in nanoseconds. For ended processes, it is known in steps of 10 ms.
    pub cpu_ns: u64,
    /// How long existing threads were ready to run without a CPU, in nanoseconds.
    pub run_queue_wait_ns: u64,
    /// How often a thread gave up its CPU to wait.
    pub voluntary_switches: u64,
    /// How often a thread was preempted.
    pub involuntary_switches: u64,
    /// The number of page faults that had to read from the storage device.
    pub major_faults: u64,
    /// Bytes fetched from the storage device.
    pub read_bytes: u64,
    /// The number of existing threads.
    pub threads: u64,
    /// The number of existing processes.
    pub processes: u64,
    /// The sum of the peak resident memory of the existing processes, in bytes. Shared pages count for each
    /// process.
    pub peak_memory_bytes: u64,
}

/// Returns the processes below `root`, excluding it.
pub fn descendants(root: u32) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for thread in threads.flatten() {
            let listing = thread.path().join("children");
            let text = fs::read_to_string(listing).unwrap_or_default();
            let children = text
                .split_ascii_whitespace()
                .filter_map(|word| word.parse().ok());
            // A process that is reparented in the meantime may appear twice.
            for child in children {
                if !all.contains(&child) {
                    all.push(child);
                    next.push(child);
                }
            }
        }
    }
    all
}

/// Returns the usage of everything below `root`.
pub(super) fn usage(root: u32) -> TreeUsage {
    let mut sum = TreeUsage::default();
    // The children that the root has reaped: orphans, and the server itself once it has ended.
    sum.cpu_ns += ticks_of_children(root) * tick_ns();
    for pid in descendants(root) {
        add(pid, &mut sum);
    }
    sum
}

fn add(pid: u32, sum: &mut TreeUsage) {
    sum.processes += 1;
    sum.cpu_ns += cpu(pid) + ticks_of_children(pid) * tick_ns();
    sum.major_faults += stat_field(pid, MAJOR_FAULTS);
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    sum.read_bytes += named(&io, "read_bytes:");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    sum.peak_memory_bytes += named(&status, "VmHWM:") * 1024;
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return;
    };
    for thread in threads.flatten() {
        sum.threads += 1;
        let read = |name: &str| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
        let schedstat = read("schedstat");
        let wait = schedstat.split_ascii_whitespace().nth(1);
        sum.run_queue_wait_ns += wait.and_then(|word| word.parse().ok()).unwrap_or(0);
        let status = read("status");
        sum.voluntary_switches += named(&status, "voluntary_ctxt_switches:");
        sum.involuntary_switches += named(&status, "nonvoluntary_ctxt_switches:");
    }
}

/// Returns the CPU time of all current and former threads of a process, from its own clock, to the
/// nanosecond.
fn cpu(pid: u32) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // The kernel's number for the clock of a process (`CPUCLOCK_SCHED` of `posix-timers.h`).
    let clock = (!(pid as libc::clockid_t) << 3) | 2;
    // SAFETY: writes to a live timespec, or fails.
    match unsafe { libc::clock_gettime(clock, &raw mut time) } {
        0 => time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
        _ => 0,
    }
}

/// Fields of `/proc/PID/stat`, counted from 0 after the name.
const MAJOR_FAULTS: usize = 9;
const CHILDREN_USER: usize = 13;
const CHILDREN_SYSTEM: usize = 14;

fn ticks_of_children(pid: u32) -> u64 {
    stat_field(pid, CHILDREN_USER) + stat_field(pid, CHILDREN_SYSTEM)
}

fn stat_field(pid: u32, field: usize) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A name may contain spaces and parentheses.
    let behind = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let word = behind.split_ascii_whitespace().nth(field);
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn named(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|rest| rest.split_ascii_whitespace().next());
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn tick_ns() -> u64 {
    // SAFETY: queries a system constant.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_process_is_known() {
        let mut sum = TreeUsage::default();
        add(std::process::id(), &mut sum);
        assert!(sum.threads >= 1 && sum.cpu_ns > 0 && sum.peak_memory_bytes > 100_000);
        assert_eq!(sum.processes, 1);
    }

    #[test]
    fn fields_are_counted_behind_a_name_with_blanks() {
        assert_eq!(named("VmPeak: 1 kB\nVmHWM:\t  12 kB\n", "VmHWM:"), 12);
        assert_eq!(named("VmHWM: x\n", "VmHWM:"), 0);
        // Field 9 is a count; field 0, the state, is not a number.
        assert_eq!(stat_field(std::process::id(), 0), 0);
        assert!(
            stat_field(std::process::id(), CHILDREN_USER + 4) >= 1,
            "threads"
        );
    }
}
