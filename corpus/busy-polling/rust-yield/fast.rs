//! Threads compute on all CPUs but one; the main thread joins them.
use std::thread;

fn work(value: u64) -> u64 {
    (0..250_000_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let count = cpus.saturating_sub(1).max(1);
    let threads: Vec<_> = (1..=count as u64)
        .map(|first| thread::spawn(move || work(first)))
        .collect();
    let total = threads
        .into_iter()
        .map(|thread| thread.join().expect("no thread panics"))
        .fold(0, u64::wrapping_add);
    println!("{total:016x}");
}
