use std::time::Instant;

fn main() {
    let mut state = 1u64;
    let mut slow = 0;
    for _ in 0..250_000 {
        let before = Instant::now();
        for i in 0..150u64 {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i);
        }
        if before.elapsed().as_secs() > 100 {
            slow += 1;
        }
    }
    println!("{state} {slow}");
}
