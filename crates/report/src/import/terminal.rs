//! The summary: tool, version and file; a row for each series; what was left out, and why.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::imported::{Benchmark, LeftOut, Values, base_unit};
use fathom_model::quantity::{counted, format_bytes, format_count, short_time, three_digits};
use fathom_model::{ImportedRecord, pairs};
use fathom_stats::{IntervalFrom, Middle, imported_middle};

use crate::grid::{Column, fitted, rows_of};
use crate::line::{Line, Page, Tone};
use crate::quantity::{apart, decimals_for};

/// Rows of series, and lines of records, that fit on a screen with the rest.
const ROWS: usize = 11;
/// Reasons for what was left out.
const REASONS: usize = 4;

/// Columns of a metric's name.
const METRIC: usize = 20;

/// How much is said, and to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colour is allowed.
    pub color: bool,
    /// Whether more than ASCII can be shown.
    pub unicode: bool,
    /// Every series and every reason.
    pub verbose: bool,
    /// Whether the records are stored; else the last line says how.
    pub saved: bool,
    /// Files in folders that are of no format.
    pub of_no_format: usize,
}

/// What was read of each file.
pub fn import_terminal(records: &[ImportedRecord], options: &ImportOptions) -> String {
    let mut page = Page::new(options.width, options.color, options.unicode);
    let shown = match options.verbose {
        true => records.len(),
        false => ROWS,
    };
    let tables = options.verbose || records.len() == 1;
    for record in records.iter().take(shown) {
        if tables {
            page.gap();
        }
        head(&mut page, record);
        if tables {
            table(&mut page, record, options.verbose);
        }
    }
    if records.len() > shown {
        more(&mut page, records.len() - shown, "file", "files");
    }
    let left_out: Vec<&LeftOut> = records.iter().flat_map(|record| &record.left_out).collect();
    write_left_out(&mut page, left_out, options);
    page.gap();
    for assumption in assumptions(records) {
        page.prose(0, Tone::Quiet, &assumption);
    }
    if !options.saved {
        let hint = "nothing was stored; --save keeps it, for history, compare and changes";
        page.prose(0, Tone::Quiet, hint);
    }
    page.finish()
}

fn more(page: &mut Page, count: usize, one: &str, many: &str) {
    let text = format!(
        "and {} more; -v shows all",
        counted(count as u64, one, many)
    );
    page.push(Line::new().pad_to(2).add(Tone::Quiet, text));
}

fn head(page: &mut Page, record: &ImportedRecord) {
    let source = &record.source;
    let names: BTreeSet<_> = record
        .benchmarks
        .iter()
        .map(|one| (&one.name, &one.parameters))
        .collect();
    let samples = record.benchmarks.iter().map(|one| match &one.values {
        Values::Samples(samples) => samples.len() as u64,
        Values::Summary(_) => 0,
    });
    let summaries = record
        .benchmarks
        .iter()
        .filter(|one| matches!(one.values, Values::Summary(_)))
        .count() as u64;
    let mut holds = vec![
        counted(names.len() as u64, "benchmark", "benchmarks"),
        format!("{} series", format_count(record.benchmarks.len() as f64)),
    ];
    match samples.sum::<u64>() {
        0 => {}
        samples => holds.push(counted(samples, "sample", "samples")),
    }
    if summaries > 0 {
        holds.push(counted(summaries, "summary", "summaries"));
    }
    let version = source
        .version
        .as_deref()
        .map(|version| format!(" {version}"));
    let file = match source.file.as_str() {
        "-" => "standard input",
        file => file,
    };
    let text = format!(
        "{}{}, {file}: {}",
        source.tool,
        version.unwrap_or_default(),
        holds.join(", ")
    );
    let text = page.clean(&text);
    page.prose(0, Tone::Strong, &text);
}

fn table(page: &mut Page, record: &ImportedRecord, all: bool) {
    if record.benchmarks.is_empty() {
        return;
    }
    page.gap();
    let shared = shared(&record.benchmarks);
    if !shared.is_empty() {
        let text = format!("all: {}", pairs(&shared, " "));
        let text = page.fit(&text, page.width().saturating_sub(2));
        page.push(Line::new().pad_to(2).add(Tone::Quiet, text));
    }
    let shown = match all {
        true => record.benchmarks.len(),
        false => record.benchmarks.len().min(ROWS),
    };
    let rows = &record.benchmarks[..shown];
    let mut above = String::new();
    let names: Vec<String> = rows
        .iter()
        .map(|one| {
            let full = name(one, &shared);
            match above == full {
                true => String::new(),
                false => {
                    above.clone_from(&full);
                    full
                }
            }
        })
        .collect();
    let middles: Vec<Option<Middle>> = rows
        .iter()
        .map(|one| imported_middle(&one.values))
        .collect();
    let values: Vec<f64> = middles
        .iter()
        .map(|one| one.map_or(f64::NAN, |one| one.value))
        .collect();
    let values = apart(&values, &|row, more| match middles[row] {
        Some(middle) => figure(middle.value, &rows[row].unit, more),
        None => "-".to_owned(),
    });
    let clean = |texts: Vec<String>| texts.iter().map(|text| page.clean(text)).collect();
    let metrics: Vec<String> = rows.iter().map(|one| one.metric.clone()).collect();
    let behind = [
        Column::words("metric", fitted(page, &metrics, METRIC)),
        Column::figures("value", clean(values)),
        Column::figures(
            "interval",
            clean(
                rows.iter()
                    .zip(&middles)
                    .map(|(one, middle)| interval(one, *middle))
                    .collect(),
            ),
        ),
        Column::figures(
            "samples",
            rows.iter()
                .zip(&middles)
                .map(|(one, middle)| samples(one, *middle))
                .collect(),
        ),
    ];
    rows_of(page, "benchmark", &names, &behind, &|_, _| Tone::Plain);
    if record.benchmarks.len() > shown {
        more(page, record.benchmarks.len() - shown, "series", "series");
    }
}

/// The parameters that all benchmarks have, with the same values.
fn shared(benchmarks: &[Benchmark]) -> BTreeMap<&String, &String> {
    let mut all: BTreeMap<&String, &String> = match benchmarks {
        [] | [_] => BTreeMap::new(),
        [first, ..] => first.parameters.iter().collect(),
    };
    all.retain(|name, value| {
        benchmarks
            .iter()
            .all(|one| one.parameters.get(*name) == Some(*value))
    });
    all
}

fn name(one: &Benchmark, shared: &BTreeMap<&String, &String>) -> String {
    let own = (one.parameters.iter()).filter(|(name, _)| !shared.contains_key(name));
    match pairs(own, " ") {
        none if none.is_empty() => one.name.clone(),
        own => format!("{} {own}", one.name),
    }
}

fn interval(one: &Benchmark, middle: Option<Middle>) -> String {
    let Some(Middle {
        low, high, from, ..
    }) = middle
    else {
        return String::new();
    };
    match from {
        IntervalFrom::Nothing => String::new(),
        // All samples are the same: counts of allocations, as a rule.
        _ if low == high => String::new(),
        _ => {
            let unit = match base_unit(&one.unit).1 {
                "seconds" | "bytes" => one.unit.as_str(),
                // The value beside it has the unit.
                _ => "",
            };
            format!("{} to {}", figure(low, unit, 0), figure(high, unit, 0))
        }
    }
}

/// The number of samples, where it is known.
fn samples(one: &Benchmark, middle: Option<Middle>) -> String {
    let known = match &one.values {
        Values::Samples(_) => true,
        Values::Summary(summary) => summary.count.is_some(),
    };
    match middle.filter(|_| known) {
        Some(middle) => format_count(middle.runs as f64),
        None => String::new(),
    }
}

/// Times and sizes as everywhere in Fathom, anything else with the unit of the tool.
fn figure(value: f64, unit: &str, more: usize) -> String {
    let (factor, base) = base_unit(unit);
    match (base, more) {
        ("seconds", 0) => short_time(value * factor),
        ("bytes", 0) => format_bytes(value * factor),
        // Two would print alike: as many digits of the file's own unit as it takes.
        (_, 1..) => with_unit(
            &format!("{value:.0$}", decimals_for(value, 3 + more as i32)),
            unit,
        ),
        _ => {
            let number = match value.abs() {
                large if large >= 1e12 => format!("{value:.3e}"),
                large if large >= 1000.0 => format_count(value.round()),
                small if small > 0.0 && small < 0.01 => format!("{value:.2e}"),
                _ => three_digits(value),
            };
            with_unit(&number, unit)
        }
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    format!("{number} {unit}").trim_end().to_owned()
}

fn write_left_out(page: &mut Page, mut left_out: Vec<&LeftOut>, options: &ImportOptions) {
    if left_out.is_empty() && options.of_no_format == 0 {
        return;
    }
    page.heading("Left out");
    // The sort keeps the file's order among equals.
    left_out.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    let shown = match options.verbose {
        true => left_out.len(),
        false => REASONS,
    };
    for entry in left_out.iter().take(shown) {
        let text = format!(
            "{} x {}: {}",
            format_count(entry.count as f64),
            entry.what,
            entry.reason
        );
        let text = page.fit(&text, page.width().saturating_sub(2));
        page.push(Line::new().pad_to(2).add(Tone::Plain, text));
    }
    if left_out.len() > shown {
        more(page, left_out.len() - shown, "entry", "entries");
    }
    if options.of_no_format > 0 {
        let files = counted(options.of_no_format as u64, "file", "files");
        let text = format!("{files} of no known format");
        page.push(Line::new().pad_to(2).add(Tone::Plain, text));
    }
}

/// What the figures rest on, where that is not samples.
fn assumptions(records: &[ImportedRecord]) -> Vec<String> {
    let mut said = Vec::new();
    let all = || records.iter().flat_map(|record| &record.benchmarks);
    let from = |wanted| {
        let those =
            all().filter(|one| imported_middle(&one.values).is_some_and(|one| one.from == wanted));
        those.count() as u64
    };
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            said.push(format!(
                "{}: {what}",
                counted(count, "summary", "summaries")
            ));
        }
    };
    say(
        from(IntervalFrom::Deviation),
        "the interval is of a mean, from the standard deviation, as if samples were independent",
    );
    say(
        from(IntervalFrom::Quartiles),
        "the interval is of the median, from the quartiles",
    );
    say(from(IntervalFrom::Tool), "the interval is the tool's own");
    say(
        from(IntervalFrom::Nothing),
        "no interval is known, the value stands alone",
    );
    if said.is_empty() && all().next().is_some() {
        said.push("intervals hold the median in 95 of 100 such files; fewer than 6 samples: their whole range".to_owned());
    }
    said
}
