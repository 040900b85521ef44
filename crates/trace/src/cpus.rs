//! The CPUs that the calling thread may use.

/// Returns the CPUs that the calling thread may use, in order; empty if the system doesn't report them.
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: all-zero is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live set of that size; 0 means this thread.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: the CPU's number is below the set's size.
    let is_in = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    (0..libc::CPU_SETSIZE as usize).filter(is_in).collect()
}

/// Returns the time for which these CPUs have been busy since boot, in nanoseconds, including time that a
/// hypervisor took; `None` if the system doesn't report it for all of them. The kernel counts in ticks,
/// usually of 10 ms.
pub fn busy_ns(cpus: &[usize]) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    // SAFETY: takes a constant and returns a number.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    Some(busy_ticks(&text, cpus)?.saturating_mul(1_000_000_000 / ticks_per_second))
}

/// Returns the ticks of `/proc/stat` for which these CPUs were not idle; `None` if one is missing.
fn busy_ticks(stat: &str, cpus: &[usize]) -> Option<u64> {
    let mut sum = 0u64;
    for cpu in cpus {
        let name = format!("cpu{cpu} ");
        let line = stat
            .lines()
            .find_map(|line| line.strip_prefix(name.as_str()))?;
        let fields = line
            .split_ascii_whitespace()
            .map(|word| word.parse().unwrap_or(0));
        // user, nice, system, idle, iowait, irq, softirq, steal; guest time is included in user.
        let busy = fields
            .take(8)
            .enumerate()
            .filter(|(at, _)| !matches!(at, 3 | 4));
        sum = busy.fold(sum, |sum, (_, ticks): (_, u64)| sum.saturating_add(ticks));
    }
    Some(sum).filter(|_| !cpus.is_empty())
}

/// Restricts the calling thread to these CPUs; returns false if the system refused.
pub fn run_on(cpus: &[usize]) -> bool {
    // SAFETY: all-zero is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the CPU's number is below the set's size.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: the pointer is to a live set of that size; 0 means this thread.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_and_other_cpus_are_not_busy() {
        let stat =
            "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 40 50 6 7 8 9 10\ncpu1 100 0 0 5 0 0 0 0 0 0\n";
        assert_eq!(busy_ticks(stat, &[0]), Some(27));
        assert_eq!(busy_ticks(stat, &[0, 1]), Some(127));
        assert_eq!(busy_ticks(stat, &[2]), None);
        assert_eq!(busy_ticks(stat, &[]), None);
    }
}
