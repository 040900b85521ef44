//! How far separate measurements of a series differ when nothing changed.

use fathom_model::{Drift, DriftSource};
use fathom_stats::{BetweenSessions, between_sessions};
use fathom_store::{Error, NOISE_FLOOR, Series, SeriesFilter, Since, Store};

use super::side::{Session, SideSeries};
use crate::history::numbers_of;

/// The drift assumed for a series with too few earlier measurements.
const ASSUMED: f64 = 0.05;
/// The minimum number of earlier measurements from which drift is estimated.
const FEWEST: usize = 4;

/// Returns the drift of a series, estimated from earlier measurements in the environment of its head.
///
/// # Errors
/// Errors of the store.
pub(super) fn of(
    store: &mut Store,
    (series, metric): (&SideSeries, &str),
    base: &[&Session],
    head: &[&Session],
    across: bool,
    dirty: bool,
) -> Result<(BetweenSessions, Drift), Error> {
    let Some(key) = head.first().and_then(|one| one.environment.as_deref()) else {
        return Ok(assumed(None, 0));
    };
    let numbers = numbers_of(store, key)?;
    let floor = noise_floor(store, &numbers)?;
    let Some(found) = find(store, &series.benchmark, metric, &series.parameters)? else {
        return Ok(assumed(floor, 0));
    };
    // The history of one machine doesn't show the differences between machines.
    if across {
        return Ok(assumed(floor, 0));
    }
    let begin = head.iter().map(|one| one.time).min().unwrap_or(i64::MAX);
    let mut points = store.points(found.number, &Since::Start)?;
    points.retain(|point| {
        let of_head = head.iter().any(|one| one.record == Some(point.record));
        numbers.contains(&point.environment) && point.time <= begin && !of_head
    });
    let heads = store.heads(points.iter().map(|point| point.record))?;
    let clean = |record: i64| {
        let revision = heads.get(&record).and_then(|head| head.revision.as_ref());
        revision.is_none_or(|revision| !revision.dirty)
    };
    points.retain(|point| dirty || clean(point.record));
    let after = base.iter().map(|one| one.time).max().unwrap_or(i64::MIN);
    let apart = 1 + points.iter().filter(|point| point.time > after).count();
    let code = |record: i64| -> Option<String> {
        let head = heads.get(&record)?;
        match &head.revision {
            Some(revision) if !revision.dirty => Some(revision.id.clone()),
            Some(_) => None,
            None if head.labels.is_empty() => None,
            None => Some(head.labels.join("\n")),
        }
    };
    let measured: Vec<(f64, Option<String>)> = points
        .iter()
        .map(|point| (point.value, code(point.record)))
        .collect();
    Ok(between(&measured, apart, floor))
}

/// Estimates drift from earlier measurements, ordered by time. Each consists of a value and the code that was
/// measured.
pub(crate) fn between(
    measured: &[(f64, Option<String>)],
    apart: usize,
    floor: Option<f64>,
) -> (BetweenSessions, Drift) {
    if measured.len() < FEWEST {
        return assumed(floor, measured.len());
    }
    let Some((between, same)) = between_sessions(measured, apart) else {
        return assumed(floor, measured.len());
    };
    let drift = Drift {
        share: between.share(),
        source: match same {
            true => DriftSource::SameRevision,
            false => DriftSource::Successive,
        },
        measurements: measured.len(),
    };
    (between, drift)
}

/// Returns five percent, or the noise floor if that is larger.
pub(super) fn assumed(floor: Option<f64>, measurements: usize) -> (BetweenSessions, Drift) {
    let (share, source) = match floor {
        Some(floor) if floor > ASSUMED => (floor, DriftSource::NoiseFloor),
        _ => (ASSUMED, DriftSource::Assumed),
    };
    let drift = Drift {
        share,
        source,
        measurements,
    };
    (BetweenSessions::Assumed(share), drift)
}

/// Returns the noise floor from the latest `fathom machine --check` in these environments.
fn noise_floor(store: &mut Store, environments: &[i64]) -> Result<Option<f64>, Error> {
    let Some(series) = find(store, "machine", NOISE_FLOOR, &[])? else {
        return Ok(None);
    };
    let points = store.points(series.number, &Since::Start)?;
    let here = points
        .iter()
        .rev()
        .find(|point| environments.contains(&point.environment));
    Ok(here.map(|point| point.value))
}

fn find(
    store: &mut Store,
    benchmark: &str,
    metric: &str,
    parameters: &[(String, String)],
) -> Result<Option<Series>, Error> {
    let filter = SeriesFilter {
        benchmarks: vec![benchmark.to_owned()],
        metric: Some(metric.to_owned()),
    };
    let found = store.series(&filter, 0)?;
    // The store would treat a name with asterisks as a pattern.
    let same = |one: &Series| one.parameters == parameters && one.benchmark == benchmark;
    Ok(found.into_iter().find(same))
}
