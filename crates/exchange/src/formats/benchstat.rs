//! benchstat's CSV: tables separated by an empty line, with a pair of columns for each file.

use super::gotest::measure;
use crate::collector::Collector;
use crate::error::{Error, malformed};
use crate::lines;
use crate::rows::plain;
use fathom_model::imported::Summary;

/// The maximum number of columns to read, two for each file.
const MOST_COLUMNS: usize = 1000;

pub(crate) fn can_read(head: &[u8]) -> bool {
    lines::of(head).any(|line| line.starts_with(b",") && lines::find(line, b",CI").is_some())
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let mut rows = plain(bytes, b',');
    let mut record = csv::StringRecord::new();
    let (mut files, mut units): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut package = String::new();
    let broken = |error: csv::Error| malformed(format!("benchstat: {error}"));
    while rows.read_record(&mut record).map_err(broken)? {
        if record.len() > MOST_COLUMNS {
            return Err(malformed(format!(
                "benchstat: more than {MOST_COLUMNS} columns"
            )));
        }
        let first = record.get(0).unwrap_or_default();
        let cells = || record.iter().map(str::to_owned).collect();
        if record.len() == 1 {
            match first.split_once(": ") {
                Some(("pkg", value)) => value.clone_into(&mut package),
                Some((key, value)) => out.environment(key, value),
                None => out.left_out("lines", "no results"),
            }
        } else if first.is_empty() && record.iter().any(|cell| cell == "CI") {
            units = cells();
        } else if first.is_empty() {
            files = cells();
        } else if first == "geomean" {
            out.left_out("geomean", "a mean of several benchmarks");
        } else {
            row(&record, &files, &units, &package, out);
        }
    }
    Ok(())
}

fn row(
    record: &csv::StringRecord,
    files: &[String],
    units: &[String],
    package: &str,
    out: &mut Collector,
) {
    let counts = record.iter().skip(1).find_map(|cell| cell.split_once("n="));
    let mut counts = counts
        .map_or("", |(_, counts)| counts)
        .split('+')
        .map(|count| count.parse().ok())
        .cycle();
    for (column, cell) in record.iter().enumerate().skip(1) {
        match units.get(column).map(String::as_str) {
            Some("vs base" | "P") => out.left_out("vs base, P", "a comparison, not a measurement"),
            Some("CI") | None => {}
            Some(_) if cell.is_empty() => {}
            Some(unit) => {
                let value = lines::number(cell);
                let half = record
                    .get(column + 1)
                    .and_then(|half| lines::number(half.strip_suffix('%')?));
                let end = |sign: f64| Some(value? * (1.0 + sign * half? / 100.0));
                let summary = Summary {
                    count: counts.next().flatten(),
                    median: value,
                    low: end(-1.0),
                    high: end(1.0),
                    level: half.map(|_| 0.95),
                    ..Summary::default()
                };
                let written = record.get(0).unwrap_or_default();
                let file = files.get(column).map(String::as_str).unwrap_or_default();
                out.summary(
                    measure(written, unit, package).parameter("file", file),
                    summary,
                );
            }
        }
    }
}
