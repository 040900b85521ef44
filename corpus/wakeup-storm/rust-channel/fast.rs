//! A producer hands 60000 numbers to a consumer, a thousand at a time.
use std::sync::mpsc;
use std::thread;

const NUMBERS: u64 = 60_000;
const BATCH: u64 = 1000;

fn work(value: u64) -> u64 {
    (0..500).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let producer = thread::spawn(move || {
        for first in (0..NUMBERS).step_by(BATCH as usize) {
            let batch: Vec<u64> = (first..first + BATCH).map(work).collect();
            sender.send(batch).expect("the receiver is there");
        }
    });
    let total = receiver.iter().flatten().fold(0, u64::wrapping_add);
    producer.join().expect("no thread panics");
    println!("{total:016x}");
}
