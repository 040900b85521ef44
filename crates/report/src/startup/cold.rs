//! Evidence of what was cold in a cold run, and what was not.

use fathom_model::{Cache, ColdBy, ColdEvidence, EvictedFile, StartupRecord, StartupRun};

use super::{waits, words};
use crate::document::Document;
use crate::line::Tone;
use crate::quantity::counted;
use crate::{format_bytes, format_count};

/// The maximum number of files named as still cached; the JSON has all of them.
const MOST_FILES: usize = 4;
const MOST_HOLDERS: usize = 3;
/// The size of a page in bytes; only the share matters.
const PAGE_BYTES: f64 = 4096.0;

/// Adds the evidence for every cold program.
pub(super) fn add(out: &mut Document, record: &StartupRecord) {
    let Some(by) = record.conditions.cold_by else {
        return;
    };
    let how = match by {
        ColdBy::Evict => {
            "before each cold run, the program, its libraries and all files that it is known to open were evicted \
             from the page cache; file names and attributes stayed in memory, and the caches of an underlying disk \
             or hypervisor were not emptied"
        }
        ColdBy::DropCaches => {
            "before each cold run, the kernel dropped the clean page cache, directory entries and inodes of the \
             WHOLE machine (drop_caches = 3): everything else on it is slower for a while; pages mapped by running \
             programs stayed in memory"
        }
    };
    out.section("Pages that stayed cached, and why", |part| {
        part.prose(2, Tone::Plain, how);
        for evidence in &record.cold {
            program(part, record, evidence);
        }
    });
}

/// Adds a line for every cold program.
pub(super) fn add_short(out: &mut Document, record: &StartupRecord) {
    if record.conditions.cold_by.is_none() || record.cold.is_empty() {
        return;
    }
    out.gap();
    for evidence in &record.cold {
        let (read, void, runs) = read(record, evidence);
        let number = waits::number(record, evidence.program);
        let text = format!("{number}{read}; {}", stayed_in_short(evidence));
        out.fact("cold", tone(void, runs), text);
    }
}

/// Describes how much of the evicted data stayed cached.
fn stayed_in_short(evidence: &ColdEvidence) -> String {
    let known = evidence.files.iter().filter_map(|file| file.pages_left);
    let left: u64 = known.clone().sum();
    match (known.count(), left) {
        (0, _) => "it is not known which pages stayed cached".to_string(),
        (_, 0) => "nothing stayed cached".to_string(),
        (_, left) => format!(
            "{} of {} stayed cached",
            format_bytes(left as f64 * PAGE_BYTES),
            format_bytes(evidence.bytes as f64)
        ),
    }
}

/// Returns what cold runs read from the device, the number of void runs, and the number of all runs.
fn read(record: &StartupRecord, evidence: &ColdEvidence) -> (String, usize, usize) {
    let cold: Vec<&StartupRun> = record
        .runs
        .iter()
        .filter(|run| run.program == evidence.program && run.cache == Cache::Cold)
        .collect();
    let median = |of: &dyn Fn(&StartupRun) -> f64| {
        let mut values: Vec<f64> = cold.iter().map(|run| of(run)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let void = cold.iter().filter(|run| run.void).count();
    let read = format!(
        "{} read from the device, {} (medians); {} of {} void",
        format_bytes(median(&|run| run.read_bytes.unwrap_or(0) as f64)),
        counted(
            median(&|run| run.major_faults as f64) as u64,
            "major fault",
            "major faults"
        ),
        format_count(void as f64),
        counted(cold.len() as u64, "cold run", "cold runs")
    );
    (read, void, cold.len())
}

fn program(out: &mut Document, record: &StartupRecord, evidence: &ColdEvidence) {
    out.prose(2, Tone::Strong, words::name(record, evidence.program));
    let (read, void, runs) = read(record, evidence);
    out.fact("read", tone(void, runs), read);
    let known: Vec<&EvictedFile> = evidence
        .files
        .iter()
        .filter(|file| file.pages_left.is_some())
        .collect();
    let left: u64 = known.iter().filter_map(|file| file.pages_left).sum();
    let pages: u64 = evidence.files.iter().map(|file| file.pages).sum();
    let unknown = evidence.files.len() - known.len();
    let mut text = format!(
        "{} of {}; ",
        format_bytes(evidence.bytes as f64),
        counted(evidence.files.len() as u64, "file", "files"),
    );
    text.push_str(&match (known.len(), pages) {
        (0, _) if unknown > 0 => {
            "it is not known which pages stayed in memory: the kernel reveals this only to a file's owner"
                .to_string()
        }
        (_, 0) => "nothing stayed in memory".to_string(),
        _ => format!(
            "{} stayed in memory",
            format_bytes(left as f64 * PAGE_BYTES)
        ),
    });
    if unknown > 0 && !known.is_empty() {
        text.push_str(&format!(
            "; unknown for {}: the kernel reveals this only to a file's owner",
            counted(unknown as u64, "file", "files")
        ));
    }
    out.fact("evicted", Tone::Plain, text);
    stayed(out, evidence);
}

/// Lists the files with the most cached pages, and what keeps them cached.
fn stayed(out: &mut Document, evidence: &ColdEvidence) {
    let mut kept: Vec<&EvictedFile> = evidence
        .files
        .iter()
        .filter(|file| file.pages_left.unwrap_or(0) > 0 || file.refused.is_some())
        .collect();
    kept.sort_by_key(|file| std::cmp::Reverse(file.pages_left.unwrap_or(0)));
    for file in kept.iter().take(MOST_FILES) {
        let path = &file.path;
        let holders = &file.mapped_by[..file.mapped_by.len().min(MOST_HOLDERS)];
        let more = file.mapped_by.len().saturating_sub(MOST_HOLDERS);
        let by = match (holders.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(", mapped by {}", holders.join(", ")),
            (false, more) => format!(", mapped by {} and {more} more", holders.join(", ")),
        };
        let text = match (&file.refused, file.pages_left) {
            (Some(why), _) => format!("{path}: {why}"),
            (None, left) => format!(
                "{path}: {} of {} pages{by}",
                format_count(left.unwrap_or(0) as f64),
                format_count(file.pages as f64)
            ),
        };
        out.fact("stayed", Tone::Quiet, text);
    }
    if kept.len() > MOST_FILES {
        let text = format!(
            "and {} (all are in the JSON)",
            counted(
                (kept.len() - MOST_FILES) as u64,
                "further file",
                "further files"
            )
        );
        out.fact("", Tone::Quiet, text);
    }
}

fn tone(void: usize, runs: usize) -> Tone {
    match void {
        0 => Tone::Plain,
        _ if void == runs => Tone::Bad,
        _ => Tone::Notice,
    }
}
