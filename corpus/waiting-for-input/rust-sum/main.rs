use std::io::BufRead;

fn main() {
    let mut total = 0u64;
    for line in std::io::stdin().lock().lines() {
        let mut value: u64 = line.unwrap().parse().unwrap();
        for _ in 0..1000 {
            value = value.wrapping_mul(6364136223846793005).rotate_left(7);
        }
        total = total.wrapping_add(value);
    }
    println!("{total}");
}
