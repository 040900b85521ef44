//! Counts words and their lengths in a made-up text.

fn text(size: usize) -> Vec<u8> {
    let mut state: u32 = 99;
    let mut text = Vec::with_capacity(size);
    for _ in 0..size {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let letter = (state >> 24) as u8 % 32;
        text.push(if letter < 26 { b'a' + letter } else { b' ' });
    }
    text
}

fn lengths(text: &[u8]) -> [u64; 64] {
    let mut lengths = [0; 64];
    let mut length = 0usize;
    for byte in text.iter().copied().chain(std::iter::once(b' ')) {
        if byte == b' ' {
            lengths[length.min(63)] += 1;
            length = 0;
        } else {
            length += 1;
        }
    }
    lengths
}

fn main() {
    let text = text(1 << 20);
    let mut sum = 0;
    for _ in 0..10 {
        let lengths = lengths(&text);
        sum += (1..64).map(|at| lengths[at] * at as u64).sum::<u64>();
    }
    println!("{sum}");
}
