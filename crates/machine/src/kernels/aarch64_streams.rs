//! Sequential memory traffic for AArch64: 256 bytes per iteration in pairs of 16-byte registers.
//!
//! Inline assembly, because compilers replace such loops by `memset` and `memcpy`, which choose `dc zva` or
//! non-temporal forms by size: the figure must state which one it measures.

use std::arch::asm;

/// Reads `bytes` (a multiple of 256) and returns the sum of its 64-bit words.
///
/// # Safety
/// `at` must be aligned to 32 and readable for `bytes`.
pub(crate) unsafe fn read(at: *const u8, bytes: usize) -> u64 {
    let turns = bytes / 256;
    if turns == 0 {
        return 0;
    }
    let mut lanes = [0u64; 4];
    // SAFETY: the caller promises `bytes` readable bytes; `lanes` has room for 32 bytes.
    unsafe {
        asm!(
            "movi v0.2d, #0",
            "movi v1.2d, #0",
            "2:",
            ".irp i,0,32,64,96,128,160,192,224",
            "ldp q2, q3, [{at}, #\\i]",
            "add v0.2d, v0.2d, v2.2d",
            "add v1.2d, v1.2d, v3.2d",
            ".endr",
            "add {at}, {at}, #256",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            "stp q0, q1, [{lanes}]",
            at = inout(reg) at => _,
            left = inout(reg) turns => _,
            lanes = in(reg) lanes.as_mut_ptr(),
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            options(nostack),
        );
    }
    lanes.iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
}

/// Reads the first of every four 32-bit words of `bytes` (a multiple of 256) and returns their sum. Each
/// iteration has a separate sum.
///
/// # Safety
/// `at` must be aligned to 4 and readable for `bytes`.
pub(crate) unsafe fn read_words(at: *const u8, bytes: usize) -> u64 {
    let turns = bytes / 256;
    if turns == 0 {
        return 0;
    }
    let mut sum = 0u32;
    // SAFETY: the caller promises `bytes` readable bytes.
    unsafe {
        asm!(
            "2:",
            "ldr {turn:w}, [{at}]",
            ".irp i,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240",
            "ldr {word:w}, [{at}, #\\i]",
            "add {turn:w}, {turn:w}, {word:w}",
            ".endr",
            "add {sum:w}, {sum:w}, {turn:w}",
            "add {at}, {at}, #256",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            at = inout(reg) at => _,
            left = inout(reg) turns => _,
            sum = inout(reg) sum,
            word = out(reg) _,
            turn = out(reg) _,
            options(nostack, readonly),
        );
    }
    u64::from(sum)
}

macro_rules! fill_loop {
    ($at:ident, $turns:ident, $value:ident, $store:literal) => {
        asm!(
            "dup v0.2d, {value}",
            "2:",
            ".irp i,0,32,64,96,128,160,192,224",
            $store,
            ".endr",
            "add {at}, {at}, #256",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            at = inout(reg) $at => _,
            left = inout(reg) $turns => _,
            value = in(reg) $value,
            out("v0") _,
            options(nostack),
        )
    };
}

/// Fills `bytes` (a multiple of 256) with `value` by plain stores.
///
/// # Safety
/// `at` must be aligned to 32 and writable for `bytes`.
pub(crate) unsafe fn write(at: *mut u8, bytes: usize, value: u64) {
    let turns = bytes / 256;
    if turns > 0 {
        // SAFETY: the caller promises `bytes` writable bytes.
        unsafe { fill_loop!(at, turns, value, "stp q0, q0, [{at}, #\\i]") }
    }
}

/// Fills `bytes` (a multiple of 256) with `value` by non-temporal stores (a hint on AArch64).
///
/// # Safety
/// `at` must be aligned to 32 and writable for `bytes`.
pub(crate) unsafe fn write_around(at: *mut u8, bytes: usize, value: u64) {
    let turns = bytes / 256;
    if turns > 0 {
        // SAFETY: the caller promises `bytes` writable bytes.
        unsafe { fill_loop!(at, turns, value, "stnp q0, q0, [{at}, #\\i]") }
    }
}

/// Copies `bytes` (a multiple of 256) by plain loads and stores.
///
/// # Safety
/// `src` must be readable and `dst` writable for `bytes`, both aligned to 32, not overlapping.
pub(crate) unsafe fn copy(src: *const u8, dst: *mut u8, bytes: usize) {
    let turns = bytes / 256;
    if turns == 0 {
        return;
    }
    // SAFETY: the caller promises `bytes` readable and writable bytes.
    unsafe {
        asm!(
            "2:",
            ".irp i,0,32,64,96,128,160,192,224",
            "ldp q0, q1, [{src}, #\\i]",
            "stp q0, q1, [{dst}, #\\i]",
            ".endr",
            "add {src}, {src}, #256",
            "add {dst}, {dst}, #256",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            src = inout(reg) src => _,
            dst = inout(reg) dst => _,
            left = inout(reg) turns => _,
            out("v0") _, out("v1") _,
            options(nostack),
        );
    }
}
