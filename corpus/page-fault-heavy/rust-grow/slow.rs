fn main() {
    let mut state = 1u64;
    let mut all = vec![0u64; 40_000_000];
    for entry in all.iter_mut() {
        state = (state ^ (state >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(7);
        *entry = state;
    }
    println!("{}", all.iter().fold(0u64, |sum, entry| sum ^ entry));
}
