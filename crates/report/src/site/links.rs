//! Names for links to benchmarks.

use std::collections::HashSet;

use fathom_model::{Report, ReportBenchmark};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::data::key;

/// Returns the names for links to benchmarks: escaped, short and unique.
pub(super) fn keys(report: &Report) -> Vec<String> {
    let mut known = HashSet::new();
    let unique = |benchmark: &ReportBenchmark| {
        let name = key(benchmark);
        let mut link = name.clone();
        let mut place = 2;
        while !known.insert(link.clone()) {
            link = format!("{name} ({place})");
            place += 1;
        }
        link
    };
    report.benchmarks.iter().map(unique).collect()
}

pub(super) fn with_links(mut data: Value, links: &[String]) -> Value {
    if let Some(benchmarks) = data["benchmarks"].as_array_mut() {
        for (benchmark, link) in benchmarks.iter_mut().zip(links) {
            benchmark["name"] = json!(link);
        }
    }
    data
}

/// Returns `#name` in the form that the script looks up.
pub(super) fn anchor(link: &str) -> String {
    let mut out = "#".to_owned();
    for byte in link.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Returns a name of letters and digits, with a hash that makes it unique.
pub(super) fn file_name(shown: &str) -> String {
    let letters = shown.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '-',
    });
    let letters: String = letters.take(40).collect();
    let mut short = String::new();
    for part in letters.split('-').filter(|part| !part.is_empty()) {
        short.push_str(part);
        short.push('-');
    }
    let hash = Sha256::digest(shown.as_bytes());
    let hash: String = hash[..5].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{short}{hash}.html")
}
