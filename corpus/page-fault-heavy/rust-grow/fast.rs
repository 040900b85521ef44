fn main() {
    let mut state = 1u64;
    let mut sum = 0u64;
    for _ in 0..40_000_000u64 {
        state = (state ^ (state >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(7);
        sum ^= state;
    }
    println!("{sum}");
}
