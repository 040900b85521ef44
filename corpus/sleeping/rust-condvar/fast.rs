fn main() {
    let mut value = 1u64;
    for _ in 0..15 {
        for i in 0..3_000_000u64 {
            value = (value ^ (value >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i);
        }
    }
    println!("{value}");
}
