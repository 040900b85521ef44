//! Hands values to a worker through a channel, in which it sleeps.

fn main() {
    let (give, take) = std::sync::mpsc::sync_channel::<u64>(1);
    let worker = std::thread::spawn(move || take.iter().fold(0u64, |sum, value| sum.wrapping_add(value)));
    let mut value = 1u64;
    for _ in 0..10 {
        for _ in 0..12_000_000 {
            value = (value ^ (value >> 29)).wrapping_mul(0x9E3779B97F4A7C15) | 1;
        }
        give.send(value >> 1 | 1).unwrap();
    }
    drop(give);
    println!("{}", worker.join().unwrap());
}
