//! Checks that parsers of foreign bytes survive malformed input.
//!
//! A few bytes of valid input are changed, thousands of times, from a fixed seed. A parser must neither panic
//! nor use more memory than a limit.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::most_in;

/// Number of mutations per test.
const ROUNDS: u64 = 4_000;
/// Maximum number of changes per mutation.
const MOST_CHANGES: u64 = 6;

/// Marsaglia's xorshift, which generates the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns either a number that is difficult for parsers or an arbitrary one.
    fn number(&mut self) -> u64 {
        let likely = [
            0,
            1,
            0x7f,
            0xff,
            0x7fff_ffff,
            0xffff_ffff,
            u64::MAX >> 1,
            u64::MAX,
        ];
        match self.below(2) {
            0 => likely[self.below(likely.len() as u64) as usize],
            _ => self.next(),
        }
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() as u64) as usize;
        match self.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, self.next() as u8),
            2 if !bytes.is_empty() => _ = bytes.remove(at),
            3 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            4 => {
                let number = self.number().to_ne_bytes();
                let length = [1, 2, 4, 8][self.below(4) as usize];
                for (byte, new) in bytes[at..].iter_mut().zip(&number[..length]) {
                    *byte = *new;
                }
            }
            _ => {
                let length = self.below(16) as usize;
                let end = bytes.len().min(at + length);
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
}

/// Parses each of the inputs unchanged, and mutations of them.
///
/// The allocator of the test binary must be [`Counting`](crate::Counting).
///
/// # Panics
/// If `parse` panics, or holds more than `most_bytes`; reports the input.
pub fn survives(inputs: &[Vec<u8>], most_bytes: usize, parse: impl Fn(&[u8])) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut mutated = |round: u64| {
        let mut bytes = inputs[round as usize % inputs.len()].clone();
        if round >= inputs.len() as u64 {
            for _ in 0..=random.below(MOST_CHANGES) {
                random.change(&mut bytes);
            }
        }
        bytes
    };
    for round in 0..ROUNDS {
        let bytes = mutated(round);
        let mut outcome = Ok(());
        let most = most_in(|| outcome = catch_unwind(AssertUnwindSafe(|| parse(&bytes))));
        assert!(outcome.is_ok(), "round {round}: panicked on {bytes:02x?}");
        assert!(
            most <= most_bytes as isize,
            "round {round}: {most} bytes at a time for {bytes:02x?}"
        );
    }
}
