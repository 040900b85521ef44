//! A log of half a million lines. `println!` flushes at every newline, also into a file or pipe.
fn main() {
    let mut state: u32 = 1;
    for i in 0..500_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let word = if state & 1024 != 0 {
            "ready"
        } else {
            "waiting"
        };
        println!("item {i:06} has value {state:010} and state {word}");
    }
}
