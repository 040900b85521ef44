//! The summary: tool, version and file; a row for each series; what was omitted, and why.

use std::collections::BTreeSet;

use fathom_model::imported::{Benchmark, LeftOut, Values, base_unit};
use fathom_model::quantity::{counted, format_count};
use fathom_model::{ImportedRecord, distinguish, listed, pairs};
use fathom_stats::{IntervalFrom, Middle, imported_middle};

use crate::Screen;
use crate::document::{Cell, Kind, Table, fitted};
use crate::history::{named_in, shared};
use crate::line::{Line, Page, Tone};
use crate::quantity::{Scale, decimals_apart};

/// The maximum numbers of rows for series and of lines for records: these fit on a screen with everything
/// else.
const ROWS: usize = 11;
/// The maximum number of reasons for omissions that are shown.
const REASONS: usize = 4;

/// Width of the metric's name.
const METRIC: usize = 20;

/// A benchmark's name and parameters.
type Identity = (String, Vec<(String, String)>);

/// How much to show, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportOptions {
    /// The screen. `verbose`: show every series and every reason.
    pub screen: Screen,
    /// Whether the records are stored; if not, the last line explains how to store them.
    pub saved: bool,
    /// Number of files in folders without a known format.
    pub of_no_format: usize,
}

/// Formats what was read from each file.
pub fn import_terminal(records: &[ImportedRecord], options: &ImportOptions) -> String {
    let mut page = Page::new(&options.screen);
    let shown = match options.screen.verbose {
        true => records.len(),
        false => ROWS,
    };
    let tables = options.screen.verbose || records.len() == 1;
    for record in records.iter().take(shown) {
        if tables {
            page.gap();
        }
        head(&mut page, record);
        if tables {
            table(&mut page, record, options.screen.verbose);
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
        let hint = "nothing was saved; add --save to use it with history, compare and changes";
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
    let names: BTreeSet<Identity> = identities(&record.benchmarks).into_iter().collect();
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
    page.prose(0, Tone::Strong, &text);
}

fn table(page: &mut Page, record: &ImportedRecord, all: bool) {
    if record.benchmarks.is_empty() {
        return;
    }
    page.gap();
    let all_named = identities(&record.benchmarks);
    let shared = shared(all_named.iter().map(|(_, parameters)| parameters));
    if !shared.is_empty() {
        let text = format!("all: {}", pairs(listed(&shared), " "));
        let text = page.fit(&text, page.width().saturating_sub(2));
        page.push(Line::new().pad_to(2).add(Tone::Quiet, text));
    }
    let shown = match all {
        true => record.benchmarks.len(),
        false => record.benchmarks.len().min(ROWS),
    };
    let rows = &record.benchmarks[..shown];
    let middles: Vec<Option<Middle>> = rows
        .iter()
        .map(|one| imported_middle(&one.values))
        .collect();
    let values: Vec<f64> = middles
        .iter()
        .zip(rows)
        .map(|(middle, one)| {
            let (factor, _) = base_unit(&one.unit);
            middle.map_or(f64::NAN, |middle| middle.value * factor)
        })
        .collect();
    let figure = |row: usize, more: usize| match middles[row].map(ends) {
        Some((value, low, high)) => {
            Scale::of(value, &rows[row].unit).with_unit(value, low, high, more)
        }
        None => "-".to_owned(),
    };
    let decimals = decimals_apart(&values, &figure);
    let metrics: Vec<String> = rows.iter().map(|one| one.metric.clone()).collect();
    let metrics = fitted(page, &metrics, METRIC);
    let mut table = Table::new("Series")
        .column("benchmark", Kind::Name)
        .column("metric", Kind::Words)
        .column("value", Kind::Number)
        .column("interval", Kind::Number)
        .column("samples", Kind::Number);
    let mut above = String::new();
    for (row, one) in rows.iter().enumerate() {
        let (benchmark, parameters) = &all_named[row];
        let name = named_in(benchmark, parameters, &shared);
        let shown = if above == name { "" } else { &name };
        let cells = vec![
            Cell::name(shown),
            Cell::words(&metrics[row]),
            Cell::words(&figure(row, decimals[row])),
            Cell::words(&interval(one, middles[row], decimals[row])),
            Cell::words(&samples(one, middles[row])),
        ];
        table.row("", cells);
        above = name;
    }
    table.terminal(page, 0);
    if record.benchmarks.len() > shown {
        more(page, record.benchmarks.len() - shown, "series", "series");
    }
}

/// Returns the names and parameters of the series, as `compare` and the store identify them: duplicates in a
/// file get their position.
fn identities(benchmarks: &[Benchmark]) -> Vec<Identity> {
    let own = benchmarks.iter();
    let mut all: Vec<Identity> = own
        .map(|one| (one.name.clone(), one.series_parameters()))
        .collect();
    let metrics = benchmarks.iter().map(|one| one.metric.as_str());
    let named = all.iter_mut().zip(metrics);
    distinguish(named.map(|((name, parameters), metric)| (&**name, parameters, metric)));
    all
}

/// Formats the ends of an interval, in the unit of the value next to it.
fn interval(one: &Benchmark, middle: Option<Middle>, more: usize) -> String {
    match middle.map(ends) {
        // Show an interval only if the samples differ: counts of allocations are often all equal.
        Some((value, low, high)) if low < high => {
            Scale::of(value, &one.unit).interval(value, low, high, more)
        }
        _ => String::new(),
    }
}

/// Returns a value and its interval; without an interval, both ends are the value.
fn ends(middle: Middle) -> (f64, f64, f64) {
    let value = middle.value;
    match middle.from {
        IntervalFrom::Nothing => (value, value, value),
        _ => (value, middle.low, middle.high),
    }
}

/// Returns the number of samples, if known.
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

fn write_left_out(page: &mut Page, mut left_out: Vec<&LeftOut>, options: &ImportOptions) {
    if left_out.is_empty() && options.of_no_format == 0 {
        return;
    }
    page.heading("Left out");
    // The stable sort keeps the file's order on ties.
    left_out.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    let shown = match options.screen.verbose {
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
        let text = format!("{files} of unknown format");
        page.push(Line::new().pad_to(2).add(Tone::Plain, text));
    }
}

/// Describes the basis of figures that don't come from samples.
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
        "the interval is for the mean, computed from the standard deviation, assuming independent samples",
    );
    say(
        from(IntervalFrom::Quartiles),
        "the interval is for the median, computed from the quartiles",
    );
    say(
        from(IntervalFrom::Tool),
        "the interval is the one that the tool reports",
    );
    say(
        from(IntervalFrom::Nothing),
        "the file gives no interval, only the value",
    );
    if said.is_empty() && all().next().is_some() {
        said.push("intervals contain the median in 95 of 100 such files; with fewer than 6 samples, an interval is the \
             full range of the samples".to_owned());
    }
    said
}
