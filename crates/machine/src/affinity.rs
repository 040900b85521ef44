//! The CPUs that this process may use, and pinning to one of them.

use std::time::Duration;

use crate::cpu_gate::{CpuOf, Stretch};

/// Returns the CPUs that the calling thread may use, in order; empty if the system doesn't report them.
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: all-zero is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a valid place of the given size.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: the index stays below the set's size.
    (0..libc::CPU_SETSIZE as usize)
        .filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) })
        .collect()
}

/// Restricts the calling thread to `cpus`; returns false if the system refused.
pub(crate) fn run_on(cpus: &[usize]) -> bool {
    // SAFETY: all-zero is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the index is below the set's size.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: `set` is valid and of the given size.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) == 0 }
}

/// Keeps the calling thread on one CPU; restores the former set when dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins to `cpu`.
    pub(crate) fn to(cpu: usize) -> Pinned {
        let before = allowed_cpus();
        run_on(&[cpu]);
        Pinned { before }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.before.is_empty() {
            run_on(&self.before);
        }
    }
}

/// Returns the CPU of `cpus` on which this thread gets the most time, measured by 5 ms of spinning on each of
/// at most 8 of them; stops at the first that is entirely free. `None` if there are no CPUs.
pub(crate) fn quietest(cpus: &[usize]) -> Option<usize> {
    let mut best = None;
    // The first CPU takes most interrupts: try it last.
    for &cpu in cpus.iter().rev().take(8) {
        let _pinned = Pinned::to(cpu);
        let share = share_had(Duration::from_millis(5));
        if best.is_none_or(|(most, _)| share > most) {
            best = Some((share, cpu));
        }
        if share > 0.995 {
            break;
        }
    }
    best.map(|(_, cpu)| cpu)
}

/// Returns the share of `time` (0 to 1) for which the calling thread, spinning, had a CPU.
pub(crate) fn share_had(time: Duration) -> f64 {
    let stretch = Stretch::begin(CpuOf::Thread);
    while u128::from(stretch.wall_ns()) < time.as_nanos() {
        crate::kernels::dependent_adds(40);
    }
    stretch.share().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinning_ends_with_its_guard() {
        let before = allowed_cpus();
        assert!(!before.is_empty());
        {
            let _pinned = Pinned::to(before[0]);
            assert_eq!(allowed_cpus(), [before[0]]);
        }
        assert_eq!(allowed_cpus(), before);
    }

    #[test]
    fn the_quietest_cpu_is_one_of_those_offered() {
        let cpus = allowed_cpus();
        assert!(cpus.contains(&quietest(&cpus).unwrap()));
        assert_eq!(quietest(&[]), None);
    }
}
