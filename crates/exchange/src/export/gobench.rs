//! Go's benchmark format, as `benchstat` reads it, with a line for each sample.

use std::fmt::Write;

use fathom_model::imported::{Benchmark, Values, base_unit};
use fathom_stats::imported_middle;

use super::{Export, Written, by_benchmark};

/// Context keys that Go itself writes.
const CONTEXT: [&str; 3] = ["goos", "goarch", "cpu"];

/// Writes the samples of a benchmark's metrics side by side; for a summary, the median, mean or value becomes
/// one line. Blanks in names become `_`, and names get the prefix `Benchmark` if they don't have it.
pub(super) fn gobench(exports: &[Export]) -> Written {
    let mut written = Written::default();
    let mut context = [""; CONTEXT.len()];
    let mut package = "";
    for export in exports {
        for (key, last) in CONTEXT.iter().zip(&mut context) {
            let value = export.context.get(*key).map_or("", String::as_str);
            if value != *last && !value.contains('\n') {
                let _ = writeln!(written.text, "{key}: {value}");
                *last = value;
            }
        }
        for figures in by_benchmark(export) {
            let first = &figures[0].benchmark;
            let own = first.parameters.get("pkg").map_or("", String::as_str);
            if own != package && !own.contains('\n') {
                let _ = writeln!(written.text, "pkg: {own}");
                package = own;
            }
            let columns: Vec<Column> = figures
                .iter()
                .filter_map(|figure| Column::of(&figure.benchmark, &mut written))
                .collect();
            lines(&mut written.text, &name(first), &columns);
        }
    }
    written
}

struct Column<'a> {
    values: Vec<f64>,
    unit: String,
    iterations: &'a [u64],
}

impl<'a> Column<'a> {
    fn of(one: &'a Benchmark, written: &mut Written) -> Option<Column<'a>> {
        let (factor, base) = base_unit(&one.unit);
        let (unit, factor) = match base {
            "seconds" if one.metric == "wall" => ("ns/op".to_owned(), factor * 1e9),
            _ if one.metric == one.unit => (word(&one.unit), 1.0),
            "seconds" => (format!("{}-ns/op", word(&one.metric)), factor * 1e9),
            "bytes" => (format!("{}-B/op", word(&one.metric)), factor),
            "" => (format!("{}/op", word(&one.metric)), factor),
            _ => (format!("{}-{}", word(&one.metric), word(&one.unit)), 1.0),
        };
        let values = match &one.values {
            Values::Samples(samples) => samples.clone(),
            summary @ Values::Summary(_) => match imported_middle(summary) {
                Some(middle) => vec![middle.value],
                None => {
                    written.left_out(&one.metric, "neither a median nor a mean");
                    return None;
                }
            },
        };
        let scaled = |value| if factor == 1.0 { value } else { value * factor };
        Some(Column {
            values: values.into_iter().map(scaled).collect(),
            unit,
            iterations: &one.iterations,
        })
    }
}

fn lines(text: &mut String, name: &str, columns: &[Column]) {
    let most = columns.iter().map(|one| one.values.len()).max();
    for row in 0..most.unwrap_or(0) {
        // Go's own column comes first.
        let iterations = columns.iter().find_map(|column| match column.iterations {
            [one] => Some(*one),
            several => several.get(row).copied(),
        });
        let _ = write!(text, "{name} {}", iterations.unwrap_or(1));
        for column in columns {
            if let Some(value) = column.values.get(row) {
                let _ = write!(text, " {value} {}", column.unit);
            }
        }
        text.push('\n');
    }
}

/// Returns a name such as `BenchmarkSort/n=10k-2`.
fn name(one: &Benchmark) -> String {
    let mut name = match one.name.strip_prefix("Benchmark") {
        Some(rest) if !rest.starts_with(|first: char| first.is_lowercase()) => word(&one.name),
        _ => format!("Benchmark{}", upper(&word(&one.name))),
    };
    for (key, value) in one.parameters.iter().filter(|(key, _)| *key != "pkg") {
        let _ = write!(name, "/{}={}", part(key), part(value));
    }
    let digits = name.rsplit_once('-').map(|(_, digits)| digits);
    let looks_like_threads = digits.is_some_and(|digits| digits.parse::<u64>().is_ok());
    match one.threads {
        Some(threads) if threads != 1 || looks_like_threads => format!("{name}-{threads}"),
        None if looks_like_threads => format!("{name}-1"),
        _ => name,
    }
}

/// Capitalizes a name, because Go skips benchmarks in whose names `Benchmark` is followed by a lower-case
/// letter.
fn upper(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

/// Replaces blanks, because they would end a word.
fn word(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join("_")
}

/// Formats a parameter as a word without slashes, because a slash would begin another parameter.
fn part(text: &str) -> String {
    word(text).replace('/', "_")
}
