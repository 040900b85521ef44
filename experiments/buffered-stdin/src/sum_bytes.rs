//! Sums the bytes of standard input and prints how long that took by its own clock.
//!
//!     sum_bytes unbuffered|buffered
//!
//! `unbuffered` is `File::bytes()`, one read call per byte, because a `File` has no buffer;
//! `buffered` puts a `BufReader` (8 KiB) around the same file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::time::Instant;

fn sum(input: impl Read) -> io::Result<u64> {
    let mut sum = 0;
    for byte in input.bytes() {
        sum += u64::from(byte?);
    }
    Ok(sum)
}

fn main() -> io::Result<()> {
    let unbuffered = std::env::args().nth(1).as_deref() == Some("unbuffered");
    let start = Instant::now();
    let input = File::open("/dev/stdin")?;
    let total = if unbuffered {
        sum(input)?
    } else {
        sum(BufReader::new(input))?
    };
    let took = start.elapsed().as_nanos() as f64 / 1e3;
    println!("sum {total}, took {took:.3} us");
    Ok(())
}
