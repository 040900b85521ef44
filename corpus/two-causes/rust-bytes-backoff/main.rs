//! Counts the letters of standard input, and backs off for 4 ms after each 20,000 bytes.
use std::io::{stdin, BufReader, Read};
use std::os::fd::AsFd;
use std::{env, fs::File, thread, time::Duration};

fn count(bytes: impl Read, backs_off: bool) -> u64 {
    let mut state = 0u64;
    for (at, byte) in bytes.bytes().enumerate() {
        state ^= u64::from(byte.expect("input"));
        for _ in 0..40 {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        if backs_off && at % 20_000 == 0 {
            thread::sleep(Duration::from_millis(4));
        }
    }
    state
}

fn main() {
    let file = File::from(stdin().as_fd().try_clone_to_owned().expect("input"));
    let backs_off = env::var_os("SECOND").is_some();
    let state = match env::var_os("FIRST") {
        Some(_) => count(file, backs_off),
        None => count(BufReader::new(file), backs_off),
    };
    println!("{state:016x}");
}
