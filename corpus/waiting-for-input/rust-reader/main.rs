//! Weighs the lines of standard input, which a thread of its own reads and hands over in batches.
use std::io::BufRead;
use std::sync::mpsc;
use std::thread;

const BATCH: usize = 400;
const ROUNDS: u64 = 60;

fn weight(line: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for round in 0..ROUNDS {
        for byte in line.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3) + round;
        }
    }
    hash
}

fn main() {
    let (sender, batches) = mpsc::channel::<Vec<String>>();
    let reader = thread::spawn(move || {
        let mut batch = Vec::new();
        for line in std::io::stdin().lock().lines() {
            batch.push(line.expect("a line"));
            if batch.len() == BATCH {
                sender.send(std::mem::take(&mut batch)).expect("a receiver");
            }
        }
        sender.send(batch).expect("a receiver");
    });
    let (mut lines, mut sum) = (0, 0u64);
    for batch in batches {
        lines += batch.len();
        sum = batch.iter().fold(sum, |sum, line| sum.wrapping_add(weight(line)));
    }
    reader.join().expect("the reader");
    println!("{lines} lines, {sum:x}");
}
