//! How the kernel's timer divides CPU time between the program's own code and the kernel.
//!
//! At each tick, the kernel charges whole milliseconds to the code that was running. For one short run, the
//! result is chance; for all timed runs together, it is an estimate with a known error.

use fathom_model::Run;
use fathom_trace::{Tier, Trace};

/// The time between ticks, in ns, at 250 Hz, which is the rate of most kernels.
pub(crate) const TICK_NS: f64 = 4e6;

/// CPU time of a number of runs, as counted by ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Ticks {
    user_ns: f64,
    system_ns: f64,
}

impl Ticks {
    pub(crate) fn of_runs(runs: &[Run]) -> Ticks {
        let mut all = Ticks::default();
        for one in runs.iter().map(Ticks::of) {
            all.user_ns += one.user_ns;
            all.system_ns += one.system_ns;
        }
        all
    }

    pub(crate) fn of_trace(trace: &Trace) -> Ticks {
        Ticks {
            user_ns: trace.accounts.user_ns as f64,
            system_ns: trace.accounts.system_ns as f64,
        }
    }

    fn of(run: &Run) -> Ticks {
        Ticks {
            user_ns: run.user_ns as f64,
            system_ns: run.system_ns as f64,
        }
    }

    pub(crate) fn cpu_ns(self) -> f64 {
        self.user_ns + self.system_ns
    }

    /// Returns the approximate number of ticks.
    pub(crate) fn count(self) -> f64 {
        self.cpu_ns() / TICK_NS
    }

    /// Returns the kernel's part of the time, 0 to 1.
    pub(crate) fn system_share(self) -> f64 {
        self.system_ns / self.cpu_ns().max(1.0)
    }
}

/// The prior standard deviation of the kernel's part of the extra time in longer runs, relative to its part
/// of all the time.
const SLOPE_SCATTER: f64 = 0.5;

/// Estimates the kernel's part, in ns, of a run with this much CPU time. If the load from other programs
/// varies, the longest runs differ mostly in the kernel: it had 0.6 to 0.9 of their extra time in a program
/// in which its overall share was 0.2. Therefore a line is fitted through the runs, as far as their ticks
/// allow.
pub(crate) fn system_of(runs: &[Run], cpu_ns: f64) -> f64 {
    let all = Ticks::of_runs(runs);
    let share = all.system_share();
    let mean = all.cpu_ns() / runs.len().max(1) as f64;
    let (mut along, mut spread) = (0.0, 0.0);
    for one in runs.iter().map(Ticks::of) {
        let longer = one.cpu_ns() - mean;
        along += longer * (one.system_ns - share * one.cpu_ns());
        spread += longer * longer;
    }
    let chance = TICK_NS * mean * share * (1.0 - share);
    let slope = along / (spread + chance / SLOPE_SCATTER.powi(2)).max(1.0);
    (share * cpu_ns + slope * (cpu_ns - mean)).clamp(0.0, cpu_ns)
}

/// Returns the kernel's part of CPU time, 0 to 1, for tiers that don't trace calls.
pub(crate) fn kernel_share(trace: &Trace, runs: &[Run]) -> f64 {
    if !trace.tier.is_some_and(Tier::only_samples) {
        return 0.0;
    }
    let timed = Ticks::of_runs(runs);
    // This assumes one additional tick of each kind, because no ticks at all prove nothing, and one proves
    // little.
    Ticks {
        user_ns: timed.user_ns + trace.accounts.user_ns as f64 + TICK_NS,
        system_ns: timed.system_ns + trace.accounts.system_ns as f64 + TICK_NS,
    }
    .system_share()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn reported(tier: Tier, user_ms: u64, system_ms: u64) -> f64 {
        let mut run = crate::fake::run(0, 0);
        (run.user_ns, run.system_ns) = (user_ms * MS, system_ms * MS);
        let mut trace = Trace {
            tier: Some(tier),
            ..Trace::default()
        };
        (trace.accounts.user_ns, trace.accounts.system_ns) = (run.user_ns, run.system_ns);
        kernel_share(&trace, &vec![run; 9])
    }

    #[test]
    fn all_runs_show_how_a_short_one_is_divided() {
        let share = reported(Tier::Sample, 8, 16);
        assert!((0.64..0.67).contains(&share), "{share}");
    }

    #[test]
    fn what_the_longest_runs_took_more_is_distinguished() {
        let run = |(user_ms, system_ms): (u64, u64)| {
            let mut run = crate::fake::run(0, 0);
            (run.user_ns, run.system_ns) = (user_ms * MS, system_ms * MS);
            run
        };
        let ms = |runs: &[(u64, u64)], cpu_ms: f64| {
            let runs: Vec<Run> = runs.iter().copied().map(run).collect();
            (system_of(&runs, cpu_ms * 1e6) / 1e6).round()
        };
        assert_eq!(ms(&[(800, 200); 9], 1000.0), 200.0);
        assert_eq!(ms(&[(800, 200); 9], 500.0), 100.0);
        // Three runs took 300 ms longer, all of it in the kernel; the ticks alone would give 273 ms.
        let mut runs = vec![(800, 200); 6];
        runs.extend([(800, 500); 3]);
        assert!(
            (200.0..210.0).contains(&ms(&runs, 1000.0)),
            "{}",
            ms(&runs, 1000.0)
        );
        assert_eq!(ms(&[], 1000.0), 0.0);
    }

    #[test]
    fn without_ticks_nobody_knows() {
        assert_eq!(reported(Tier::Sample, 0, 0), 0.5);
    }

    #[test]
    fn where_calls_are_seen_they_show() {
        assert_eq!(reported(Tier::Kernel, 8, 16), 0.0);
    }
}
