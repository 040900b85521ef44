use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

fn main() -> std::io::Result<()> {
    let mut log = OpenOptions::new().create(true).write(true).truncate(true).custom_flags(0o10000).open("log")?;
    let mut state = 1u64;
    for record in 0..400u64 {
        for i in 0..50_000u64 {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i);
        }
        log.write_all(format!("record {record} {state:x}\n").repeat(20).as_bytes())?;
    }
    println!("{state}");
    Ok(())
}
