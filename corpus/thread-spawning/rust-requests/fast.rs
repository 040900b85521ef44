//! Two threads share 12,000 requests that take 3 us.
use std::thread;

fn answer(request: u64) -> u64 {
    let mut value = request;
    for round in 0..3000u64 {
        value = value.wrapping_mul(6364136223846793005).wrapping_add(round);
    }
    value
}

fn main() {
    let halves = [0..6_000, 6_000..12_000];
    let threads = halves.map(|half| thread::spawn(move || half.fold(0, |sum, i| sum ^ answer(i))));
    let sum = threads.into_iter().fold(0, |sum, half| sum ^ half.join().expect("a half"));
    println!("{sum}");
}
