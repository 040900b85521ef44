//! Walk a tree of 2000 files once, and use what was seen 150 times.
use std::{fs, io, path::Path};

fn largest(root: &Path) -> io::Result<u64> {
    let mut largest = 0;
    for folder in fs::read_dir(root)? {
        for file in fs::read_dir(folder?.path())? {
            largest = largest.max(file?.metadata()?.len());
        }
    }
    Ok(largest)
}

fn work(value: u64) -> u64 {
    (0..300_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() -> io::Result<()> {
    let root = std::env::args().nth(1).expect("usage: metadata FOLDER");
    let largest = largest(Path::new(&root))?;
    let mut value = 0;
    for _ in 0..150 {
        value = work(value + largest);
    }
    println!("{value:016x}");
    Ok(())
}
