//! Threads hash numbers; all of them hold the lock of the total while they do.
use std::sync::Mutex;
use std::thread;

const JOBS: u64 = 8000;

fn work(value: u64) -> u64 {
    (0..40_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() {
    let count = 2 * thread::available_parallelism().map_or(1, usize::from) as u64;
    let total = Mutex::new(0u64);
    thread::scope(|scope| {
        for first in 0..count {
            let total = &total;
            scope.spawn(move || {
                for job in (first..JOBS).step_by(count as usize) {
                    let mut total = total.lock().expect("no thread panics");
                    *total = total.wrapping_add(work(job + 1));
                }
            });
        }
    });
    println!("{:016x}", total.into_inner().expect("no thread panics"));
}
