//! Converts records of any kind for export.

use fathom_exchange::export::{self, Export, Figure};
use fathom_exchange::{Benchmark, Direction, Summary, Values};
use fathom_model::{BenchRecord, ImportedRecord};
use fathom_store::{Draft, NewPoint, date};

/// Converts the JSON of a record. A record of `bench` yields its runs, an import its samples, and any other
/// kind the figures that go into series.
pub(super) fn of_text(text: &str) -> Result<Export, String> {
    #[derive(serde::Deserialize)]
    struct Mark {
        kind: String,
    }
    let damaged = |error: serde_json::Error| format!("the record is damaged: {error}");
    let mark: Mark = serde_json::from_str(text).map_err(damaged)?;
    match mark.kind.as_str() {
        "bench" => {
            let record: BenchRecord = serde_json::from_str(text).map_err(damaged)?;
            Ok(timed(export::of_bench(&record)))
        }
        "imported" => {
            let record: ImportedRecord = serde_json::from_str(text).map_err(damaged)?;
            Ok(of_imported(record))
        }
        kind => {
            let draft = Draft::of(text.to_owned()).map_err(|error| error.to_string())?;
            if draft.points.is_empty() {
                return Err(format!("a record of {kind:?} has no figures to export"));
            }
            Ok(Export {
                tool: format!("fathom {}", draft.fathom_version),
                milliseconds: draft.time,
                time: date::text(draft.time),
                figures: draft.points.into_iter().map(of_point).collect(),
                ..Export::default()
            })
        }
    }
}

pub(super) fn of_imported(record: ImportedRecord) -> Export {
    timed(export::of_imported(record))
}

/// Fills in the time as a number.
fn timed(export: Export) -> Export {
    Export {
        milliseconds: date::parse(&export.time).unwrap_or(0),
        ..export
    }
}

fn of_point(point: NewPoint) -> Figure {
    summary(
        point.benchmark,
        point.parameters,
        point.metric,
        point.unit,
        point.direction.as_deref(),
        [point.value, point.low, point.high],
        point.runs,
    )
}

/// Returns what a series holds about one measurement.
pub(super) fn summary(
    name: String,
    parameters: Vec<(String, String)>,
    metric: String,
    unit: String,
    direction: Option<&str>,
    [value, low, high]: [f64; 3],
    runs: u32,
) -> Figure {
    Figure {
        benchmark: Benchmark {
            name,
            parameters: parameters.into_iter().collect(),
            metric,
            unit: match unit.as_str() {
                "seconds" => "s".to_owned(),
                "bytes" => "B".to_owned(),
                "count" => String::new(),
                _ => unit,
            },
            direction: match direction {
                Some("lower_is_better") => Some(Direction::LowerIsBetter),
                Some("higher_is_better") => Some(Direction::HigherIsBetter),
                _ => None,
            },
            exact: false,
            values: Values::Summary(Box::new(Summary {
                count: Some(u64::from(runs)),
                median: Some(value),
                low: Some(low),
                high: Some(high),
                ..Summary::default()
            })),
            iterations: Vec::new(),
            threads: None,
        },
        exit_codes: Vec::new(),
    }
}
