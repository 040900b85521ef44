//! What of a page fault and of a call do the kernel's ticks charge to the program's own code?
//!
//! A timer that comes due on the way out of the kernel, where interrupts are held back, is served
//! when the program is reached: the tick finds it there, though it was in the kernel. How long that
//! way is differs by machine: of a fault 85 ns on two, 155 to 190 of 1,000 on one whose hypervisor
//! is itself a guest, and 250 of 1,500 there while somebody shares the core; of a call 45 to 50 of
//! 150 there. A timer of its own on this thread shows it. While it does nothing but touch fresh
//! memory, next to all samples that find it in user code are such; while it makes cheap calls,
//! those beyond what it computes between them.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::entry_exit_overhead::{self, calls_in_turn, cpu_ns, median, touch};
use crate::perf::event::{self, Attributes, Watched, flag};
use crate::perf::record::{self, What};
use crate::perf::ring::Ring;

/// CPU time between two samples. On a virtual machine within another each takes 20 us.
const PERIOD: Duration = Duration::from_micros(100);
/// CPU time of the touching that is sampled, ns.
const TOUCHING_SAMPLED_NS: i64 = 75_000_000;
/// The same of the calls.
const CALLS_SAMPLED_NS: i64 = 150_000_000;
/// Fewer samples say nothing.
const ENOUGH: u64 = 200;
/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 63;
const PAGES: usize = 16;
/// Calls of one measurement.
const CALLS: usize = 1000;
/// How often samples and measurements take turns.
const TURNS: i64 = 50;

/// Part of a fault, 0 to 1; `None` where this thread may not be sampled.
pub(super) fn share_of_fault() -> Option<f64> {
    let mut samples = TickSamples::new()?;
    let in_faults = touch_for(TOUCHING_SAMPLED_NS, || samples.take())?;
    Some(samples.in_user()? / in_faults)
}

/// Of a cheap call that took so long before the run, ns; `None` likewise. What is computed between
/// two calls and how long both take is measured between the samples, which make everything longer.
///
/// After one run in six a call took 190 ns instead of 140, of which 74 were late instead of 50: the
/// part of it stays the same, and is what is taken of a call before the run.
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

/// A timer on this thread that says whether it is in the kernel, each time that it comes due.
struct TickSamples {
    /// Closed with this; the timer ends then.
    event: OwnedFd,
    ring: Ring,
    in_kernel: u64,
    in_user: u64,
}

impl TickSamples {
    fn new() -> Option<Self> {
        let mut attributes = Attributes::recording(Some(PERIOD), flag::EXCLUDE_IDLE);
        attributes.flags &= !flag::EXCLUDE_KERNEL;
        // SAFETY: asks for a number of this thread. As a call of the kernel: glibc has it since 2.30.
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

    /// Part of the samples that found user code, 0 to 1, if there were enough.
    fn in_user(&self) -> Option<f64> {
        let all = self.in_kernel + self.in_user;
        (all >= ENOUGH).then(|| self.in_user as f64 / all as f64)
    }
}

/// Touches fresh memory for so long, CPU time, and between the pieces does something else. The part
/// of the time that the touching took, 0 to 1.
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
        // Where perf is not allowed there is no answer, and nothing to hold against.
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
