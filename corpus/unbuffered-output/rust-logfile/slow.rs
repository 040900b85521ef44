use std::fs::OpenOptions;
use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut log = OpenOptions::new().create(true).write(true).truncate(true).open("events.log")?;
    let mut state = 1u64;
    for event in 0..60000 {
        for _ in 0..2000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        }
        write!(log, "{event};{};{}\n", state >> 40, state & 0xff)?;
    }
    println!("{state}");
    Ok(())
}
