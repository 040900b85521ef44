//! The table that all markup exports show.

use fathom_model::{BenchRecord, Comparison, Metric};

use crate::TimeUnit;
use crate::quantity::{fixed, format_level, supported_decimals};
use crate::session::Subject;
use crate::text::JOIN;

/// A table without markup. Names are raw; everything else holds digits and letters only.
pub(crate) struct Table {
    /// Titles of the six columns.
    pub(crate) header: [String; 6],
    /// Name of the benchmark and the other five cells.
    pub(crate) rows: Vec<(String, [String; 5])>,
}

/// `record` as a table of wall times in `unit`, or in the unit that fits the fastest benchmark.
/// The last column is the ratio to the reference on the clock that carries the verdict.
pub(crate) fn table(record: &BenchRecord, unit: Option<TimeUnit>) -> Table {
    let subjects = Subject::all(record);
    let medians = subjects
        .iter()
        .filter_map(|subject| subject.median(Metric::Wall));
    let fastest = medians.fold(f64::INFINITY, f64::min);
    let unit =
        unit.unwrap_or_else(|| TimeUnit::fitting(if fastest.is_finite() { fastest } else { 1.0 }));
    let symbol = unit.symbol();
    let mut level = None;
    let mut rows = Vec::new();
    for subject in &subjects {
        let Some(summary) = subject.summary(Metric::Wall) else {
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
        format!("Median [{symbol}]"),
        format!("{level} interval [{symbol}]"),
        format!("Min [{symbol}]"),
        format!("Max [{symbol}]"),
        relative_title(record),
    ];
    Table { header, rows }
}

/// Names the metric that is compared: the other columns are wall time, and the verdict may rest on
/// another clock.
fn relative_title(record: &BenchRecord) -> String {
    let metric = record
        .outcome
        .as_ref()
        .and_then(|outcome| outcome.comparisons.first())
        .map_or(Metric::Wall, |comparison| comparison.metric);
    let clock = match metric {
        Metric::Undisturbed => "undisturbed time",
        _ => "wall time",
    };
    format!("Relative {clock} (interval), verdict")
}

/// The ratio to the reference with its interval and the verdict; `1` for the reference itself.
fn relative(record: &BenchRecord, index: usize) -> String {
    let comparisons: &[Comparison] = record
        .outcome
        .as_ref()
        .map_or(&[], |outcome| &outcome.comparisons);
    if let Some(comparison) = comparisons
        .iter()
        .find(|comparison| comparison.subject == index)
    {
        let ratio = &comparison.ratio;
        let decimals = supported_decimals(ratio, 1.0);
        return format!(
            "{} ({} to {}), {}",
            fixed(ratio.value, decimals),
            fixed(ratio.low, decimals),
            fixed(ratio.high, decimals),
            comparison.verdict.word()
        );
    }
    if comparisons
        .iter()
        .any(|comparison| comparison.reference == index)
    {
        return "1".to_owned();
    }
    String::new()
}
