//! Reads damaged files for a given time: `--minutes 60 [--seed N]`.
//!
//! Every sample of the tests is mutated, one after another; each mutation is read as its own format and as
//! any format, and the result is written in every format. A panic ends the program and reports the seed and
//! the file. At the end, the program prints the number of files read, the slowest file, and its peak memory.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

#[path = "../tests/formats/mutation.rs"]
mod mutation;

use std::path::Path;
use std::time::{Duration, Instant};

use fathom_exchange::export::{EXPORTS, Export, Figure};
use fathom_exchange::{Error, FORMATS, Imported, read, read_folder, walk};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut minutes, mut seed) = (1.0, 41);
    while let Some(option) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse::<f64>().ok());
        match (option.as_str(), value) {
            ("--minutes", Some(value)) => minutes = value,
            ("--seed", Some(value)) => seed = value as u64,
            _ => {
                eprintln!("usage: mutate [--minutes N] [--seed N]");
                std::process::exit(2);
            }
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let entries = walk(&folder).expect("the samples of the tests are there");
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let (mut files, mut whole, mut errors) = (0_u64, 0_u64, 0_u64);
    let mut slowest = (Duration::ZERO, String::new());
    while Instant::now() < end {
        for entry in &entries {
            let mut random = SmallRng::seed_from_u64(seed);
            // One in ten is a larger file, consisting of the sample repeated many times.
            let mut bytes = entry.bytes.clone();
            if random.random_bool(0.1) {
                bytes = bytes.repeat(random.random_range(2..30));
            }
            let bytes = mutation::mutated(&bytes, &mut random);
            let begun = Instant::now();
            let about = format!("{} seed {seed}", entry.path);
            let panicked = std::panic::catch_unwind(|| one(&bytes, &entry.path, seed));
            let Ok((read, refused)) = panicked else {
                eprintln!("panicked: {about}");
                std::process::exit(1);
            };
            if begun.elapsed() > slowest.0 {
                slowest = (begun.elapsed(), about);
            }
            (files, whole, errors) = (files + 1, whole + read, errors + refused);
            seed += 1;
        }
    }
    println!("{files} mutated files: {whole} were read as records, {errors} were refused");
    println!("slowest: {:.3} s, {}", slowest.0.as_secs_f64(), slowest.1);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!("peak memory: {}", line.trim_start_matches("VmHWM:").trim());
    }
}

/// Returns how often the file was read, and how often it was refused.
fn one(bytes: &[u8], path: &str, seed: u64) -> (u64, u64) {
    let own = FORMATS
        .iter()
        .filter(|format| format.can_read(bytes))
        .map(|format| format.name);
    let any = FORMATS[seed as usize % FORMATS.len()].name;
    let mut results: Vec<Result<Imported, Error>> = own
        .chain([any])
        .map(|format| read(bytes, "mutated", Some(format)))
        .collect();
    let entry = fathom_exchange::Entry {
        path: path.to_owned(),
        bytes: bytes.to_vec(),
    };
    let folder = read_folder(&[entry], "folder", None);
    results.extend(folder.imported.into_iter().map(Ok));
    results.extend(folder.refused.into_iter().map(|(_, error)| Err(error)));
    let (mut read, mut refused) = (0, 0);
    for result in results {
        let Ok(imported) = result else {
            refused += 1;
            continue;
        };
        mutation::sound(&imported);
        read += 1;
        let figures = imported.benchmarks.into_iter().map(|benchmark| Figure {
            benchmark,
            exit_codes: Vec::new(),
        });
        let export = Export {
            context: imported.source.environment,
            figures: figures.collect(),
            ..Export::default()
        };
        for form in EXPORTS {
            let written = (form.write)(std::slice::from_ref(&export));
            assert!(written.text.is_empty() || written.text.ends_with('\n'));
        }
    }
    (read, refused)
}
