//! Six jobs, without back-off.

fn work(value: u64) -> u64 {
    (0..8_000_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() {
    let mut value = 1;
    for _ in 0..6 {
        value = work(value);
    }
    println!("{value:016x}");
}
