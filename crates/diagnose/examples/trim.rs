//! Trims recorded observations by removing rows that no finding needs.
//!
//! `cargo run -p fathom-diagnose --example trim -- FROM TO` reads each `*.json.gz` in the folder `FROM` and
//! writes the trimmed version into the folder `TO`. `corpus/record.py` calls it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use fathom_diagnose::{Diagnosis, Observation, diagnose};
use fathom_trace::{Stacks, Trace};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The size in bytes up to which files are kept as they are; 1,000 such files are 4 MB.
const SMALL_BYTES: usize = 4_000;
/// The size in bytes above which a trimmed file is trimmed further, until only the findings are the same.
const LARGE_BYTES: usize = 30_000;
/// The size in bytes above which a file is skipped if it is still that large after trimming further.
const TOO_LARGE_BYTES: usize = 450_000;
/// The parts of a list that are tried, smallest first.
const PARTS: [f64; 6] = [0.0, 0.03, 0.1, 0.25, 0.5, 0.75];
/// The part of the wall time by which a part of the account or a predicted saving may differ.
const NEAR: f64 = 0.01;
/// The same limit for large files. In the last step, only the findings and their order must be the same.
const NEAR_ENOUGH: [f64; 2] = [0.2, f64::INFINITY];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = &words[..] else {
        eprintln!("usage: trim FROM TO");
        return ExitCode::from(2);
    };
    match trim_all(Path::new(from), Path::new(to)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn trim_all(from: &Path, to: &Path) -> Result<()> {
    let mut total = 0;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "gz") {
            let name = path.file_name().unwrap_or_default();
            let whole = read(&path)?;
            let mut bytes = trimmed(&whole, NEAR)?;
            for near in NEAR_ENOUGH {
                if bytes.len() > LARGE_BYTES {
                    bytes = trimmed(&whole, near)?;
                }
            }
            if bytes.len() > TOO_LARGE_BYTES {
                println!("left out: {} ({} bytes)", name.display(), bytes.len());
                continue;
            }
            total += bytes.len();
            fs::write(to.join(name), bytes)?;
        }
    }
    println!("{total} bytes");
    Ok(())
}

fn read(path: &Path) -> Result<Observation> {
    let mut text = String::new();
    GzDecoder::new(BufReader::new(File::open(path)?)).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

fn packed(observation: &Observation) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&serde_json::to_vec(observation)?)?;
    Ok(encoder.finish()?)
}

/// Returns the smallest observation with the same diagnosis, found list by list.
fn trimmed(whole: &Observation, near: f64) -> Result<Vec<u8>> {
    let mut best = packed(whole)?;
    if best.len() <= SMALL_BYTES {
        return Ok(best);
    }
    let expected = diagnose(whole);
    let mut kept = whole.clone();
    for cut in LISTS {
        for part in PARTS {
            let mut tried = kept.clone();
            cut(&mut tried.trace, part);
            if is_alike(&expected, &diagnose(&tried), near) {
                kept = tried;
                break;
            }
        }
    }
    if is_alike(&expected, &diagnose(&kept), near) {
        best = packed(&kept)?;
    }
    Ok(best)
}

type Cut = fn(&mut Trace, f64);

/// The lists that can be cut, largest first.
const LISTS: [Cut; 10] = [
    |trace, part| {
        if let Some(stacks) = &mut trace.stacks {
            keep(&mut stacks.rows, part, |row| row.ns);
            without_unused(stacks);
        }
    },
    |trace, part| keep(&mut trace.paths, part, |row| row.ns),
    |trace, part| {
        keep(&mut trace.syscalls, part, |row| {
            row.total_ns + 300 * row.calls
        });
    },
    |trace, part| {
        if let Some(timeline) = &mut trace.timeline {
            keep(timeline, part, |wait| wait.to_ns - wait.from_ns);
        }
    },
    |trace, part| {
        keep(&mut trace.files, part, |row| {
            row.opens + row.reads + row.writes
        });
    },
    |trace, part| keep(&mut trace.uses, part, |row| row.moved.calls()),
    |trace, part| keep(&mut trace.descriptors, part, |row| row.more_names),
    |trace, part| keep(&mut trace.off_cpu, part, |row| row.total_ns),
    |trace, part| keep(&mut trace.failed_lookups, part, |row| row.calls),
    |trace, part| {
        for process in &mut trace.processes {
            for exec in &mut process.execs {
                let words = exec.arguments.len();
                exec.arguments
                    .truncate((words as f64 * part).ceil() as usize);
            }
        }
    },
];

/// Keeps this part of a list: its heaviest entries, in their order.
fn keep<T>(list: &mut Vec<T>, part: f64, weight: impl Fn(&T) -> u64) {
    let count = (list.len() as f64 * part) as usize;
    let mut weights: Vec<u64> = list.iter().map(&weight).collect();
    weights.sort_unstable_by(|a, b| b.cmp(a));
    let Some(limit) = count.checked_sub(1).map(|last| weights[last]) else {
        list.clear();
        return;
    };
    list.retain(|row| weight(row) >= limit);
}

/// Removes paths and frames that no row refers to.
fn without_unused(stacks: &mut Stacks) {
    let whole = std::mem::take(&mut stacks.tree);
    for row in &mut stacks.rows {
        row.node = row.node.and_then(|node| {
            let inwards: Vec<_> = whole.path(node).cloned().collect();
            stacks.tree.add(inwards.into_iter().rev())
        });
    }
}

fn is_alike(expected: &Diagnosis, tried: &Diagnosis, near: f64) -> bool {
    let wall = expected.account.wall_ns as f64;
    let is_near = |a: u64, b: u64| (a as f64 - b as f64).abs() <= near * wall;
    let ids = |diagnosis: &Diagnosis| -> Vec<String> {
        let findings = diagnosis.findings.iter();
        findings.map(|finding| finding.id.to_string()).collect()
    };
    let savings = expected.findings.iter().zip(&tried.findings);
    let parts = expected.account.parts.iter().chain(&tried.account.parts);
    ids(expected) == ids(tried)
        && savings.into_iter().all(|(a, b)| {
            is_near(a.could_win_ns, b.could_win_ns)
                && is_near(a.could_win_cpu_ns, b.could_win_cpu_ns)
                && is_near(a.could_win_latency_ns, b.could_win_latency_ns)
        })
        && parts
            .map(|part| part.spent)
            .all(|spent| is_near(expected.account.ns(spent), tried.account.ns(spent)))
}
