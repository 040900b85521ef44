//! The table that all markup exports show.

use fathom_model::{BenchRecord, Comparison};

use crate::TimeUnit;
use crate::bench::terminal::answer::clock;
use crate::bench::terminal::verdict::clock_name;
use crate::quantity::{fixed, format_level, signed_with_interval, supported_decimals};
use crate::session::Subject;
use crate::text::JOIN;

/// A table without markup. Names are raw; everything else holds digits and letters only.
pub(crate) struct Table {
    /// Titles of the six columns.
    pub(crate) header: [String; 6],
    /// Name of the benchmark and the other five cells.
    pub(crate) rows: Vec<(String, [String; 5])>,
}

/// `record` as a table of times in `unit`, or in the unit that fits the fastest benchmark. All of it
/// is of one clock, that of the verdicts, as on the terminal.
pub(crate) fn table(record: &BenchRecord, unit: Option<TimeUnit>) -> Table {
    let subjects = Subject::all(record);
    let clock = clock(record);
    let medians = subjects.iter().filter_map(|subject| subject.median(clock));
    let fastest = medians.fold(f64::INFINITY, f64::min);
    let unit =
        unit.unwrap_or_else(|| TimeUnit::fitting(if fastest.is_finite() { fastest } else { 1.0 }));
    let symbol = unit.symbol();
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
        let decimals = supported_decimals(median, unit.seconds());
        let time = |seconds: f64| fixed(seconds / unit.seconds(), decimals);
        let cells = [
            time(median.value),
            if has_interval {
                format!("{} to {}", time(median.low), time(median.high))
            } else {
                String::new()
            },
            time(summary.min),
            time(summary.max),
            relative(record, subject.index),
        ];
        rows.push((subject.benchmark.name.clone(), cells));
    }
    let level = format_level(level.unwrap_or(0.95)).replace(JOIN, " ");
    let header = [
        "Command".to_owned(),
        format!("Median {} [{symbol}]", clock_name(clock)),
        format!("{level} interval [{symbol}]"),
        format!("Min [{symbol}]"),
        format!("Max [{symbol}]"),
        "Change (interval), verdict".to_owned(),
    ];
    Table { header, rows }
}

/// The ratio to the reference with its interval and the verdict; `reference` for that itself.
fn relative(record: &BenchRecord, index: usize) -> String {
    let comparisons: &[Comparison] = record
        .outcome
        .as_ref()
        .map_or(&[], |outcome| &outcome.comparisons);
    if let Some(comparison) = comparisons
        .iter()
        .find(|comparison| comparison.subject == index)
    {
        let change = signed_with_interval(&comparison.ratio);
        return format!("{change}, {}", comparison.verdict.word());
    }
    if comparisons
        .iter()
        .any(|comparison| comparison.reference == index)
    {
        return "reference".to_owned();
    }
    String::new()
}
