//! Hands values to a worker through one slot; the worker spins until there is one.

use std::sync::atomic::{AtomicU64, Ordering::*};

static SLOT: AtomicU64 = AtomicU64::new(0);

fn main() {
    let worker = std::thread::spawn(|| {
        let mut sum = 0u64;
        loop {
            let mut value = SLOT.swap(0, AcqRel);
            while value == 0 {
                std::hint::spin_loop();
                value = SLOT.load(Acquire);
                if value != 0 {
                    value = SLOT.swap(0, AcqRel);
                }
            }
            if value == u64::MAX {
                return sum;
            }
            sum = sum.wrapping_add(value);
        }
    });
    let mut value = 1u64;
    for _ in 0..10 {
        for _ in 0..12_000_000 {
            value = (value ^ (value >> 29)).wrapping_mul(0x9E3779B97F4A7C15) | 1;
        }
        SLOT.store(value >> 1 | 1, Release);
    }
    while SLOT.load(Acquire) != 0 {
        std::thread::yield_now();
    }
    SLOT.store(u64::MAX, Release);
    println!("{}", worker.join().unwrap());
}
