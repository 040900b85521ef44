//! A checksum of standard input, read through a `BufReader`.
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::fd::FromRawFd;

fn mix(sum: u64, byte: u8) -> u64 {
    (0..24).fold(sum ^ u64::from(byte), |sum, _| {
        (sum ^ (sum >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() -> std::io::Result<()> {
    // SAFETY: descriptor 0 is open, and nothing else in this program owns it.
    let input = BufReader::new(unsafe { File::from_raw_fd(0) });
    let mut sum = 0;
    for byte in input.bytes() {
        sum = mix(sum, byte?);
    }
    println!("{sum:016x}");
    Ok(())
}
