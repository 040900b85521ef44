//! Estimates the CPU time that the kernel takes outside of calls and page faults.
//!
//! This includes exceptions and the signals they become, interrupts, and work that a call defers to its
//! return to own code, such as closing the file of an `accept4` that got no connection. Because this time is
//! in no call and no fault, it looks like own code. Two clocks reveal it: samples of own code, which don't
//! include the kernel, and the kernel's ticks. Both may show less own code than remains after calls and
//! faults are subtracted; the difference is the kernel's time.

use std::collections::HashMap;

use fathom_model::{Run, TimeCategory};
use fathom_trace::{Tier, Trace};

use crate::calls;
use crate::thread_times::ThreadTimes;
use crate::ticks::Ticks;

/// The number of standard deviations by which there must be too few samples and too many kernel ticks.
const SURE: f64 = 4.0;
/// The number of standard deviations within which samples agree with the ticks.
const AGREE: f64 = 2.0;
/// The minimum part of the CPU time; less is due to ordinary interrupts and to what samples miss.
const LEAST_SHARE: f64 = 0.05;
/// How much longer the entry and exit of each call and fault may take than measured, in ns. This is the total
/// cost of a cheap call in a nested virtual machine.
const ENTRY_UNSURE_NS: f64 = 225.0;
/// The maximum kernel time for one signal, in ns: interrupting the program, setting up its handler, and
/// arming the timer again. It was 12 µs in a virtual machine.
pub(crate) const MOST_OF_A_SIGNAL_NS: f64 = 30e3;

/// Separates this time from own code. `tracer_ns` is what the tracer added; it is in the kernel, too, and is
/// removed from own code elsewhere.
///
/// The ticks of the timed runs (`timed`) are used if there are any, because together they are more exact than
/// those of the traced run.
pub(crate) fn set_apart(trace: &Trace, timed: &[Run], tracer_ns: f64, threads: &mut [ThreadTimes]) {
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
    let of_samples = period * scatter(on_cpu / period, all_samples * period / on_cpu.max(1.0));
    let (ticks, with_tracer) = match timed {
        [] => (Ticks::of_trace(trace), on_cpu),
        _ => (Ticks::of_runs(timed), on_cpu - tracer_ns),
    };
    let in_kernel = ticks.system_share();
    let seen = sum(&|times| times.sums.of(TimeCategory::is_in_kernel));
    let by_ticks = with_tracer * in_kernel - seen - not_outside;
    let of_ticks = on_cpu * scatter(ticks.count(), in_kernel) / ticks.count().max(1.0);

    let signals = signals_by_thread(trace);
    let most_of_signals = signals.values().sum::<f64>() * MOST_OF_A_SIGNAL_NS;
    let ticks_are_sure = by_ticks > SURE * of_ticks;
    let (outside, is_of): (f64, &dyn Fn(&ThreadTimes) -> f64) = if most_of_signals > by_ticks {
        // Signals are known to cost such time, so it is enough that the samples don't contradict.
        (by_ticks.min(by_samples + AGREE * of_samples), &|times| {
            signals.get(&times.tid).copied().unwrap_or(0.0)
        })
    } else if by_samples > SURE * of_samples {
        (by_samples.min(by_ticks), &missing)
    } else {
        return;
    };
    let all = sum(is_of);
    if !ticks_are_sure || outside < LEAST_SHARE * on_cpu || all <= 0.0 {
        return;
    }
    let parts: Vec<f64> = threads
        .iter()
        .map(|times| is_of(times) / all * outside)
        .collect();
    for (times, part) in threads.iter_mut().zip(parts) {
        let taken = times.sums.take(TimeCategory::UserCode, part);
        times.sums.add(TimeCategory::KernelOutside, taken);
    }
}

/// Returns the standard deviation of the number of points in time, of `all`, that are in a part of the time.
/// At least one is uncertain.
fn scatter(all: f64, part: f64) -> f64 {
    (all * part * (1.0 - part).max(0.0) + 1.0).sqrt()
}

/// Returns the number of signals that each thread handled.
fn signals_by_thread(trace: &Trace) -> HashMap<u32, f64> {
    let mut signals = HashMap::new();
    for row in trace
        .syscalls
        .iter()
        .filter(|row| calls::ends_signal(&row.name))
    {
        *signals.entry(row.tid).or_default() += row.calls as f64;
    }
    signals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, MS};
    use crate::sums::Sums;

    /// Returns the kernel's part in ms for 500 ms on a CPU. Of these, calls and faults left `own_ms`, samples
    /// saw `sampled`, and ticks charged `system` to the kernel.
    fn outside(own_ms: u64, sampled: u64, system: u64, tracer: u64) -> u64 {
        outside_of(Fake::new(500), 1, [own_ms, sampled, system, tracer])
    }

    /// Does the same for a program with a sample every `period_ms`.
    fn outside_of(
        mut fake: Fake,
        period_ms: u64,
        [own_ms, sampled, system, tracer]: [u64; 4],
    ) -> u64 {
        let tid = fake.trace.threads[0].tid;
        fake.in_function(tid, "/bin/work", "work", sampled);
        let profile = fake.trace.profile.as_mut().expect("made by in_function");
        profile.period_ns = period_ms * MS;
        for row in &mut profile.functions {
            row.samples /= period_ms;
        }
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
            sleeps: None,
            of_runtime: false,
            truly_ready: 1.0,
            sums,
        }];
        set_apart(&fake.trace, &[], (tracer * MS) as f64, &mut threads);
        let whole = threads[0].sums.total();
        assert_eq!((whole / MS as f64).round() as u64, 500);
        (threads[0].sums.get(TimeCategory::KernelOutside) / MS as f64).round() as u64
    }

    #[test]
    fn what_neither_samples_nor_ticks_have_in_own_code_is_the_kernels() {
        assert_eq!(outside(400, 100, 420, 0), 300);
        // Either of the two may be smaller; the tracer's part is excluded.
        assert_eq!(outside(400, 100, 350, 0), 250);
        assert_eq!(outside(400, 100, 420, 50), 250);
    }

    #[test]
    fn the_ticks_are_enough_where_signals_were_handled() {
        let few_samples = |signals: u64| {
            let mut fake = Fake::new(500);
            fake.calls("rt_sigreturn", None, signals, 0, 700);
            outside_of(fake, 4, [400, 340, 420, 0])
        };
        assert_eq!(few_samples(10), 0);
        let found = few_samples(20_000);
        assert!((60..110).contains(&found), "{found}");
    }

    #[test]
    fn one_clock_alone_or_little_says_nothing() {
        assert_eq!(outside(400, 400, 420, 0), 0, "samples were in own code");
        assert_eq!(outside(400, 100, 100, 0), 0, "ticks were in own code");
        assert_eq!(outside(400, 380, 120, 0), 0, "20 ms");
    }
}
