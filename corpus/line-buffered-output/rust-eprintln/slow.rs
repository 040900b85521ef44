fn main() {
    let mut state = 1u64;
    for item in 0..60_000u64 {
        for i in 0..1000u64 {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i);
        }
        eprintln!("item {item} is done");
    }
    println!("{state}");
}
