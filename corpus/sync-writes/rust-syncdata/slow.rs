//! 2000 saves of a counter; each is brought to the disk.
use std::fs::File;
use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut journal = File::create("journal")?;
    let mut value: u64 = 1;
    let mut records = Vec::new();
    for _ in 0..2000 {
        for _ in 0..20_000 {
            value = (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        records.extend_from_slice(&value.to_le_bytes());
        journal.write_all(&records)?;
        journal.sync_data()?;
        records.clear();
    }
    journal.write_all(&records)?;
    journal.sync_data()?;
    println!("{value:016x}");
    Ok(())
}
