//! Smooths an image again and again, between two planes.
const BYTES: usize = 6 << 20;
const STEPS: usize = 30;

fn smooth(from: &[u8], to: &mut [u8]) {
    for (triple, byte) in from.windows(3).zip(&mut to[1..]) {
        let sum = u16::from(triple[0]) + 2 * u16::from(triple[1]) + u16::from(triple[2]);
        *byte = (sum >> 2) as u8;
    }
}

fn main() {
    let mut image: Vec<u8> = (0..BYTES).map(|i| (i * 7919 >> 3) as u8).collect();
    let mut next = vec![0u8; BYTES];
    let mut sum = 0u64;
    for _ in 0..STEPS {
        smooth(&image, &mut next);
        sum = sum * 31 + u64::from(next[BYTES / 2]);
        std::mem::swap(&mut image, &mut next);
    }
    println!("{sum:x}");
}
