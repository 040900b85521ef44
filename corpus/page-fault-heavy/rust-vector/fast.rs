//! Add 50 million numbers up as they come.
fn main() {
    let mut state: u64 = 1;
    let total = (0..50_000_000).fold(0, |sum: u64, _| {
        state = (state ^ (state >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        sum.wrapping_add(state)
    });
    println!("{total:016x}");
}
