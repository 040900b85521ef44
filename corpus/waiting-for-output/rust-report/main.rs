//! A report of 60000 lines, each with a value that takes some work.
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut output = BufWriter::new(io::stdout().lock());
    let mut value: u64 = 1;
    for i in 0..60_000 {
        for _ in 0..600 {
            value = (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        writeln!(output, "item {i:06} has value {value:020} and state ready")?;
    }
    output.flush()
}
