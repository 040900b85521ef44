extern "C" {
    fn times(buffer: *mut [i64; 4]) -> i64;
}

fn main() {
    let mut state = 1u64;
    let mut slow = 0;
    for _ in 0..250_000 {
        let mut before = [0i64; 4];
        // SAFETY: writes the four numbers of a live array.
        unsafe { times(&mut before) };
        for i in 0..150u64 {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(i);
        }
        if before[0] > 1_000_000 {
            slow += 1;
        }
    }
    println!("{state} {slow}");
}
