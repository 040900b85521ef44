//! A thread for each of 12,000 requests that take 3 us.
use std::thread;

fn answer(request: u64) -> u64 {
    let mut value = request;
    for round in 0..3000u64 {
        value = value.wrapping_mul(6364136223846793005).wrapping_add(round);
    }
    value
}

fn main() {
    let mut sum = 0u64;
    for request in 0..12_000 {
        let thread = thread::spawn(move || answer(request));
        sum ^= thread.join().expect("an answer");
    }
    println!("{sum}");
}
