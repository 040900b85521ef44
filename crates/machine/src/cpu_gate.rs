//! Checks whether this thread had the CPU: the gate that every figure must pass.
//!
//! On a shared machine no window of 0.1 s is undisturbed, but many of 1 ms are. Figures are therefore taken
//! in chunks of at most 100 us, grouped into batches of about 1 ms, and a batch counts only if CPU time over
//! wall time was at least [`LEAST_SHARE`]. Without the gate, a system call of 0.166 us was measured as 2.2 us
//! under a load of 6.

use std::time::Instant;

use fathom_model::quantity::Nanoseconds;

/// The smallest share of the CPU with which a batch counts.
pub(crate) const LEAST_SHARE: f64 = 0.9;

/// Returns the CPU time of the calling thread in ns (`CLOCK_THREAD_CPUTIME_ID`).
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the CPU time of the whole process in ns (`CLOCK_PROCESS_CPUTIME_ID`).
pub(crate) fn process_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the clock `id` in ns; 0 if the system doesn't have it.
pub(crate) fn clock_ns(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    if unsafe { libc::clock_gettime(id, &raw mut time) } != 0 {
        return 0;
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the CPU time of this process and of the children that it reaped, in ns (`getrusage`).
pub(crate) fn family_cpu_ns() -> u64 {
    let sum = |who| {
        let usage = rusage(who);
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        ns(usage.ru_utime) + ns(usage.ru_stime)
    };
    sum(libc::RUSAGE_SELF) + sum(libc::RUSAGE_CHILDREN)
}

/// Returns how often the scheduler preempted the calling thread.
pub(crate) fn involuntary_switches() -> u64 {
    rusage(libc::RUSAGE_THREAD).ru_nivcsw as u64
}

fn rusage(who: libc::c_int) -> libc::rusage {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the result; on an error it stays zero.
    unsafe { libc::getrusage(who, &raw mut usage) };
    usage
}

/// Returns the time that the hypervisor gave to others since boot, over all CPUs (`/proc/stat`, field 8).
pub(crate) fn steal_ns() -> Nanoseconds {
    std::fs::read_to_string("/proc/stat").map_or(Nanoseconds(0), |text| {
        parse_steal_ns(&text, ticks_per_second())
    })
}

fn ticks_per_second() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as u64 } else { 100 }
}

pub(crate) fn parse_steal_ns(stat: &str, ticks_per_second: u64) -> Nanoseconds {
    let ticks = stat
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().nth(8)?.parse::<u64>().ok())
        .unwrap_or(0);
    Nanoseconds(ticks.saturating_mul(1_000_000_000 / ticks_per_second))
}

/// Which CPU time is compared with the wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CpuOf {
    /// The CPU time of the calling thread: for loops.
    Thread,
    /// The CPU time of the process: for threads that hand over to each other on one CPU.
    Process,
    /// The CPU time of the process and the children that it reaped: for spawning.
    Family,
    /// The CPU time of the process and one running child, by the child's CPU clock: for processes that hand
    /// over to each other on one CPU.
    With(libc::clockid_t),
    /// No CPU time: for probes that wait for a device or another CPU.
    Nobody,
}

impl CpuOf {
    fn now(self) -> u64 {
        match self {
            CpuOf::Thread => thread_cpu_ns(),
            CpuOf::Process => process_cpu_ns(),
            CpuOf::Family => family_cpu_ns(),
            CpuOf::With(child) => process_cpu_ns() + clock_ns(child),
            CpuOf::Nobody => 0,
        }
    }
}

/// A period of wall time, with the CPU time used in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    cpu_of: CpuOf,
    wall: Instant,
    cpu: u64,
}

impl Stretch {
    /// Begins a period.
    pub(crate) fn begin(cpu_of: CpuOf) -> Stretch {
        Stretch {
            cpu_of,
            cpu: cpu_of.now(),
            wall: Instant::now(),
        }
    }

    /// Returns the wall time so far in ns.
    pub(crate) fn wall_ns(&self) -> u64 {
        self.wall.elapsed().as_nanos() as u64
    }

    /// Returns CPU time over wall time so far, 0 to 1; `None` if no CPU time counts.
    pub(crate) fn share(&self) -> Option<f64> {
        if self.cpu_of == CpuOf::Nobody {
            return None;
        }
        let wall = self.wall_ns().max(1) as f64;
        let cpu = self.cpu_of.now().saturating_sub(self.cpu) as f64;
        Some((cpu / wall).min(1.0))
    }

    /// Returns whether the CPU was available, or doesn't matter.
    pub(crate) fn passes(&self) -> bool {
        self.share().is_none_or(|share| share >= LEAST_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_number_of_the_first_line() {
        let stat = "cpu  10 1 20 300 4 5 6 77 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(parse_steal_ns(stat, 100), Nanoseconds(770_000_000));
        assert_eq!(parse_steal_ns("", 100), Nanoseconds(0));
        assert_eq!(
            parse_steal_ns("cpu 1 2 3", 100),
            Nanoseconds(0),
            "old kernels have no such field"
        );
    }

    #[test]
    fn who_does_not_count_passes_without_a_share() {
        let stretch = Stretch::begin(CpuOf::Nobody);
        assert_eq!(stretch.share(), None);
        assert!(stretch.passes());
    }

    #[test]
    fn a_share_is_between_nothing_and_all() {
        let stretch = Stretch::begin(CpuOf::Thread);
        crate::kernels::dependent_adds(1000);
        let share = stretch.share().unwrap();
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}
