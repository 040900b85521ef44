//! How much CPU time does the kernel take outside of calls and page faults?
//!
//! Exceptions and the signals that they become, interrupts, and what a call leaves for the way back
//! into own code, such as to close the file of an `accept4` that got none: no call and no fault holds
//! it, so that it looks like own code. Two clocks know better: samples of own code, of which the
//! kernel has none, and the kernel's ticks. What both of them have less of own code than what calls
//! and faults leave is the kernel's.

use std::collections::HashMap;

use fathom_model::TimeCategory;
use fathom_trace::{Tier, Trace};

use crate::thread_times::ThreadTimes;
use crate::ticks::TICK_NS;

/// By so many standard deviations samples must be too few, and ticks in the kernel too many.
const SURE: f64 = 4.0;
/// Below this part of the CPU time it is what interrupts take of everybody, and what samples miss.
const LEAST_SHARE: f64 = 0.05;
/// What the ways into the kernel and out of it may take beyond what was measured, of each call and
/// fault: all that a cheap call takes in a virtual machine within another.
const ENTRY_UNSURE_NS: f64 = 225.0;

/// Sets it apart from own code. `tracer_ns`: what the tracer added, which is in the kernel, too, and
/// is taken out of own code elsewhere.
pub(crate) fn set_apart(trace: &Trace, tracer_ns: f64, threads: &mut [ThreadTimes]) {
    let Some(profile) = trace.profile.as_ref().filter(|it| it.lost == 0) else {
        return;
    };
    if trace.tier != Some(Tier::Kernel) {
        return;
    }
    let mut samples: HashMap<u32, f64> = HashMap::new();
    for row in &profile.functions {
        *samples.entry(row.tid).or_default() += row.samples as f64;
    }
    let period = profile.period_ns as f64;
    let sampled = |times: &ThreadTimes| samples.get(&times.tid).copied().unwrap_or(0.0) * period;
    let own = |times: &ThreadTimes| times.sums.get(TimeCategory::UserCode);
    let missing = |times: &ThreadTimes| (own(times) - sampled(times)).max(0.0);
    let sum = |of: &dyn Fn(&ThreadTimes) -> f64| threads.iter().map(of).sum::<f64>();

    let calls: u64 = trace.syscalls.iter().map(|row| row.calls).sum();
    let faults = trace
        .threads
        .iter()
        .filter_map(|thread| thread.timed_faults);
    let entries = (calls + faults.sum::<u64>()) as f64;
    let not_outside = tracer_ns + entries * ENTRY_UNSURE_NS;
    let on_cpu = sum(&|times| times.on_cpu_ns);
    let all_samples: f64 = samples.values().sum();
    let by_samples = sum(&own) - all_samples * period - not_outside;
    let of_samples = period * (all_samples + 1.0).sqrt();
    let accounts = &trace.accounts;
    let charged = (accounts.user_ns + accounts.system_ns) as f64;
    let in_kernel = accounts.system_ns as f64 / charged.max(1.0);
    let seen = sum(&|times| times.sums.of(TimeCategory::is_in_kernel));
    let by_ticks = on_cpu * in_kernel - seen - not_outside;
    let ticks = on_cpu / TICK_NS;
    let of_ticks = TICK_NS * (ticks * in_kernel * (1.0 - in_kernel) + 1.0).sqrt();

    let outside = by_samples.min(by_ticks);
    let is_sure = by_samples > SURE * of_samples && by_ticks > SURE * of_ticks;
    let all_missing = sum(&missing);
    if !is_sure || outside < LEAST_SHARE * on_cpu || all_missing <= 0.0 {
        return;
    }
    for times in threads {
        let part = missing(times) * (outside / all_missing).min(1.0);
        let taken = times.sums.take(TimeCategory::UserCode, part);
        times.sums.add(TimeCategory::KernelOutside, taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, MS};
    use crate::sums::Sums;

    /// 500 ms on a CPU, of which calls and faults left `own_ms`; how much of it is the kernel's, ms,
    /// where samples saw `sampled` and ticks charged the kernel `system`.
    fn outside(own_ms: u64, sampled: u64, system: u64, tracer: u64) -> u64 {
        let mut fake = Fake::new(500);
        let tid = fake.trace.threads[0].tid;
        fake.in_function(tid, "/bin/work", "work", sampled);
        let profile = fake.trace.profile.as_mut().expect("made by in_function");
        profile.period_ns = MS;
        fake.trace.accounts.system_ns = system * MS;
        fake.trace.accounts.user_ns = (500 - system) * MS;
        let mut sums = Sums::default();
        sums.add(TimeCategory::UserCode, (own_ms * MS) as f64);
        sums.add(TimeCategory::KernelIo, ((500 - own_ms) * MS) as f64);
        let thread = &fake.trace.threads[0];
        let mut threads = [ThreadTimes {
            pid: thread.pid,
            tid: thread.tid,
            from_ns: 0,
            to_ns: 500 * MS,
            on_cpu_ns: (500 * MS) as f64,
            of_runtime: false,
            truly_ready: 1.0,
            sums,
        }];
        set_apart(&fake.trace, (tracer * MS) as f64, &mut threads);
        let whole = threads[0].sums.total();
        assert_eq!((whole / MS as f64).round() as u64, 500);
        (threads[0].sums.get(TimeCategory::KernelOutside) / MS as f64).round() as u64
    }

    #[test]
    fn what_neither_samples_nor_ticks_have_in_own_code_is_the_kernels() {
        assert_eq!(outside(400, 100, 420, 0), 300);
        // Each of the two may be the smaller one; what the tracer added is its own.
        assert_eq!(outside(400, 100, 350, 0), 250);
        assert_eq!(outside(400, 100, 420, 50), 250);
    }

    #[test]
    fn one_clock_alone_or_little_says_nothing() {
        assert_eq!(outside(400, 400, 420, 0), 0, "samples were in own code");
        assert_eq!(outside(400, 100, 100, 0), 0, "ticks were in own code");
        assert_eq!(outside(400, 380, 120, 0), 0, "20 ms");
    }
}
