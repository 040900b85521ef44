//! The summary: tool, version and file; a row for each series; what was left out, and why.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::imported::{Benchmark, LeftOut, Values, base_unit};
use fathom_model::quantity::{counted, format_bytes, format_count, short_time, three_digits};
use fathom_model::{ImportedRecord, pairs};
use fathom_stats::{IntervalFrom, Middle, imported_middle};

use crate::line::{Line, Page, Tone};
use crate::text::columns;

/// Rows of series, and lines of records, that fit on a screen with the rest.
const ROWS: usize = 12;
/// Reasons for what was left out.
const REASONS: usize = 4;

const METRIC: usize = 12;
const VALUE: usize = 14;
const INTERVAL: usize = 19;
const RUNS: usize = 7;

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
    let rest = (page.width()).saturating_sub(2 + METRIC + VALUE + INTERVAL + RUNS + 4);
    let each = record.benchmarks.iter();
    let names: Vec<String> = each.map(|one| name(one, &shared)).collect();
    let longest = names.iter().map(|name| columns(name)).max();
    let width = longest.unwrap_or(0).clamp(9, rest.max(9));
    let line = |tone, name: &str, cells: [&str; 4]| {
        let [metric, value, interval, runs] = cells;
        let right = |text: &str, width: usize| {
            format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
        };
        Line::new()
            .pad_to(2)
            .add(tone, name)
            .pad_to(2 + width + 1)
            .add(Tone::Plain, metric)
            .pad_to(2 + width + 1 + METRIC + 1)
            .add(tone, right(value, VALUE))
            .add(Tone::Plain, format!(" {}", right(interval, INTERVAL)))
            .add(Tone::Plain, format!(" {}", right(runs, RUNS)))
    };
    page.push(line(
        Tone::Quiet,
        "benchmark",
        ["metric", "value", "interval", "samples"],
    ));
    let shown = match all {
        true => record.benchmarks.len(),
        false => ROWS,
    };
    let mut above = "";
    for (one, full) in record.benchmarks.iter().zip(&names).take(shown) {
        let metric = page.fit(&one.metric, METRIC);
        let (value, interval, runs) = cells(one);
        let name = match above == full {
            true => String::new(),
            false => page.fit(full, width),
        };
        above = full;
        let cells = [&value, &interval, &runs].map(|cell| page.clean(cell));
        page.push(line(
            Tone::Plain,
            &name,
            [&metric, &cells[0], &cells[1], &cells[2]],
        ));
    }
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

/// Value, interval, number of samples.
fn cells(one: &Benchmark) -> (String, String, String) {
    let Some(Middle {
        value,
        low,
        high,
        runs,
        from,
    }) = imported_middle(&one.values)
    else {
        return ("-".to_owned(), String::new(), String::new());
    };
    let interval = match from {
        IntervalFrom::Nothing => String::new(),
        // All samples are the same: counts of allocations, as a rule.
        _ if low == high => String::new(),
        _ => match base_unit(&one.unit).1 {
            "seconds" | "bytes" => {
                format!("{} to {}", figure(low, &one.unit), figure(high, &one.unit))
            }
            // The value beside it has the unit.
            _ => format!("{} to {}", figure(low, ""), figure(high, "")),
        },
    };
    let known = match &one.values {
        Values::Samples(_) => true,
        Values::Summary(summary) => summary.count.is_some(),
    };
    let runs = match known {
        true => format_count(runs as f64),
        false => String::new(),
    };
    (figure(value, &one.unit), interval, runs)
}

/// Times and sizes as everywhere in Fathom, anything else with the unit of the tool.
fn figure(value: f64, unit: &str) -> String {
    let (factor, base) = base_unit(unit);
    match base {
        "seconds" => short_time(value * factor),
        "bytes" => format_bytes(value * factor),
        _ => {
            let number = match value.abs() {
                large if large >= 1e12 => format!("{value:.3e}"),
                large if large >= 1000.0 => format_count(value.round()),
                small if small > 0.0 && small < 0.01 => format!("{value:.2e}"),
                _ => three_digits(value),
            };
            match unit {
                "" => number,
                unit => format!("{number} {unit}"),
            }
        }
    }
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
