use std::sync::{Arc, RwLock};
use std::thread;

fn compute(seed: u64) -> u64 {
    (0..300_000u64).fold(seed, |value, i| (value ^ (value >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i))
}

fn main() {
    let table = Arc::new(RwLock::new(vec![0u64; 3]));
    let threads: Vec<_> = (0..3usize)
        .map(|mine| {
            let table = table.clone();
            thread::spawn(move || {
                for round in 0..150 {
                    let value = compute(round);
                    table.write().unwrap()[mine] ^= value;
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", table.read().unwrap());
}
