//! What of a page fault do the kernel's ticks charge to the program's own code?
//!
//! A timer that comes due on the way out of a fault, where interrupts are held back, is served when the program is
//! reached: the tick finds it there, though it was in the kernel. How long that way is differs by machine (85 ns on two,
//! 190 on one whose hypervisor is itself a guest). A timer of its own on this thread, which does nothing but touch fresh
//! memory, tells: of so many looks that find it in user code, next to all are such.

use super::edges::{self, cpu_ns, touch};
use crate::perf::event::{self, Attributes, Watched, flag};
use crate::perf::record::{self, What};
use crate::perf::ring::Ring;

/// CPU time between two looks, ns. On a virtual machine within another each takes 20 us.
const PERIOD_NS: u64 = 100_000;
/// CPU time of the touching that is looked at, and of that before it which tells what a fault takes, ns.
const LOOKED_AT_NS: i64 = 60_000_000;
const ALONE_NS: i64 = 15_000_000;
/// Fewer looks tell nothing.
const ENOUGH: u64 = 200;
/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 63;
const PAGES: usize = 16;

/// Of each fault, ns; `None` where this thread may not be looked at.
pub(super) fn measure() -> Option<f64> {
    let each_ns = touch_for(ALONE_NS, || ())?;
    let mut attributes = Attributes::recording(Some(PERIOD_NS), flag::EXCLUDE_IDLE);
    attributes.flags &= !flag::EXCLUDE_KERNEL;
    // SAFETY: asks for a number of this thread.
    let own = unsafe { libc::gettid() } as u32;
    let event = event::open(&attributes, Watched::Thread(own), -1).ok()??;
    let mut ring = Ring::map(&event, PAGES).ok()?;
    let (mut in_kernel, mut in_user) = (0u64, 0u64);
    touch_for(LOOKED_AT_NS, || {
        ring.drain(
            |bytes| match record::parse(bytes).map(|record| record.what) {
                Some(What::Sampled { address, .. }) if address >= KERNEL => in_kernel += 1,
                Some(What::Sampled { .. }) => in_user += 1,
                _ => {}
            },
        );
    })?;
    let looks = in_kernel + in_user;
    (looks >= ENOUGH).then(|| each_ns * in_user as f64 / looks as f64)
}

/// Touches fresh memory for so long, and between the pieces does something else. CPU time of each page, all of it, ns.
fn touch_for(ns: i64, mut between: impl FnMut()) -> Option<f64> {
    let (from, mut pages) = (cpu_ns(), 0);
    while cpu_ns() - from < ns {
        touch()?;
        pages += edges::PAGES;
        between();
    }
    Some((cpu_ns() - from) as f64 / pages as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_fault_is_late() {
        // Where perf is not allowed there is no answer, and nothing to hold against.
        if let Some(late) = measure() {
            let each = touch_for(ALONE_NS, || ()).unwrap();
            assert!(late > 0.0 && late < each, "{late} of {each}");
        }
    }
}
