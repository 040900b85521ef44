//! The table that all markup exports show.

use fathom_model::{BenchRecord, Comparison, Metric};

use crate::TimeUnit;
use crate::bench::terminal::answer::metrics;
use crate::quantity::{InUnit, Words, format_level, signed_with_interval};
use crate::session::Subject;
use crate::text::JOIN;

/// A table without markup. Names are raw; all other cells contain only digits and letters.
pub(crate) struct Table {
    /// The titles of the six columns.
    pub(crate) header: [String; 6],
    /// The name of the benchmark, and the other five cells.
    pub(crate) rows: Vec<(String, [String; 5])>,
}

/// Returns a table for each requested metric, or else for the metric of the verdicts, as on the terminal.
pub(crate) fn each_metric(
    record: &BenchRecord,
    unit: Option<TimeUnit>,
    write: fn(&Table) -> String,
) -> String {
    let all = metrics(record).into_iter();
    let all: Vec<String> = all
        .map(|metric| write(&table(record, metric, unit)))
        .collect();
    all.join("\n")
}

/// Returns `record` as a table of a metric; times are in `unit`, or in the unit that fits the fastest
/// benchmark.
fn table(record: &BenchRecord, clock: Metric, unit: Option<TimeUnit>) -> Table {
    let subjects = Subject::all(record);
    let medians = subjects.iter().filter_map(|subject| subject.median(clock));
    let least = medians.fold(f64::INFINITY, f64::min);
    let unit = InUnit::asked(clock, if least.is_finite() { least } else { 1.0 }, unit);
    let symbol = match unit.symbol() {
        "" => String::new(),
        symbol => format!(" [{symbol}]"),
    };
    let mut level = None;
    let mut rows = Vec::new();
    for subject in &subjects {
        let Some(summary) = subject.summary(clock) else {
            continue;
        };
        let median = &summary.median;
        let has_interval = median.level > 0.0;
        if has_interval {
            level.get_or_insert(median.level);
        }
        let decimals = unit.decimals(median);
        let value = |value: f64| unit.number(value, decimals);
        let cells = [
            value(median.value),
            if has_interval {
                format!("{} to {}", value(median.low), value(median.high))
            } else {
                String::new()
            },
            value(summary.min),
            value(summary.max),
            relative(record, subject.index, clock),
        ];
        rows.push((subject.benchmark.name.clone(), cells));
    }
    let level = format_level(level.unwrap_or(0.95)).replace(JOIN, " ");
    let header = [
        "Command".to_owned(),
        format!("Median {}{symbol}", clock.label()),
        format!("{level} interval{symbol}"),
        format!("Min{symbol}"),
        format!("Max{symbol}"),
        "Change (interval), verdict".to_owned(),
    ];
    Table { header, rows }
}

/// Formats the ratio to the reference with its interval and the verdict; `reference` for the reference
/// itself.
fn relative(record: &BenchRecord, index: usize, metric: Metric) -> String {
    let comparisons = record.outcome.iter().flat_map(|o| &o.comparisons);
    let comparisons: Vec<&Comparison> = comparisons.filter(|one| one.metric == metric).collect();
    if let Some(comparison) = comparisons.iter().find(|one| one.subject == index) {
        let change = signed_with_interval(&comparison.ratio);
        let verdict = Words::of(metric).word(comparison.verdict);
        return format!("{change}, {verdict}");
    }
    match comparisons.iter().any(|one| one.reference == index) {
        true => "reference".to_owned(),
        false => String::new(),
    }
}
