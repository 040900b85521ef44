//! The sum of 8-byte records in a file, through a `BufReader`.
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};

fn mix(sum: u64, value: u64) -> u64 {
    (0..40).fold(sum ^ value, |sum, _| {
        (sum ^ (sum >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() -> std::io::Result<()> {
    let name = std::env::args().nth(1).expect("usage: records FILE");
    let mut file = BufReader::new(File::open(name)?);
    let mut record = [0; 8];
    let mut sum = 0;
    loop {
        match file.read_exact(&mut record) {
            Ok(()) => sum = mix(sum, u64::from_le_bytes(record)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    println!("{sum:016x}");
    Ok(())
}
