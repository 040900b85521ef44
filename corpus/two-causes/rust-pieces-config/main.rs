//! Writes a row for each of 60,000 items to a file without a buffer; each 6th reads the settings again.
use std::io::{BufWriter, Write};
use std::{env, fs, io};

fn setting(text: &str, name: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line[name.len() + 1..].parse().ok()).unwrap_or(1)
}

fn rows(out: &mut impl Write, reads: bool, path: &str) -> io::Result<()> {
    let mut text = fs::read_to_string(path)?;
    let mut state = 1u64;
    for item in 0..60_000u64 {
        if reads && item % 6 == 0 {
            text = fs::read_to_string(path)?;
        }
        for _ in 0..800 {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        state ^= setting(&text, ["key000000", "key000003"][item as usize % 2]);
        write!(out, "{item};{};{};{}\n", state % 10, state % 100, state % 1000)?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let path = env::args().nth(1).expect("usage: main SETTINGS");
    let mut file = fs::File::create("rows.csv")?;
    let reads = env::var_os("SECOND").is_some();
    match env::var_os("FIRST") {
        Some(_) => rows(&mut file, reads, &path),
        None => rows(&mut BufWriter::new(file), reads, &path),
    }
}
