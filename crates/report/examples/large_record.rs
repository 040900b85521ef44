//! Measures how long a record of 100,000 runs takes to print and to export.
//!
//! `cargo run --release -p fathom-report --example large_record`
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use fathom_report::{
    TerminalOptions, asciidoc, csv, hyperfine_json, json, markdown, orgmode, terminal,
};
use support::program::Program;

fn main() {
    let programs = [
        Program::new("sort big.txt", 0.0412),
        Program::new("sort -S1G big.txt", 0.0397),
    ];
    let mut record = support::session(&programs, 2);
    // The test support's estimates are quadratic in the number of runs, so those of the small session are
    // used.
    let runs: Vec<_> = (0..25_000u32)
        .flat_map(|copy| record.runs.clone().into_iter().map(move |run| (copy, run)))
        .map(|(copy, run)| fathom_model::Run {
            round: run.round + 2 * copy,
            wall_ns: run.wall_ns + u64::from(copy.wrapping_mul(2_654_435_761) % 1_000_000),
            ..run
        })
        .collect();
    record.runs = runs;
    println!("{} runs", record.runs.len());
    let options = TerminalOptions::default();
    let time = |name: &str, work: &dyn Fn() -> usize| {
        let start = Instant::now();
        let bytes = work();
        println!(
            "{name:<14} {:>8.1} ms {bytes:>10} bytes",
            start.elapsed().as_secs_f64() * 1e3
        );
    };
    time("terminal", &|| terminal(&record, &options).len());
    time("json", &|| json(&record).len());
    time("hyperfine_json", &|| hyperfine_json(&record).len());
    time("csv", &|| csv(&record).len());
    time("markdown", &|| markdown(&record, None).len());
    time("asciidoc", &|| asciidoc(&record, None).len());
    time("orgmode", &|| orgmode(&record, None).len());
}
