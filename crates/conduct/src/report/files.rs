//! Reads series and whole records from files.

use std::path::Path;

use fathom_model::{
    HistoryEnvironment, Measurement, Report, ReportBenchmark, ReportPoint, ReportSamples,
    ReportSeries,
};
use fathom_store::{Draft, Error, NewPoint};
use serde_json::Value;

use super::stored::thinned;
use crate::ConductError;
use crate::compare::body::Body;
use crate::compare::file::{LONGEST, own_records};
use crate::history::{fits, rank};

/// Adds the contents of a Fathom file.
///
/// # Errors
/// A file that can't be read, or is not a record written by Fathom.
pub(super) fn add(
    path: &Path,
    metric: Option<&str>,
    report: &mut Report,
) -> Result<(), ConductError> {
    let failed = |source| Error::File {
        path: path.to_path_buf(),
        source,
    };
    let size = path.metadata().map_err(failed)?.len();
    let own = match size <= LONGEST {
        true => own_records(&fathom_store::regular::read(path).map_err(failed)?),
        false => Vec::new(),
    };
    if own.is_empty() {
        return Err(ConductError::Refused(format!(
            "{} is not a record written by Fathom; --json FILE writes one, and `fathom import FILE --json RECORD` \
             converts another tool's file",
            path.display()
        )));
    }
    for text in own {
        one(&text, metric, report)
            .map_err(|why| ConductError::Refused(format!("{}: {why}", path.display())))?;
    }
    Ok(())
}

fn one(text: &str, metric: Option<&str>, report: &mut Report) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let unreadable = |error: serde_json::Error| format!("its record can't be read: {error}");
    match value["kind"].as_str() {
        Some("gate") => {
            let record = serde_json::from_value(value).map_err(unreadable)?;
            report.gates.push(record);
            Ok(())
        }
        Some("versions") => {
            let record = serde_json::from_value(value).map_err(unreadable)?;
            report.versions.push(record);
            Ok(())
        }
        kind => {
            if kind == Some("serve") {
                let record = serde_json::from_value(value).map_err(unreadable)?;
                report.serves.push(record);
            }
            let draft = Draft::of(text.to_owned()).map_err(|error| error.to_string())?;
            if draft.points.is_empty() {
                return Err("it has no figures: was its measurement interrupted?".to_owned());
            }
            points(draft, metric, report);
            Ok(())
        }
    }
}

/// Adds the points of a record; if a benchmark already exists, its points are appended to the existing ones.
fn points(draft: Draft, metric: Option<&str>, report: &mut Report) {
    let key = draft.segment.key.clone();
    let known = report.environments.iter().position(|one| one.key == key);
    let environment = known.unwrap_or_else(|| {
        let facts: HistoryEnvironment =
            serde_json::from_value(draft.segment.facts.clone()).unwrap_or_default();
        report
            .environments
            .push(HistoryEnvironment { key, ..facts });
        report.environments.len() - 1
    });
    let measurement = report.measurements.len();
    report.measurements.push(Measurement {
        id: draft.id(),
        time: draft.time,
        started_at: fathom_store::date::text(draft.time),
        revision: draft.revision.as_ref().map(|revision| revision.id.clone()),
        dirty: draft
            .revision
            .as_ref()
            .is_some_and(|revision| revision.dirty),
        labels: draft.labels.clone(),
    });
    let body = Body::of(&draft.text);
    for new in draft.points {
        let samples = body.samples(&new.benchmark, &new.parameters, &new.metric);
        put(report, new, (measurement, environment), samples, metric);
    }
}

/// Returns the index of the series for a point; the requested metric comes first.
fn place_of(benchmark: &mut ReportBenchmark, new: &NewPoint, metric: Option<&str>) -> usize {
    let mut known = benchmark.series.iter();
    if let Some(at) = known.position(|one| one.metric == new.metric) {
        return at;
    }
    let order = |name: &str| match metric {
        Some(metric) => usize::from(!fits(metric, name)),
        None => rank(name),
    };
    let of_new = order(&new.metric);
    let at = benchmark
        .series
        .partition_point(|one| order(&one.metric) <= of_new);
    let series = ReportSeries {
        metric: new.metric.clone(),
        unit: new.unit.clone(),
        direction: new.direction.clone(),
        meaning: new.meaning.clone(),
        total: 0,
        points: Vec::new(),
        changes: Vec::new(),
    };
    if at == 0 {
        benchmark.samples.clear(); // they belong to the former first entry
    }
    benchmark.series.insert(at, series);
    at
}

fn put(
    report: &mut Report,
    new: NewPoint,
    (measurement, environment): (usize, usize),
    samples: Option<Vec<f64>>,
    metric: Option<&str>,
) {
    let same =
        |one: &ReportBenchmark| one.name == new.benchmark && one.parameters == new.parameters;
    let place = report.benchmarks.iter().position(same).unwrap_or_else(|| {
        report.benchmarks.push(ReportBenchmark {
            name: new.benchmark.clone(),
            parameters: new.parameters.clone(),
            series: Vec::new(),
            before: None,
            baseline: None,
            samples: Vec::new(),
        });
        report.benchmarks.len() - 1
    });
    let benchmark = &mut report.benchmarks[place];
    let at = place_of(benchmark, &new, metric);
    let series = &mut benchmark.series[at];
    // Files may be named in any order; points are sorted by time.
    let time = |one: &ReportPoint| report.measurements[one.measurement].time;
    let index = series
        .points
        .partition_point(|one| time(one) <= report.measurements[measurement].time);
    let point = ReportPoint {
        index,
        measurement,
        environment,
        runs: new.runs,
        value: new.value,
        low: new.low,
        high: new.high,
    };
    series.points.insert(index, point);
    series.total = series.points.len();
    for (index, point) in series.points.iter_mut().enumerate() {
        point.index = index;
    }
    if at == 0 {
        let moved = benchmark
            .samples
            .iter_mut()
            .filter(|one| one.index >= index);
        moved.for_each(|one| one.index += 1);
        if let Some(values) = samples.filter(|values| !values.is_empty()) {
            let values = thinned(values);
            benchmark.samples.push(ReportSamples { index, values });
        }
        benchmark.samples.sort_by_key(|one| one.index);
        let total = series.total;
        benchmark.samples.retain(|one| one.index + 2 >= total);
    }
}
