//! Answers how measurements changed over time.

use fathom_model::quantity::counted;
use fathom_model::{HistoryPoint, HistoryRecord, HistorySeries};
use serde::Serialize;

use super::compare::in_unit;
use super::{Answer, record};
use crate::bounded::{bare_name, name, text};

/// Maximum number of series, and of points of each, in an answer.
const SERIES: usize = 10;
const POINTS: usize = 20;

/// The result of `history`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct History {
    /// The answer in one sentence.
    answer: String,
    /// The recommended next step.
    next: Option<String>,
    /// The series, most recently measured first.
    series: Vec<Series>,
    /// Number of series that are not listed.
    more: usize,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Series {
    benchmark: String,
    metric: String,
    unit: String,
    /// The newest points, in ascending order of time.
    points: Vec<Point>,
    /// Number of older points that are not listed.
    older: usize,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Point {
    time: String,
    revision: Option<String>,
    labels: Vec<String>,
    value: f64,
    low: f64,
    high: f64,
    runs: u32,
    /// The environment; only points of the same environment may be compared.
    environment: String,
    /// Id of the record, for `compare`.
    record: String,
}

/// Builds the answer from a record.
///
/// # Errors
/// If the bytes are not such a record.
pub(crate) fn history(bytes: &[u8]) -> Result<Answer, String> {
    let record: HistoryRecord = record(bytes)?;
    let shown = || record.series.iter().take(SERIES);
    let answer = match record.series.len() {
        0 => "Nothing was saved under that name.".to_owned(),
        count => counted(count as u64, "series", "series") + ", the most recently measured first.",
    };
    let mut lines = vec![answer.clone()];
    lines.extend(shown().map(in_a_line));
    let next = match record.series.is_empty() {
        true => Some("run bench with label to save a measurement under a name".to_owned()),
        false => Some(
            "run compare with two revisions, labels or records to see whether they differ"
                .to_owned(),
        ),
    };
    let text = text(&lines, next.as_deref().unwrap_or_default());
    let structured = History {
        answer,
        next,
        series: shown().map(Series::from).collect(),
        more: record.series.len().saturating_sub(SERIES),
    };
    Answer::new(text, &structured)
}

/// Returns the newest points in one line, newest first.
fn in_a_line(series: &HistorySeries) -> String {
    let newest = series.points.iter().rev().take(4).map(|point| {
        let side = match (point.labels.first(), &point.revision) {
            (Some(label), _) => name(label),
            (None, Some(revision)) => bare_name(&revision.chars().take(10).collect::<String>()),
            (None, None) => bare_name(&point.time),
        };
        format!("{} at {side}", in_unit(point.value, &series.unit))
    });
    format!(
        "{} {}: {} ({})",
        name(&series.benchmark),
        bare_name(&series.metric),
        newest.collect::<Vec<_>>().join(", "),
        counted(series.points.len() as u64, "point", "points")
    )
}

impl From<&HistorySeries> for Series {
    fn from(series: &HistorySeries) -> Self {
        let older = series.points.len().saturating_sub(POINTS);
        Self {
            benchmark: bare_name(&series.benchmark),
            metric: bare_name(&series.metric),
            unit: bare_name(&series.unit),
            points: series.points[older..].iter().map(Point::from).collect(),
            older,
        }
    }
}

impl From<&HistoryPoint> for Point {
    fn from(point: &HistoryPoint) -> Self {
        Self {
            time: bare_name(&point.time),
            revision: point.revision.as_deref().map(bare_name),
            labels: point
                .labels
                .iter()
                .take(5)
                .map(|label| bare_name(label))
                .collect(),
            value: point.value,
            low: point.low,
            high: point.high,
            runs: point.runs,
            environment: bare_name(&point.environment),
            record: bare_name(&point.record),
        }
    }
}
