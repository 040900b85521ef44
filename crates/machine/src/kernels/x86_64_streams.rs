//! Sequential memory traffic for x86-64: 256 bytes per iteration, with 32-byte accesses if the processor has
//! AVX2 and 16-byte ones otherwise.
//!
//! Inline assembly, because compilers replace such loops by `memset` and `memcpy`, which switch between plain
//! and non-temporal stores by size: the figure must state which one it measures.

use std::arch::asm;
use std::sync::OnceLock;

fn wide() -> bool {
    static WIDE: OnceLock<bool> = OnceLock::new();
    *WIDE.get_or_init(|| std::arch::is_x86_feature_detected!("avx2"))
}

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
        if wide() {
            asm!(
                "vpxor ymm0, ymm0, ymm0",
                "vpxor ymm1, ymm1, ymm1",
                "vpxor ymm2, ymm2, ymm2",
                "vpxor ymm3, ymm3, ymm3",
                "2:",
                "vpaddq ymm0, ymm0, [{at}]",
                "vpaddq ymm1, ymm1, [{at} + 32]",
                "vpaddq ymm2, ymm2, [{at} + 64]",
                "vpaddq ymm3, ymm3, [{at} + 96]",
                "vpaddq ymm0, ymm0, [{at} + 128]",
                "vpaddq ymm1, ymm1, [{at} + 160]",
                "vpaddq ymm2, ymm2, [{at} + 192]",
                "vpaddq ymm3, ymm3, [{at} + 224]",
                "add {at}, 256",
                "dec {left}",
                "jnz 2b",
                "vpaddq ymm0, ymm0, ymm1",
                "vpaddq ymm2, ymm2, ymm3",
                "vpaddq ymm0, ymm0, ymm2",
                "vmovdqu [{lanes}], ymm0",
                "vzeroupper",
                at = inout(reg) at => _,
                left = inout(reg) turns => _,
                lanes = in(reg) lanes.as_mut_ptr(),
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                options(nostack),
            );
        } else {
            asm!(
                "pxor xmm0, xmm0",
                "pxor xmm1, xmm1",
                "2:",
                ".irp i,0,32,64,96,128,160,192,224",
                "paddq xmm0, [{at} + \\i]",
                "paddq xmm1, [{at} + \\i + 16]",
                ".endr",
                "add {at}, 256",
                "dec {left}",
                "jnz 2b",
                "movdqu [{lanes}], xmm0",
                "movdqu [{lanes} + 16], xmm1",
                at = inout(reg) at => _,
                left = inout(reg) turns => _,
                lanes = in(reg) lanes.as_mut_ptr(),
                out("xmm0") _, out("xmm1") _,
                options(nostack),
            );
        }
    }
    lanes.iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
}

/// Reads the first of every four 32-bit words of `bytes` (a multiple of 256) and returns their sum.
///
/// Each iteration has a separate sum, as in lmbench: if every addition depended on the one before, waiting
/// additions would fill the core's scheduler, and fewer lines would be in flight (11.5 instead of 13.0 GB/s,
/// Intel of 2023).
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
            "mov {turn:e}, dword ptr [{at}]",
            ".irp i,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240",
            "add {turn:e}, dword ptr [{at} + \\i]",
            ".endr",
            "add {sum:e}, {turn:e}",
            "add {at}, 256",
            "dec {left}",
            "jnz 2b",
            at = inout(reg) at => _,
            left = inout(reg) turns => _,
            sum = inout(reg) sum,
            turn = out(reg) _,
            options(nostack, readonly),
        );
    }
    u64::from(sum)
}

/// Fills `bytes` (a multiple of 256) with `value` by plain stores.
///
/// # Safety
/// `at` must be aligned to 32 and writable for `bytes`.
pub(crate) unsafe fn write(at: *mut u8, bytes: usize, value: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe { fill::<false>(at, bytes, value) }
}

/// Fills `bytes` (a multiple of 256) with `value` by stores that bypass the caches.
///
/// # Safety
/// `at` must be aligned to 32 and writable for `bytes`.
pub(crate) unsafe fn write_around(at: *mut u8, bytes: usize, value: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe { fill::<true>(at, bytes, value) }
}

macro_rules! fill_loop {
    ($at:ident, $turns:ident, $value:ident, $spread:literal, $store:literal, $offsets:literal) => {
        asm!(
            "movq xmm0, {value}",
            "punpcklqdq xmm0, xmm0",
            $spread,
            "2:",
            concat!(".irp i,", $offsets),
            $store,
            ".endr",
            "add {at}, 256",
            "dec {left}",
            "jnz 2b",
            "sfence",
            at = inout(reg) $at => _,
            left = inout(reg) $turns => _,
            value = in(reg) $value,
            out("xmm0") _,
            options(nostack),
        )
    };
}

unsafe fn fill<const AROUND: bool>(at: *mut u8, bytes: usize, value: u64) {
    let turns = bytes / 256;
    if turns == 0 {
        return;
    }
    // SAFETY: the caller promises `bytes` writable bytes, aligned to 32.
    unsafe {
        match (wide(), AROUND) {
            (true, false) => fill_loop!(
                at,
                turns,
                value,
                "vinserti128 ymm0, ymm0, xmm0, 1",
                "vmovdqa [{at} + \\i], ymm0",
                "0,32,64,96,128,160,192,224"
            ),
            (true, true) => fill_loop!(
                at,
                turns,
                value,
                "vinserti128 ymm0, ymm0, xmm0, 1",
                "vmovntdq [{at} + \\i], ymm0",
                "0,32,64,96,128,160,192,224"
            ),
            (false, false) => fill_loop!(
                at,
                turns,
                value,
                "",
                "movdqa [{at} + \\i], xmm0",
                "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240"
            ),
            (false, true) => fill_loop!(
                at,
                turns,
                value,
                "",
                "movntdq [{at} + \\i], xmm0",
                "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240"
            ),
        }
        if wide() {
            asm!("vzeroupper", out("xmm0") _, options(nomem, nostack));
        }
    }
}

macro_rules! copy_loop {
    ($src:ident, $dst:ident, $turns:ident, $load:literal, $store:literal, $offsets:literal) => {
        asm!(
            "2:",
            concat!(".irp i,", $offsets),
            $load,
            $store,
            ".endr",
            "add {src}, 256",
            "add {dst}, 256",
            "dec {left}",
            "jnz 2b",
            src = inout(reg) $src => _,
            dst = inout(reg) $dst => _,
            left = inout(reg) $turns => _,
            out("xmm0") _,
            options(nostack),
        )
    };
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
    // SAFETY: the caller promises `bytes` readable and writable bytes, aligned to 32.
    unsafe {
        if wide() {
            copy_loop!(
                src,
                dst,
                turns,
                "vmovdqa ymm0, [{src} + \\i]",
                "vmovdqa [{dst} + \\i], ymm0",
                "0,32,64,96,128,160,192,224"
            );
            asm!("vzeroupper", out("xmm0") _, options(nomem, nostack));
        } else {
            copy_loop!(
                src,
                dst,
                turns,
                "movdqa xmm0, [{src} + \\i]",
                "movdqa [{dst} + \\i], xmm0",
                "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240"
            );
        }
    }
}
