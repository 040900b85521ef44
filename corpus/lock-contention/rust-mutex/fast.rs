//! Threads hash numbers; each keeps its own sum and locks once.
use std::sync::Mutex;
use std::thread;

const JOBS: u64 = 8000;

fn work(value: u64) -> u64 {
    (0..40_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() {
    let count = thread::available_parallelism().map_or(1, usize::from) as u64;
    let total = Mutex::new(0u64);
    thread::scope(|scope| {
        for first in 0..count {
            let total = &total;
            scope.spawn(move || {
                let jobs = (first..JOBS).step_by(count as usize);
                let sum = jobs.fold(0u64, |sum, job| sum.wrapping_add(work(job + 1)));
                let mut total = total.lock().expect("no thread panics");
                *total = total.wrapping_add(sum);
            });
        }
    });
    println!("{:016x}", total.into_inner().expect("no thread panics"));
}
