//! Collect 50 million numbers only to add them up.
fn main() {
    let mut state: u64 = 1;
    let numbers: Vec<u64> = (0..50_000_000)
        .map(|_| {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            state
        })
        .collect();
    let total = numbers
        .iter()
        .fold(0, |sum: u64, number| sum.wrapping_add(*number));
    println!("{total:016x}");
}
