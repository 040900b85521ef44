use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;

fn main() {
    // SAFETY: standard input is open, and nothing else here owns it.
    let mut input = unsafe { File::from_raw_fd(0) };
    let mut record = [0u8; 16];
    let mut total = 0u64;
    while input.read_exact(&mut record).is_ok() {
        for round in 0..20u64 {
            for byte in record {
                total = total.rotate_left(5) ^ (u64::from(byte) + round);
            }
        }
    }
    println!("{total}");
}
