//! The points in the format that the script reads: integers in lists, with repeated values written once.

use std::collections::HashMap;

use fathom_model::{ChangeKind, Metric, Report, ReportBenchmark, ReportComparison, ReportSeries};
use serde_json::{Map, Value, json};

use crate::history::in_words;
use crate::text::{bounded, escape};

/// The maximum width of a benchmark's name, in columns.
const LONGEST_NAME: usize = 160;
/// The number of digits of a series' smallest value; at most six are ever printed.
const DIGITS: i32 = 8;
/// Digits of an abbreviated revision or record id.
const ID: usize = 12;

/// How much of each benchmark is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Whether to write all points of every metric, or only those of the main metric.
    pub(super) every_metric: bool,
    /// The number of newest points of a metric to write.
    pub(super) newest: usize,
    /// Whether to write the runs of the last two points.
    pub(super) samples: bool,
}

impl Extent {
    pub(super) const ALL: Extent = Extent {
        every_metric: true,
        newest: usize::MAX,
        samples: true,
    };
}

/// Returns the short, escaped name with which the page links to a benchmark.
pub(super) fn key(benchmark: &ReportBenchmark) -> String {
    escape(&bounded(&benchmark.shown(), LONGEST_NAME))
}

/// Builds the data block of a page.
pub(super) fn data(report: &Report, extent: Extent) -> Value {
    let mut tables = Tables::default();
    let benchmarks = report.benchmarks.iter();
    let benchmarks: Vec<Value> = benchmarks
        .map(|one| benchmark(one, extent, &mut tables))
        .collect();
    json!({
        "benchmarks": benchmarks,
        "metrics": tables.metrics,
        "measurements": measurements(report, &tables),
        "environments": report.environments.iter().map(|one| escape(&bounded(&in_words(one), 200))).collect::<Vec<_>>(),
    })
}

/// Values shared by several benchmarks.
#[derive(Default)]
struct Tables {
    metrics: Vec<Value>,
    metric_places: HashMap<(String, String), usize>,
    /// Measurements to write, by their index in the report.
    used: Vec<usize>,
    places: HashMap<usize, usize>,
}

impl Tables {
    fn metric(&mut self, series: &ReportSeries) -> usize {
        let key = (series.metric.clone(), series.unit.clone());
        *self.metric_places.entry(key).or_insert_with(|| {
            self.metrics.push(json!({
                "name": escape(&bounded(&series.metric, 60)),
                "unit": escape(&bounded(&series.unit, 20)),
                "better": match series.direction.as_deref() {
                    Some("lower_is_better") => "lower",
                    Some("higher_is_better") => "higher",
                    _ => "",
                },
                "meaning": escape(&bounded(&series.meaning, 200)),
            }));
            self.metrics.len() - 1
        })
    }

    fn measurement(&mut self, number: usize) -> usize {
        *self.places.entry(number).or_insert_with(|| {
            self.used.push(number);
            self.used.len() - 1
        })
    }
}

fn benchmark(one: &ReportBenchmark, extent: Extent, tables: &mut Tables) -> Value {
    let series: Vec<Value> = one
        .series
        .iter()
        .enumerate()
        .map(|(place, of)| {
            let newest = match place == 0 || extent.every_metric {
                true => extent.newest,
                false => 2,
            };
            series(of, newest, tables)
        })
        .collect();
    let mut out = Map::new();
    out.insert("name".into(), json!(key(one)));
    out.insert("series".into(), json!(series));
    for (name, comparison) in [("before", &one.before), ("baseline", &one.baseline)] {
        if let Some(comparison) = comparison {
            out.insert(name.into(), compared(comparison));
        }
    }
    if extent.samples && !one.samples.is_empty() {
        let samples = one.samples.iter().map(|one| {
            let exponent = exponent(one.values.iter().copied());
            let values = one.values.iter().map(|value| whole(*value, exponent));
            json!({ "index": one.index, "exponent": exponent, "values": values.collect::<Vec<_>>() })
        });
        out.insert("samples".into(), json!(samples.collect::<Vec<_>>()));
    }
    Value::Object(out)
}

fn compared(one: &ReportComparison) -> Value {
    let mut value = json!({
        "base": one.base, "ratio": rounded(one.ratio.value), "low": rounded(one.ratio.low),
        "high": rounded(one.ratio.high), "verdict": one.word(),
        "drift": rounded(one.drift.share), "measurements": one.drift.measurements,
    });
    if one.wait_free {
        value["clock"] = json!(Metric::Undisturbed.name());
    }
    value
}

/// Rounds a ratio to six decimals; more aren't meaningful.
fn rounded(value: f64) -> f64 {
    format!("{value:.6}").parse().unwrap_or(value)
}

fn series(of: &ReportSeries, newest: usize, tables: &mut Tables) -> Value {
    let points = &of.points[of.points.len().saturating_sub(newest)..];
    let exponent = exponent(points.iter().map(|point| point.value));
    let mut out = Map::new();
    out.insert("metric".into(), json!(tables.metric(of)));
    out.insert("total".into(), json!(of.total));
    out.insert("points".into(), json!(points.len()));
    out.insert("exponent".into(), json!(exponent));
    let mut list = |name: &str, values: Vec<i64>| {
        out.insert(name.into(), packed(&values));
    };
    let whole = |value: f64| whole(value, exponent);
    list("value", points.iter().map(|one| whole(one.value)).collect());
    // Interval ends are written as distances from the value, which takes fewer digits.
    let below = points.iter().map(|one| whole(one.value) - whole(one.low));
    list("below", below.collect());
    let above = points.iter().map(|one| whole(one.high) - whole(one.value));
    list("above", above.collect());
    list(
        "runs",
        points.iter().map(|one| i64::from(one.runs)).collect(),
    );
    list("index", points.iter().map(|one| one.index as i64).collect());
    let environments = points.iter().map(|one| one.environment as i64);
    list("environment", environments.collect());
    let measurements = points
        .iter()
        .map(|one| tables.measurement(one.measurement) as i64);
    list("measurement", measurements.collect());
    let first = points.first().map_or(0, |one| one.index);
    let shown = of.changes.iter().filter(|change| change.index >= first);
    let changes: Vec<Value> = shown
        .map(|change| {
            let ratio = change.ratio.as_ref();
            json!([
                change.index,
                change.until,
                ratio.map(|ratio| rounded(ratio.value)),
                change.kind == ChangeKind::Drift,
            ])
        })
        .collect();
    if !changes.is_empty() {
        out.insert("changes".into(), json!(changes));
    }
    Value::Object(out)
}

/// Returns the power of ten in which values are written, so that the smallest has eight digits.
fn exponent(values: impl Iterator<Item = f64>) -> i32 {
    let sizes = values
        .map(f64::abs)
        .filter(|size| *size > 0.0 && size.is_finite());
    let least = sizes.fold(f64::INFINITY, f64::min);
    match least.is_finite() {
        // Counts and bytes stay as they are.
        true => (least.log10().floor() as i32 + 1 - DIGITS).min(0),
        false => 0,
    }
}

fn whole(value: f64, exponent: i32) -> i64 {
    (value * 10f64.powi(-exponent)).round() as i64
}

/// Returns the values as a list, as a single number if all are equal, or as `{"from": n}` if each is one more
/// than the previous.
fn packed(values: &[i64]) -> Value {
    match values {
        [first, rest @ ..] if rest.iter().all(|one| one == first) => json!(first),
        [first, rest @ ..] if rest.iter().zip(first + 1..).all(|(one, next)| *one == next) => {
            json!({ "from": first })
        }
        values => json!(values),
    }
}

/// Returns the known properties of the measurements, as columns.
fn measurements(report: &Report, tables: &Tables) -> Value {
    let short = |text: &str| text.chars().take(ID).collect::<String>();
    let used: Vec<_> = tables
        .used
        .iter()
        .map(|number| &report.measurements[*number])
        .collect();
    let mut revisions: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut of = Vec::new();
    for one in &used {
        of.push(one.revision.as_deref().map_or(-1, |revision| {
            let revision = escape(&short(revision));
            let place = *places.entry(revision.clone()).or_insert_with(|| {
                revisions.push(revision);
                revisions.len() - 1
            });
            place as i64
        }));
    }
    let labels: Map<String, Value> = used
        .iter()
        .enumerate()
        .filter(|(_, one)| !one.labels.is_empty())
        .map(|(place, one)| {
            let labels = one.labels.iter().map(|label| escape(&bounded(label, 40)));
            (place.to_string(), json!(labels.take(4).collect::<Vec<_>>()))
        })
        .collect();
    let dirty = used.iter().enumerate().filter(|(_, one)| one.dirty);
    json!({
        "record": used.iter().map(|one| escape(&short(&one.id))).collect::<Vec<_>>(),
        "seconds": used.iter().map(|one| one.time.div_euclid(1000)).collect::<Vec<_>>(),
        "revision": packed(&of),
        "revisions": revisions,
        "labels": labels,
        "dirty": dirty.map(|(place, _)| place).collect::<Vec<_>>(),
    })
}
