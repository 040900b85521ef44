//! Twelve busy threads for every CPU.
use std::thread;

const THREADS_A_CPU: usize = 12;
const CHUNKS: usize = 480;

fn work(value: u64) -> u64 {
    (0..1_000_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() {
    let count = THREADS_A_CPU * thread::available_parallelism().map_or(1, usize::from);
    let chunks = |first| {
        (first..CHUNKS)
            .step_by(count)
            .fold(0, |sum: u64, chunk| sum.wrapping_add(work(chunk as u64)))
    };
    let total = thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|first| scope.spawn(move || chunks(first)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .fold(0, u64::wrapping_add)
    });
    println!("{total:016x}");
}
