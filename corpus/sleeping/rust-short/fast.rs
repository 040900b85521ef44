fn main() {
    let work = |seed: u64| (0..12_000_000u64).fold(seed, |v, i| (v ^ (v >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i));
    let first = work(1);
    println!("{}", work(first));
}
