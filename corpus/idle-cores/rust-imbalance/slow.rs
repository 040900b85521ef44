fn work(items: u64) -> u64 {
    (0..items * 25_000).fold(1u64, |v, i| (v ^ (v >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i))
}

fn main() {
    let parts = [10u64, 190];
    let threads: Vec<_> = parts.iter().map(|&items| std::thread::spawn(move || (0..items).fold(0, |sum, _| sum ^ work(60)))).collect();
    let total = threads.into_iter().fold(0, |sum, thread| sum ^ thread.join().unwrap());
    println!("{total}");
}
