//! A pool of threads; jobs are dealt out to all queues.
use std::sync::mpsc;
use std::thread;

const JOBS: u64 = 16;

fn work(value: u64) -> u64 {
    (0..25_000_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn queue_of(job: u64, count: u64) -> u64 {
    job % count
}

fn main() {
    let count = thread::available_parallelism().map_or(1, usize::from) as u64;
    let (queues, threads): (Vec<_>, Vec<_>) = (0..count)
        .map(|_| {
            let (queue, jobs) = mpsc::channel();
            (
                queue,
                thread::spawn(move || {
                    jobs.iter()
                        .fold(0, |sum: u64, job| sum.wrapping_add(work(job)))
                }),
            )
        })
        .unzip();
    for job in 1..=JOBS {
        queues[queue_of(job, count) as usize]
            .send(job)
            .expect("the thread waits for jobs");
    }
    drop(queues);
    let total = threads
        .into_iter()
        .map(|thread| thread.join().expect("no thread panics"))
        .fold(0, u64::wrapping_add);
    println!("{total:016x}");
}
