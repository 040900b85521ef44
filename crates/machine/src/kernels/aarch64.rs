//! Machine code for AArch64.
//!
//! Inline assembly for the same reason as on x86-64: each loop is a claim about instructions.

use std::arch::asm;

/// Runs `iterations` x 256 dependent additions: one cycle each.
///
/// Register plus register: some cores fold additions of constants during renaming. Returns the number of
/// additions.
pub(crate) fn dependent_adds(iterations: u64) -> u64 {
    let mut sum = 0u64;
    // SAFETY: only the named registers change; no memory is touched.
    unsafe {
        asm!(
            "2:",
            ".rept 256",
            "add {sum}, {sum}, {one}",
            ".endr",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            sum = inout(reg) sum,
            one = in(reg) 1u64,
            left = inout(reg) iterations.max(1) => _,
            options(nomem, nostack),
        );
    }
    sum
}

/// Follows `rounds` x 16 pointers from `start` and returns the last one.
///
/// # Safety
/// `start` must point to a cell that holds a pointer to such a cell, and so on.
pub(crate) unsafe fn chase(start: *const u8, rounds: u64) -> *const u8 {
    let mut at = start;
    // SAFETY: the caller promises that every cell reached holds a valid pointer.
    unsafe {
        asm!(
            "2:",
            ".rept 16",
            "ldr {at}, [{at}]",
            ".endr",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            at = inout(reg) at,
            left = inout(reg) rounds.max(1) => _,
            options(readonly, nostack),
        );
    }
    at
}

/// Returns the generic timer's virtual count, in ticks of its own rate (often 24 to 1000 MHz).
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let now: u64;
    // SAFETY: reads a counter that Linux makes readable for everyone.
    unsafe { asm!("mrs {now}, cntvct_el0", now = out(reg) now, options(nomem, nostack)) };
    now
}

/// Returns the ticks of one load of the byte at `at`, after everything before it has completed.
///
/// # Safety
/// `at` must be readable.
#[inline(always)]
pub(crate) unsafe fn timed_load(at: *const u8) -> u64 {
    let (before, after): (u64, u64);
    // SAFETY: the caller promises that `at` is readable.
    unsafe {
        asm!(
            "dsb sy",
            "isb",
            "mrs {before}, cntvct_el0",
            "isb",
            "ldrb {byte:w}, [{at}]",
            "dsb ld",
            "isb",
            "mrs {after}, cntvct_el0",
            at = in(reg) at,
            byte = out(reg) _,
            before = out(reg) before,
            after = lateout(reg) after,
            options(nostack),
        );
    }
    after.wrapping_sub(before)
}

/// Loads one byte and waits for it.
///
/// # Safety
/// `at` must be readable.
#[inline(always)]
pub(crate) unsafe fn fenced_load(at: *const u8) {
    // SAFETY: the caller promises that `at` is readable.
    unsafe {
        asm!(
            "ldrb {byte:w}, [{at}]",
            "dsb ld",
            "isb",
            at = in(reg) at,
            byte = out(reg) _,
            options(nostack),
        );
    }
}

/// Runs `count` branches on bit 17 of a xorshift stream; returns how often the bit was one.
///
/// With `mask` 1 the outcome is random and never repeats, because `state` continues from call to call. With
/// `mask` 0 the same instructions run and the branch always goes the same way.
pub(crate) fn random_branches(state: &mut u64, count: u64, mask: u64) -> u64 {
    let mut ones = 0u64;
    let mut x = *state;
    // SAFETY: only the named registers change; no memory is touched.
    unsafe {
        asm!(
            "2:",
            "eor {x}, {x}, {x}, lsl #13",
            "eor {x}, {x}, {x}, lsr #7",
            "eor {x}, {x}, {x}, lsl #17",
            "and {t}, {mask}, {x}, lsr #17",
            "cbz {t}, 3f",
            "add {ones}, {ones}, #1",
            "3:",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            x = inout(reg) x,
            t = out(reg) _,
            mask = in(reg) mask,
            ones = inout(reg) ones,
            left = inout(reg) count.max(1) => _,
            options(nomem, nostack),
        );
    }
    *state = x;
    ones
}

/// Branches once on each byte (zero or not) and returns how many were not zero.
pub(crate) fn pattern_branches(pattern: &[u8]) -> u64 {
    if pattern.is_empty() {
        return 0;
    }
    let mut ones = 0u64;
    // SAFETY: reads exactly the bytes of `pattern`.
    unsafe {
        asm!(
            "2:",
            "ldrb {byte:w}, [{at}], #1",
            "cbz {byte:w}, 3f",
            "add {ones}, {ones}, #1",
            "3:",
            "cmp {at}, {end}",
            "b.ne 2b",
            at = inout(reg) pattern.as_ptr() => _,
            end = in(reg) pattern.as_ptr().add(pattern.len()),
            byte = out(reg) _,
            ones = inout(reg) ones,
            options(readonly, nostack),
        );
    }
    ones
}

/// Computes `dst[i] = dst[i-1] + src[i]` with the sum carried through memory: each store feeds the next load.
///
/// `dst` must be as long as `src`, and the length a multiple of 8; the first sum starts from 0.
pub(crate) fn prefix_through_memory(src: &[u64], dst: &mut [u64]) {
    assert!(src.len() == dst.len() && src.len().is_multiple_of(8) && !src.is_empty());
    dst[0] = src[0];
    let last = src.len() as u64 - 1;
    if last == 0 {
        return;
    }
    // SAFETY: reads src[1..], reads and writes dst[..]; lengths are checked above.
    unsafe {
        asm!(
            "2:",
            "ldr {sum}, [{dst}]",
            "ldr {t}, [{src}], #8",
            "add {sum}, {sum}, {t}",
            "str {sum}, [{dst}, #8]!",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            sum = out(reg) _,
            t = out(reg) _,
            src = inout(reg) src.as_ptr().add(1) => _,
            dst = inout(reg) dst.as_mut_ptr() => _,
            left = inout(reg) last => _,
            options(nostack),
        );
    }
}

/// Computes the same sums with the running sum in a register.
pub(crate) fn prefix_through_register(src: &[u64], dst: &mut [u64]) {
    assert!(src.len() == dst.len() && src.len().is_multiple_of(8) && !src.is_empty());
    // SAFETY: reads src, writes dst; the length is a multiple of the 8 elements per iteration.
    unsafe {
        asm!(
            "2:",
            ".irp i,0,8,16,24,32,40,48,56",
            "ldr {t}, [{src}, #\\i]",
            "add {sum}, {sum}, {t}",
            "str {sum}, [{dst}, #\\i]",
            ".endr",
            "add {src}, {src}, #64",
            "add {dst}, {dst}, #64",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            sum = inout(reg) 0u64 => _,
            t = out(reg) _,
            src = inout(reg) src.as_ptr() => _,
            dst = inout(reg) dst.as_mut_ptr() => _,
            left = inout(reg) src.len() / 8 => _,
            options(nostack),
        );
    }
}

/// Computes `dst[i] = src[i+1] - src[i]`: the same memory traffic, but no element waits for another.
///
/// `src` must be one longer than `dst`, whose length must be a multiple of 8.
pub(crate) fn differences(src: &[u64], dst: &mut [u64]) {
    assert!(src.len() == dst.len() + 1 && dst.len().is_multiple_of(8) && !dst.is_empty());
    // SAFETY: reads src[0..=len], writes dst[0..len]; lengths are checked above.
    unsafe {
        asm!(
            "2:",
            ".irp i,0,8,16,24,32,40,48,56",
            "ldr {t}, [{src}, #\\i + 8]",
            "ldr {u}, [{src}, #\\i]",
            "sub {t}, {t}, {u}",
            "str {t}, [{dst}, #\\i]",
            ".endr",
            "add {src}, {src}, #64",
            "add {dst}, {dst}, #64",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            t = out(reg) _,
            u = out(reg) _,
            src = inout(reg) src.as_ptr() => _,
            dst = inout(reg) dst.as_mut_ptr() => _,
            left = inout(reg) dst.len() / 8 => _,
            options(nostack),
        );
    }
}

/// Returns `None`: AArch64 has no user-mode instruction that a hypervisor must emulate on each call.
pub(crate) fn identify() -> Option<u32> {
    None
}
