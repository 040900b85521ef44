//! The same results in plain Rust, for architectures without machine code here.
//!
//! Good enough for latencies of memory and for bandwidth, which are bound by the memory and not
//! by the form of the loop. Probes that claim cycles check [`EXACT`] and give no figure.

use std::hint::black_box;
use std::time::Instant;

/// See the module: these loops are the compiler's.
pub const EXACT: bool = false;

/// Returns `iterations` x 256.
pub fn dependent_adds(iterations: u64) -> u64 {
    (0..iterations.max(1) * 256).fold(0, |sum, _| black_box(sum) + 1)
}

/// Follows `rounds` x 16 pointers.
///
/// # Safety
/// `start` must point to a cell that holds a pointer to such a cell, and so on.
pub unsafe fn chase(start: *const u8, rounds: u64) -> *const u8 {
    let mut at = start;
    for _ in 0..rounds.max(1) * 16 {
        // SAFETY: the caller promises that every cell that is reached holds a valid pointer.
        at = unsafe { at.cast::<*const u8>().read_volatile() };
    }
    at
}

/// Nanoseconds since the first call: there is no counter to read directly.
pub fn ticks() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Ticks that one load takes; far too coarse for a cache hit.
///
/// # Safety
/// `at` must be readable.
pub unsafe fn timed_load(at: *const u8) -> u64 {
    let start = ticks();
    // SAFETY: handed on from the caller.
    unsafe { fenced_load(at) };
    ticks() - start
}

/// Loads one byte.
///
/// # Safety
/// `at` must be readable.
pub unsafe fn fenced_load(at: *const u8) {
    // SAFETY: the caller promises that `at` is readable.
    black_box(unsafe { at.read_volatile() });
}

/// Counts the ones of bit 17 of a xorshift stream.
pub fn random_branches(state: &mut u64, count: u64, mask: u64) -> u64 {
    let mut ones = 0;
    for _ in 0..count.max(1) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        ones += u64::from((*state >> 17) & mask != 0);
    }
    ones
}

/// Counts the bytes that are not zero.
pub fn pattern_branches(pattern: &[u8]) -> u64 {
    pattern.iter().filter(|byte| **byte != 0).count() as u64
}

/// Running sums.
pub fn prefix_through_memory(src: &[u64], dst: &mut [u64]) {
    prefix_through_register(src, dst);
}

/// Running sums.
pub fn prefix_through_register(src: &[u64], dst: &mut [u64]) {
    let mut sum = 0u64;
    for (to, from) in dst.iter_mut().zip(src) {
        sum = sum.wrapping_add(*from);
        *to = sum;
    }
}

/// Differences of neighbours.
pub fn differences(src: &[u64], dst: &mut [u64]) {
    for (to, pair) in dst.iter_mut().zip(src.windows(2)) {
        *to = pair[1].wrapping_sub(pair[0]);
    }
}

/// There is nothing to ask.
pub fn identify() -> Option<u32> {
    None
}

pub mod streams {
    //! Sequential memory traffic.

    /// Sum of the 64-bit words.
    ///
    /// # Safety
    /// `at` must be aligned to 32 and readable for `bytes`.
    pub unsafe fn read(at: *const u8, bytes: usize) -> u64 {
        // SAFETY: the caller promises aligned, readable bytes.
        let words = unsafe { std::slice::from_raw_parts(at.cast::<u64>(), bytes / 256 * 32) };
        words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
    }

    /// Sum of the first of each four 32-bit words.
    ///
    /// # Safety
    /// `at` must be aligned to 4 and readable for `bytes`.
    pub unsafe fn read_words(at: *const u8, bytes: usize) -> u64 {
        let places = (0..bytes / 256 * 256).step_by(16);
        // SAFETY: the caller promises `bytes` readable bytes. Volatile, so that it stays a load of
        // 4 bytes.
        let word = |place| unsafe { at.add(place).cast::<u32>().read_volatile() };
        u64::from(places.map(word).fold(0, u32::wrapping_add))
    }

    /// Plain stores.
    ///
    /// # Safety
    /// `at` must be aligned to 32 and writable for `bytes`.
    pub unsafe fn write(at: *mut u8, bytes: usize, value: u64) {
        // SAFETY: the caller promises aligned, writable bytes.
        let words = unsafe { std::slice::from_raw_parts_mut(at.cast::<u64>(), bytes / 256 * 32) };
        words.fill(std::hint::black_box(value));
    }

    /// The same as [`write`]: plain Rust has no other store.
    ///
    /// # Safety
    /// As for [`write`].
    pub unsafe fn write_around(at: *mut u8, bytes: usize, value: u64) {
        // SAFETY: handed on from the caller.
        unsafe { write(at, bytes, value) }
    }

    /// Copies.
    ///
    /// # Safety
    /// `src` must be readable and `dst` writable for `bytes`, not overlapping.
    pub unsafe fn copy(src: *const u8, dst: *mut u8, bytes: usize) {
        // SAFETY: the caller promises both ranges.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes / 256 * 256) };
    }
}

pub mod chains {
    //! Chains of operations: results only, no claim of throughput.

    /// Operations that the throughput probe knows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Operation {
        /// 64-bit integer addition.
        Add,
        /// 64-bit integer multiplication.
        Multiply,
        /// 64-bit load.
        Load,
        /// Double-precision addition.
        FloatAdd,
        /// Not offered.
        FusedMultiplyAdd,
    }

    /// Doubles in one vector.
    pub const VECTOR_DOUBLES: u64 = 1;
    /// Numbers of chains.
    pub const CHAINS: [usize; 6] = [1, 2, 3, 4, 6, 8];
    /// Instructions of each chain in one turn.
    pub const PER_TURN: u64 = 16;

    /// Whether the operation can be timed: none, as the compiler chooses the instructions.
    pub fn available(_operation: Operation) -> bool {
        false
    }

    /// The ends of the chains.
    pub fn run(operation: Operation, chains: usize, turns: u64) -> [f64; 8] {
        let mut ends = [0f64; 8];
        for end in ends.iter_mut().take(chains) {
            let mut product = 1u64;
            for _ in 0..turns.max(1) * PER_TURN {
                product = std::hint::black_box(product).wrapping_mul(3);
                *end = match operation {
                    Operation::Multiply => product as f64,
                    Operation::Load => 7.0,
                    _ => *end + 1.0,
                };
            }
        }
        ends
    }
}
