//! Damages files at random, and checks invariants of what is read from them.

use fathom_exchange::{Imported, Values};
use rand::RngExt;
use rand::rngs::SmallRng;

/// Pieces that are difficult for parsers.
const PIECES: &[&[u8]] = &[
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"null",
    b"{}",
    b"[]",
    b"\"",
    b"\\",
    b"[[[[[[[[",
    b"{\"a\":",
    b"\xff\xfe",
    b"\0",
    b"\n",
    b"\r\n",
    b",,,,,,",
    b"<!DOCTYPE a>",
    b"&a;",
    b"</",
    b"-0",
    b" ",
    b"\t",
    b"%",
    b"=",
    b"Benchmark",
    b"inf",
    b"\xe2\x94\x82",
];

/// Returns the same bytes with one to five places cut, duplicated, changed or replaced.
pub(crate) fn mutated(bytes: &[u8], random: &mut SmallRng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..6) {
        let at = random.random_range(0..bytes.len().max(1)).min(bytes.len());
        let end = (at + random.random_range(0..40)).min(bytes.len());
        match random.random_range(0..5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 if at < bytes.len() => bytes[at] = random.random_range(0..=255),
            _ => drop(bytes.splice(
                at..end.min(at + 4),
                PIECES[random.random_range(0..PIECES.len())].to_vec(),
            )),
        }
    }
    bytes
}

/// Asserts that the result contains nothing that later processing can't handle.
pub(crate) fn sound(imported: &Imported) {
    for benchmark in &imported.benchmarks {
        match &benchmark.values {
            Values::Samples(samples) => {
                assert!(
                    !samples.is_empty() && samples.iter().all(|sample| sample.is_finite()),
                    "{benchmark:?}"
                );
                assert!(benchmark.iterations.len() <= samples.len(), "{benchmark:?}");
            }
            Values::Summary(summary) => {
                let figures = [
                    summary.value,
                    summary.mean,
                    summary.median,
                    summary.low,
                    summary.high,
                    summary.max,
                ];
                assert!(
                    figures.iter().flatten().all(|figure| figure.is_finite()),
                    "{benchmark:?}"
                );
            }
        }
    }
}
