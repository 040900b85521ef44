use std::sync::{Condvar, Mutex};
use std::time::Duration;

fn main() {
    let (lock, ready) = (Mutex::new(false), Condvar::new());
    let mut value = 1u64;
    for _ in 0..15 {
        let guard = lock.lock().unwrap();
        let _ = ready.wait_timeout(guard, Duration::from_millis(20)).unwrap();
        for i in 0..3_000_000u64 {
            value = (value ^ (value >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i);
        }
    }
    println!("{value}");
}
