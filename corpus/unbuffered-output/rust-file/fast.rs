//! Random numbers on one line, written through a `BufWriter`.
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::FromRawFd;

fn main() -> std::io::Result<()> {
    // SAFETY: descriptor 1 is open, and nothing else in this program owns it.
    let mut output = BufWriter::new(unsafe { File::from_raw_fd(1) });
    let mut state: u32 = 1;
    for _ in 0..600_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        write!(output, "{} ", state >> 20)?;
    }
    writeln!(output)?;
    output.flush()
}
