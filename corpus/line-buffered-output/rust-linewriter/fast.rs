// Exports a table of 400000 rows to a file.
use std::fs::File;
use std::io::{BufWriter, Write};

fn main() {
    let mut out = BufWriter::new(File::create("table.csv").unwrap());
    let mut total = 0u64;
    for row in 0..400_000u32 {
        let value = row.wrapping_mul(2654435761) >> 7;
        total += u64::from(value);
        writeln!(out, "{row},{value},{}", if row % 3 == 0 { "yes" } else { "no" }).unwrap();
    }
    out.flush().unwrap();
    println!("{total}");
}
