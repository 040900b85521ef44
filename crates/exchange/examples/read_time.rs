//! Measures how long it takes to read files, and how much memory it takes: `read_time FILE...`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

use std::io::BufReader;
use std::time::Instant;

fn main() {
    for path in std::env::args().skip(1) {
        let begun = Instant::now();
        let file = std::fs::File::open(&path).expect("the file is there");
        let read = fathom_exchange::read(BufReader::with_capacity(1 << 16, file), &path, None);
        let took = begun.elapsed().as_secs_f64();
        match read {
            Ok(imported) => {
                let left_out: u64 = imported.left_out.iter().map(|entry| entry.count).sum();
                let series = imported.benchmarks.len();
                println!("{path}: {took:.3} s, {series} series, {left_out} omitted");
            }
            Err(error) => println!("{path}: {took:.3} s, refused: {error}"),
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find(|line| line.starts_with("VmHWM"));
        println!("{}", peak.unwrap_or_default());
    }
}
