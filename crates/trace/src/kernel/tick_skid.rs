//! Measures which part of a page fault and of a call the kernel's ticks charge to the program's own code.
//!
//! A timer that expires on the way out of the kernel, where interrupts are disabled, is served when the
//! program is reached. The tick then finds the program running, although it was in the kernel when the timer
//! expired. The length of that part depends on the machine. For a fault it is 85 ns on two machines, 155 to
//! 190 of 1,000 ns on one whose hypervisor is itself a guest, and 250 of 1,500 ns on that one while something
//! shares the core; for a call it is 45 to 50 of 150 ns on that machine. A separate timer on this thread
//! measures it. While the thread only touches fresh memory, nearly all samples in user code are late ticks.
//! While it makes cheap calls, the samples in user code that exceed the share of the computation between the
//! calls are late ticks.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::entry_exit_overhead::{self, calls_in_turn, cpu_ns, median, touch};
use crate::perf::event::{self, Attributes, Watched, flag};
use crate::perf::record::{self, What};
use crate::perf::ring::Ring;

/// CPU time between two samples. In a nested virtual machine, each sample takes 20 us.
const PERIOD: Duration = Duration::from_micros(100);
/// CPU time for which the touching of memory is sampled, ns.
const TOUCHING_SAMPLED_NS: i64 = 75_000_000;
/// CPU time for which calls are sampled, ns.
const CALLS_SAMPLED_NS: i64 = 150_000_000;
/// Minimum number of samples for a result.
const ENOUGH: u64 = 200;
/// Lowest kernel address.
const KERNEL: u64 = 1 << 63;
const PAGES: usize = 16;
/// Number of calls per measurement.
const CALLS: usize = 1000;
/// Number of times that samples and measurements alternate.
const TURNS: i64 = 50;

/// Returns the fraction of a fault that ticks charge to the program, 0 to 1; `None` if this thread may not be
/// sampled.
pub(super) fn share_of_fault() -> Option<f64> {
    let mut samples = TickSamples::new()?;
    let in_faults = touch_for(TOUCHING_SAMPLED_NS, || samples.take())?;
    Some(samples.in_user()? / in_faults)
}

/// Returns the part in ns that ticks charge to the program, of a cheap call that took `before_ns` before the
/// run; `None` if this thread may not be sampled. The computation between two calls, and the duration of both
/// together, are measured in between, because sampling slows everything down.
///
/// After one run in six, a call took 190 ns instead of 140, of which 74 were charged instead of 50: the
/// fraction stays the same, and is applied to the call before the run.
pub(super) fn ns_of_call(before_ns: f64) -> Option<f64> {
    let null = entry_exit_overhead::null()?;
    let mut samples = TickSamples::new()?;
    let (mut alone, mut both) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        event::stop(&samples.event).ok()?;
        both.push(calls_in_turn(Some(&null), CALLS));
        alone.push(calls_in_turn(None, CALLS));
        event::start(&samples.event).ok()?;
        let from = cpu_ns();
        while cpu_ns() - from < CALLS_SAMPLED_NS / TURNS {
            calls_in_turn(Some(&null), CALLS);
        }
    }
    samples.take();
    let (both, alone) = (median(both)?, median(alone)?);
    let call = both - alone;
    let late = (samples.in_user()? * both - alone) / call.max(1.0);
    Some(late.clamp(0.0, 1.0) * call.min(before_ns))
}

/// A timer on this thread that records, each time it expires, whether the thread is in the kernel.
struct TickSamples {
    /// Closed when dropped, which ends the timer.
    event: OwnedFd,
    ring: Ring,
    in_kernel: u64,
    in_user: u64,
}

impl TickSamples {
    fn new() -> Option<Self> {
        let mut attributes = Attributes::recording(Some(PERIOD), flag::EXCLUDE_IDLE);
        attributes.flags &= !flag::EXCLUDE_KERNEL;
        // SAFETY: returns this thread's id. The call is made directly, because glibc only has a function for
        // it since 2.30.
        let own = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
        let event = event::open(&attributes, Watched::Thread(own), -1).ok()??;
        let ring = Ring::map(&event, PAGES).ok()?;
        Some(Self {
            event,
            ring,
            in_kernel: 0,
            in_user: 0,
        })
    }

    fn take(&mut self) {
        self.ring.drain(
            |bytes| match record::parse(bytes).map(|record| record.what) {
                Some(What::Sampled { address, .. }) if address >= KERNEL => self.in_kernel += 1,
                Some(What::Sampled { .. }) => self.in_user += 1,
                _ => {}
            },
        );
    }

    /// Returns the fraction of the samples in user code, 0 to 1, if there were enough.
    fn in_user(&self) -> Option<f64> {
        let all = self.in_kernel + self.in_user;
        (all >= ENOUGH).then(|| self.in_user as f64 / all as f64)
    }
}

/// Touches fresh memory until this thread has used `ns` of CPU time, and calls `between` after each piece.
/// Returns the fraction of the time spent on touching, 0 to 1.
fn touch_for(ns: i64, mut between: impl FnMut()) -> Option<f64> {
    let (from, mut touching) = (cpu_ns(), 0.0);
    while cpu_ns() - from < ns {
        touching += touch()? * entry_exit_overhead::PAGES as f64;
        between();
    }
    Some(touching / (cpu_ns() - from) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_fault_is_late() {
        // If perf is not allowed, there is no result and nothing to compare.
        if let Some(late) = share_of_fault() {
            assert!((0.001..0.9).contains(&late), "{late}");
        }
    }

    #[test]
    fn what_is_late_of_a_call_is_less_than_the_call() {
        if let Some(late) = ns_of_call(2_000.0) {
            assert!((0.0..2_000.0).contains(&late), "{late}");
        }
    }
}
