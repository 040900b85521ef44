//! Reads a side from the store.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use fathom_model::{CompareSide, Metric};
use fathom_store::{Error, Head, Point, Series, SeriesFilter, Since, Store};

use super::ComparePlan;
use super::body::{Body, again};
use super::side::{Figure, Session, Side, SideSeries};
use crate::history::{chosen, environments, matching};
use crate::{ConductError, stores};

/// Returns the measurements that `asked` names, in order, and the number skipped because their tree was
/// modified.
fn measurements(
    store: &mut Store,
    here: &Path,
    asked: &str,
    dirty: bool,
) -> Result<(Vec<Head>, usize), ConductError> {
    let mut heads = stores::find(store, here, asked)?;
    let before = heads.len();
    // A record named by its position or id is used even if its tree was modified.
    let by_itself = asked.starts_with("@-") || (before == 1 && heads[0].id.starts_with(asked));
    if !dirty && !by_itself {
        heads.retain(|head| !is_dirty(head));
    }
    if heads.is_empty() {
        return Err(ConductError::Refused(format!(
            "every measurement of {asked} was made with uncommitted changes in tracked files; --dirty compares \
             them, or commit and measure again"
        )));
    }
    heads.sort_by_key(Head::order);
    let left_out = before - heads.len();
    Ok((heads, left_out))
}

/// Reads the measurements that `asked` names.
///
/// # Errors
/// If no record has that name, or if all of its measurements are skipped.
pub(super) fn read(
    store: &mut Store,
    here: &Path,
    asked: &str,
    plan: &ComparePlan,
) -> Result<Side, ConductError> {
    let (heads, dirty_left_out) = measurements(store, here, asked, plan.dirty)?;
    let all = store.series(&SeriesFilter::default(), 0)?;
    let named = matching(store, &all, &plan.benchmarks)?;
    let series = chosen(&all, &named, plan.metric.as_deref(), plan.metric.is_none());
    let keys = environments(store)?;
    let renamed = store.renamed()?;
    let bodies: HashMap<i64, Body> = heads
        .iter()
        .map(|head| Ok((head.number, body(store, head, &renamed)?)))
        .collect::<Result<_, Error>>()?;
    let beside = beside(&all, &series);
    let numbers = series.iter().map(|one| one.number);
    let numbers: Vec<i64> = numbers.chain(beside.values().copied()).collect();
    let points = store.points_of(&numbers, &Since::Start)?;
    let wanted: HashSet<i64> = heads.iter().map(|head| head.number).collect();
    let nothing = Body::default();
    let with_sessions = series.into_iter().filter_map(|one: Series| {
        let own = points.get(&one.number)?.iter();
        let own: Vec<&Point> = own.filter(|point| wanted.contains(&point.record)).collect();
        let last = own.last()?.record;
        let sessions = own.iter().map(|point| {
            let beside = |metric: Metric| {
                let number = beside.get(&(one.number, metric))?;
                let mut points = points.get(number)?.iter();
                points
                    .find(|other| other.record == point.record)
                    .map(figure)
            };
            let body = bodies.get(&point.record).unwrap_or(&nothing);
            Session {
                environment: keys.get(&point.environment).map(|(key, _)| key.clone()),
                time: point.time,
                record: Some(point.record),
                ..body.session(
                    (&one.benchmark, &one.parameters, &one.metric),
                    figure(point),
                    beside(Metric::Undisturbed),
                    beside(Metric::RunQueueWait),
                )
            }
        });
        let sessions = sessions.collect();
        let body = bodies.get(&last);
        Some(SideSeries {
            again: body.and_then(|body| again(body, &one.benchmark, &one.parameters)),
            sessions,
            benchmark: one.benchmark,
            parameters: one.parameters,
            metric: one.metric,
            unit: one.unit,
            direction: one.direction,
        })
    });
    Ok(Side {
        series: with_sessions.collect(),
        about: CompareSide {
            asked: asked.to_owned(),
            revision: one_revision(&heads),
            records: heads.iter().map(|head| head.id.clone()).collect(),
            file: None,
        },
        environments: keys.into_values().collect(),
        dirty_left_out,
        content: None,
    })
}

fn figure(point: &Point) -> Figure {
    Figure {
        value: point.value,
        low: point.low,
        high: point.high,
        runs: point.runs,
    }
}

/// Finds the series that record the waits of each wall-time series, keyed by the number of the wall-time
/// series and the metric.
pub(crate) fn beside(all: &[Series], series: &[Series]) -> HashMap<(i64, Metric), i64> {
    let mut found = HashMap::new();
    let walls = series.iter();
    for wall in walls.filter(|one| one.metric == Metric::Wall.name()) {
        for metric in [Metric::Undisturbed, Metric::RunQueueWait] {
            let same = |other: &&Series| {
                other.metric == metric.name()
                    && other.benchmark == wall.benchmark
                    && other.parameters == wall.parameters
            };
            if let Some(other) = all.iter().find(same) {
                found.insert((wall.number, metric), other.number);
            }
        }
    }
    found
}

fn is_dirty(head: &Head) -> bool {
    head.revision
        .as_ref()
        .is_some_and(|revision| revision.dirty)
}

fn one_revision(heads: &[Head]) -> Option<String> {
    let first = heads.first()?.revision.as_ref()?;
    let same = |head: &Head| head.revision.as_ref().is_some_and(|one| one.id == first.id);
    heads.iter().all(same).then(|| first.id.clone())
}

/// Returns the record with current names; empty if it was pruned.
pub(crate) fn body(
    store: &mut Store,
    head: &Head,
    renamed: &HashMap<String, String>,
) -> Result<Body, Error> {
    let text = match store.record(head) {
        Err(Error::Pruned { .. }) => return Ok(Body::default()),
        text => text?,
    };
    Ok(Body::of(&text).renamed(renamed))
}
