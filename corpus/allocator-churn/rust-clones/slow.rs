//! Normalises the fields of made-up records; each step makes a new String of each field.

fn main() {
    let mut state = 7u64;
    let mut sum = 0u64;
    for _ in 0..1_600_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        let fields: Vec<String> = (0..6)
            .map(|field| ["alpha", "beta", "gamma", "delta"][(state >> (field * 8)) as usize & 3])
            .map(str::to_string)
            .collect();
        let kept: Vec<String> = fields.clone();
        sum += kept.iter().map(|field| field.len() as u64).sum::<u64>();
        sum ^= u64::from(fields[(state >> 60) as usize % 6].as_bytes()[0]);
    }
    println!("{sum}");
}
