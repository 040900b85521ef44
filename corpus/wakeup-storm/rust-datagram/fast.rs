// A front end asks a worker thread for the price of each of 10000 items by a pair of unix datagram sockets.
use std::os::unix::net::UnixDatagram;

const ITEMS: u64 = 10_000;
const BATCH: u64 = 1000;

fn price(mut value: u64) -> u64 {
    for _ in 0..4000 {
        value = (value ^ (value >> 29)).wrapping_mul(0x9E3779B97F4A7C15);
    }
    value
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|one| u64::from_le_bytes(one.try_into().unwrap()))
}

fn main() {
    let (front, back) = UnixDatagram::pair().unwrap();
    let worker = std::thread::spawn(move || {
        let mut question = [0u8; 16384];
        for _ in 0..ITEMS / BATCH {
            let length = back.recv(&mut question).unwrap();
            let answer: Vec<u8> = numbers(&question[..length]).flat_map(|item| price(item).to_le_bytes()).collect();
            back.send(&answer).unwrap();
        }
    });
    let mut sum = 0u64;
    let mut answer = [0u8; 16384];
    for first in (0..ITEMS).step_by(BATCH as usize) {
        let question: Vec<u8> = (first..first + BATCH).flat_map(u64::to_le_bytes).collect();
        front.send(&question).unwrap();
        let length = front.recv(&mut answer).unwrap();
        sum = numbers(&answer[..length]).fold(sum, |sum, price| sum.wrapping_add(price));
    }
    worker.join().unwrap();
    println!("{sum:x}");
}
