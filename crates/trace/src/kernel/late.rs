//! What of a page fault do the kernel's ticks charge to the program's own code?
//!
//! A timer that comes due on the way out of a fault, where interrupts are held back, is served when the program is
//! reached: the tick finds it there, though it was in the kernel. How long that way is differs by machine (85 ns on two,
//! 155 to 190 of 1,000 on one whose hypervisor is itself a guest, and 250 of 1,500 there while somebody shares the core). A timer of its own on this thread, which does nothing but touch fresh
//! memory, tells: of so many looks that find it in user code, next to all are such.

use super::edges::{self, cpu_ns, touch};
use crate::perf::event::{self, Attributes, Watched, flag};
use crate::perf::record::{self, What};
use crate::perf::ring::Ring;

/// CPU time between two looks, ns. On a virtual machine within another each takes 20 us.
const PERIOD_NS: u64 = 100_000;
/// CPU time of the touching that is looked at, ns.
const LOOKED_AT_NS: i64 = 75_000_000;
/// Fewer looks tell nothing.
const ENOUGH: u64 = 200;
/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 63;
const PAGES: usize = 16;

/// Part of a fault, 0 to 1; `None` where this thread may not be looked at.
pub(super) fn measure() -> Option<f64> {
    let mut attributes = Attributes::recording(Some(PERIOD_NS), flag::EXCLUDE_IDLE);
    attributes.flags &= !flag::EXCLUDE_KERNEL;
    // SAFETY: asks for a number of this thread.
    let own = unsafe { libc::gettid() } as u32;
    let event = event::open(&attributes, Watched::Thread(own), -1).ok()??;
    let mut ring = Ring::map(&event, PAGES).ok()?;
    let (mut in_kernel, mut in_user) = (0u64, 0u64);
    let in_faults = touch_for(LOOKED_AT_NS, || {
        ring.drain(
            |bytes| match record::parse(bytes).map(|record| record.what) {
                Some(What::Sampled { address, .. }) if address >= KERNEL => in_kernel += 1,
                Some(What::Sampled { .. }) => in_user += 1,
                _ => {}
            },
        );
    })?;
    let looks = in_kernel + in_user;
    (looks >= ENOUGH).then(|| in_user as f64 / (looks as f64 * in_faults))
}

/// Touches fresh memory for so long, CPU time, and between the pieces does something else. The part of the time that the
/// touching took, 0 to 1.
fn touch_for(ns: i64, mut between: impl FnMut()) -> Option<f64> {
    let (from, mut touching) = (cpu_ns(), 0.0);
    while cpu_ns() - from < ns {
        touching += touch()? * edges::PAGES as f64;
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
        if let Some(late) = measure() {
            assert!((0.001..0.9).contains(&late), "{late}");
        }
    }
}
