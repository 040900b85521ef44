//! A log of half a million lines, through a `BufWriter`.
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut output = BufWriter::new(io::stdout().lock());
    let mut state: u32 = 1;
    for i in 0..500_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let word = if state & 1024 != 0 {
            "ready"
        } else {
            "waiting"
        };
        writeln!(output, "item {i:06} has value {state:010} and state {word}")?;
    }
    output.flush()
}
