//! Writes lines of 16 bytes to standard output in one of six ways, to count the write calls of each.
//!
//!     lines WAY COUNT
//!
//! println        `println!` for each line
//! lock           the same through `stdout().lock()`, taken once
//! lock-pieces    each line in three pieces through the lock, as a pretty-printer writes
//! bufwriter      the pieces through `BufWriter::new(stdout().lock())`
//! linewriter     the pieces through a `LineWriter` around the bare file, as inside stdout()
//! file           the pieces to the bare file

use std::fs::File;
use std::io::{self, BufWriter, LineWriter, Write, stdout};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

/// A line of 16 bytes in three pieces.
fn pieces(out: &mut impl Write, number: u32) -> io::Result<()> {
    out.write_all(b"{event, ")?;
    write!(out, "{number:06}")?;
    out.write_all(b"}\n")
}

fn all_pieces(out: &mut impl Write, count: u32) -> io::Result<()> {
    (0..count).try_for_each(|number| pieces(out, number % 1_000_000))?;
    out.flush()
}

/// Returns standard output as a file, without the library's buffer.
fn bare() -> ManuallyDrop<File> {
    // SAFETY: descriptor 1 is open for the whole run, and `ManuallyDrop` keeps it so.
    ManuallyDrop::new(unsafe { File::from_raw_fd(1) })
}

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(way), Some(count)) = (words.next(), words.next()) else {
        eprintln!("usage: lines WAY COUNT");
        std::process::exit(2);
    };
    let count: u32 = count.parse().map_err(io::Error::other)?;
    match way.as_str() {
        "println" => {
            for number in 0..count {
                println!("{{event, {:06}}}", number % 1_000_000);
            }
            Ok(())
        }
        "lock" => {
            let mut out = stdout().lock();
            (0..count).try_for_each(|n| writeln!(out, "{{event, {:06}}}", n % 1_000_000))
        }
        "lock-pieces" => all_pieces(&mut stdout().lock(), count),
        "bufwriter" => all_pieces(&mut BufWriter::new(stdout().lock()), count),
        "linewriter" => all_pieces(&mut LineWriter::new(&*bare()), count),
        "file" => all_pieces(&mut &*bare(), count),
        other => Err(io::Error::other(format!("no way is called {other}"))),
    }
}
