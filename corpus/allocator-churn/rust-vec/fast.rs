//! Answer 80000 requests; all use one vector.
fn answer(value: u64, room: &mut Vec<u64>) -> u64 {
    let mut value = value;
    for _ in 0..256 {
        value = (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        room.push(value);
    }
    room[value as usize % 256]
}

fn main() {
    let mut value = 1;
    let mut room = Vec::with_capacity(5 << 20);
    for _ in 0..80_000 {
        room.clear();
        value = answer(value, &mut room);
    }
    println!("{value:016x}");
}
