//! `history`: reads series from a store, with details about their points.

mod names;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use fathom_model::{
    HistoryEnvironment, HistoryPoint, HistoryRecord, HistorySeries, Metric, SCHEMA_VERSION,
};
use fathom_store::{Head, Point, Segment, Series, SeriesFilter, Since, Store, date, git};
pub(crate) use names::{fits, matching, shown};
use serde::Deserialize;

use crate::compare::clock;
use crate::compare::stored::beside;
use crate::{ConductError, stores};

/// The metrics that can represent a benchmark if none is named; the first one that the benchmark has is used.
///
/// A load test is represented by its response rate or, if the tool sends requests at its own pace, by its
/// latency, regardless of the order in the file.
const MAIN: [&str; 10] = [
    "wall",
    "cpu_wait_free",
    "first_output",
    "pipeline_wall",
    "requests_per_second",
    "http_req_duration",
    "grpc_req_duration",
    "ws_session_duration",
    "iteration_duration",
    "response",
];

/// Which series to read, and how much of them.
#[derive(Debug, Clone, Default)]
pub struct HistoryPlan {
    /// The store, as given to `--store`.
    pub store: Option<String>,
    /// Names or partial names of benchmarks; `*` matches any characters. Empty means all.
    pub benchmarks: Vec<String>,
    /// The name of the metric; `*` matches any characters.
    pub metric: Option<String>,
    /// The first point to read: a date, a revision or a label.
    pub since: Option<String>,
    /// If no metric is named, whether to read only the main metric of each benchmark instead of all metrics.
    pub main_only: bool,
    /// The maximum number of points to read from each series if several series are found; the newest are
    /// read.
    pub newest: Option<usize>,
    /// The maximum number of series whose points are read, unless `since` is given. The series with the
    /// newest points are chosen; the others are listed without points.
    pub read: Option<usize>,
}

/// The result of reading series.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The series.
    pub record: HistoryRecord,
    /// Other metrics of these benchmarks, without duplicates.
    pub other_metrics: Vec<String>,
}

/// Reads series from the store.
///
/// # Errors
/// A store that doesn't exist or can't be read; a name that matches nothing.
pub fn history(plan: &HistoryPlan, here: &Path) -> Result<Found, ConductError> {
    let mut store = stores::open(plan.store.as_deref(), here)?;
    let all = store.series(&SeriesFilter::default(), 0)?;
    let named = matching(&mut store, &all, &plan.benchmarks)?;
    let series = chosen(&all, &named, plan.metric.as_deref(), plan.main_only);
    if series.is_empty()
        && !named.is_empty()
        && let Some(metric) = &plan.metric
    {
        return Err(names::no_metric(metric, &named));
    }
    let since = match &plan.since {
        Some(text) => since(&mut store, here, text)?,
        None => Since::Start,
    };
    let mut numbers: Vec<i64> = series.iter().map(|one| one.number).collect();
    let places = store.last_places(&numbers)?;
    let order = |one: &Series| {
        let place = std::cmp::Reverse(places.get(&one.number).copied());
        (place, one.benchmark.clone(), one.parameters.clone())
    };
    let mut series = series;
    series.sort_by_cached_key(order);
    if let (Some(read), Since::Start) = (plan.read, &since) {
        numbers = series.iter().take(read).map(|one| one.number).collect();
    }
    let newest = plan
        .newest
        .filter(|_| since == Since::Start && series.len() > 1);
    let mut read = |numbers: &[i64]| match newest {
        Some(newest) => store.newest(numbers, newest),
        None => store.points_of(numbers, &since),
    };
    let mut points = read(&numbers)?;
    if plan.main_only && plan.metric.is_none() {
        let free = wait_free(&all, &series, &points);
        let more = read(&free.values().map(|one| one.number).collect::<Vec<_>>())?;
        for one in &mut series {
            let Some(other) = free.get(&one.number) else {
                continue;
            };
            let both = [one.number, other.number]
                .map(|number| (points.get(&number)).or(more.get(&number)));
            if let [Some(wall), Some(found)] = both
                && has_waited(wall, found)
            {
                points.insert(other.number, found.clone());
                *one = other.clone();
            }
        }
    }
    let other_metrics = other_metrics(&named, &series);
    let heads = store.heads(points.values().flatten().map(|point| point.record))?;
    let keys = environments(&mut store)?;
    let mut used = BTreeMap::new();
    let series = series
        .into_iter()
        .map(|one| {
            let points = points.remove(&one.number).unwrap_or_default();
            for point in &points {
                if let Some((key, facts)) = keys.get(&point.environment) {
                    used.entry(key.clone()).or_insert_with(|| facts.clone());
                }
            }
            with_points(one, &points, &heads, &keys)
        })
        .collect();
    Ok(Found {
        record: HistoryRecord {
            schema_version: SCHEMA_VERSION,
            kind: "history".to_owned(),
            fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
            store: store.name().to_owned(),
            environments: used.into_values().collect(),
            series,
        },
        other_metrics,
    })
}

/// Returns the metrics of `named` that aren't shown, without duplicates.
fn other_metrics(named: &[Series], series: &[Series]) -> Vec<String> {
    let shown: HashSet<i64> = series.iter().map(|one| one.number).collect();
    let mut other_metrics: Vec<String> = Vec::new();
    for one in named {
        if !shown.contains(&one.number) && !other_metrics.contains(&one.metric) {
            other_metrics.push(one.metric.clone());
        }
    }
    other_metrics
}

/// Returns the wait-free time of each wall-time series that has at least two points.
fn wait_free(
    all: &[Series],
    series: &[Series],
    points: &HashMap<i64, Vec<Point>>,
) -> HashMap<i64, Series> {
    let read = series.iter().filter(|one| {
        let known = points.get(&one.number);
        known.is_some_and(|known| known.len() > 1)
    });
    let read: Vec<Series> = read.cloned().collect();
    let found = beside(all, &read).into_iter();
    found
        .filter(|((_, metric), _)| *metric == Metric::Undisturbed)
        .filter_map(|((wall, _), number)| {
            let other = all.iter().find(|one| one.number == number)?;
            Some((wall, other.clone()))
        })
        .collect()
}

/// Reports whether the newest two points are compared by wait-free time, by the same rule as in `compare`.
fn has_waited(wall: &[Point], free: &[Point]) -> bool {
    let newest = wall.iter().rev().take(2).map(|point| {
        let without = free.iter().find(|other| other.record == point.record);
        let without = without.map(|other| (other.value, other.runs));
        clock::waits((point.value, point.runs), without, None)
    });
    clock::is_wait_free(&newest.collect::<Vec<_>>())
}

/// Selects the requested metrics of the given series: all of them, or the main metric of each benchmark.
pub(crate) fn chosen(
    all: &[Series],
    named: &[Series],
    metric: Option<&str>,
    main_only: bool,
) -> Vec<Series> {
    let main = mains(all);
    let metric_fits = |one: &Series| match metric {
        Some(metric) => names::fits(metric, &one.metric),
        None => !main_only || main.contains(&one.number),
    };
    named
        .iter()
        .filter(|one| metric_fits(one))
        .cloned()
        .collect()
}

/// Returns the rank of a metric; the metric with the lowest rank represents its benchmark.
pub(crate) fn rank(metric: &str) -> usize {
    let place = MAIN.iter().position(|main| *main == metric);
    place.unwrap_or(MAIN.len())
}

/// Returns the series that represent their benchmarks, one for each benchmark.
fn mains(all: &[Series]) -> HashSet<i64> {
    let mut main = HashMap::new();
    for one in all {
        let benchmark = (one.benchmark.as_str(), one.parameters.as_slice());
        let known: &mut &Series = main.entry(benchmark).or_insert(one);
        // On ties, keep the first.
        if rank(&one.metric) < rank(&known.metric) {
            *known = one;
        }
    }
    main.into_values().map(|one| one.number).collect()
}

/// Returns the keys and facts of the environments, by their numbers in this store.
pub(crate) fn environments(
    store: &mut Store,
) -> Result<HashMap<i64, (String, HistoryEnvironment)>, fathom_store::Error> {
    let facts = store.environments()?;
    let named = facts.into_iter().map(|(number, facts)| {
        let key = Segment::of(&facts).key;
        let known = HistoryEnvironment {
            key: key.clone(),
            ..HistoryEnvironment::deserialize(&facts).unwrap_or_default()
        };
        (number, (key, known))
    });
    Ok(named.collect())
}

/// Returns whether higher values are better, if the direction of the series is known.
pub(crate) fn higher_is_better(direction: Option<&str>) -> Option<bool> {
    direction.map(|word| word == "higher_is_better")
}

/// Returns the numbers of the environments with this key in this store.
pub(crate) fn numbers_of(store: &mut Store, key: &str) -> Result<Vec<i64>, fathom_store::Error> {
    let all = environments(store)?.into_iter();
    let own = all.filter(|(_, (known, _))| known == key);
    Ok(own.map(|(number, _)| number).collect())
}

fn with_points(
    series: Series,
    points: &[Point],
    heads: &HashMap<i64, Head>,
    keys: &HashMap<i64, (String, HistoryEnvironment)>,
) -> HistorySeries {
    let point = |point: &Point| {
        let head = heads.get(&point.record)?;
        let revision = head.revision.as_ref();
        Some(HistoryPoint {
            revision: revision.map(|revision| revision.id.clone()),
            branch: revision.and_then(|revision| revision.branch.clone()),
            dirty: revision.is_some_and(|revision| revision.dirty),
            labels: head.labels.clone(),
            time: date::text(head.time),
            value: point.value,
            low: point.low,
            high: point.high,
            runs: point.runs,
            environment: keys
                .get(&point.environment)
                .map(|(key, _)| key.clone())
                .unwrap_or_default(),
            record: head.id.clone(),
        })
    };
    HistorySeries {
        points: points.iter().filter_map(point).collect(),
        benchmark: series.benchmark,
        parameters: series.parameters,
        metric: series.metric,
        unit: series.unit,
        direction: series.direction,
        meaning: series.meaning,
    }
}

/// Resolves `--since`, which is a date, a revision (all its descendants are included), or a label (its oldest
/// record is the first).
fn since(store: &mut Store, here: &Path, text: &str) -> Result<Since, ConductError> {
    if let Some(time) = date::parse(text) {
        return Ok(Since::Time(time));
    }
    let why = match git::since(here, text) {
        Ok(revisions) => return Ok(Since::Revisions(revisions)),
        Err(why) => why,
    };
    let records = store.records(&fathom_store::Selector::Label(text.to_owned()))?;
    let oldest = records.iter().map(|record| record.time).min();
    oldest.map(Since::Time).ok_or_else(|| {
        ConductError::Refused(format!(
            "--since {text:?} is not a date (2026-11-25), a label or a revision: {why}"
        ))
    })
}
