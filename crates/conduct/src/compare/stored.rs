//! A side from the store.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use fathom_model::CompareSide;
use fathom_stats::Measured;
use fathom_store::{Error, Head, Series, SeriesFilter, Since, Store};

use super::ComparePlan;
use super::file::{Body, again};
use super::side::{Session, Side, SideSeries, estimate};
use crate::history::{chosen, environments, matching};
use crate::{ConductError, stores};

/// The measurements of what `asked` names.
///
/// # Errors
/// Nothing of that name; only measurements that are left out.
pub(super) fn read(
    store: &mut Store,
    here: &Path,
    asked: &str,
    plan: &ComparePlan,
) -> Result<Side, ConductError> {
    let mut heads = stores::find(store, here, asked)?;
    let before = heads.len();
    // A record that is named by its place or its id is asked for as it is.
    let by_itself = asked.starts_with("@-") || (before == 1 && heads[0].id.starts_with(asked));
    if !plan.dirty && !by_itself {
        heads.retain(|head| !is_dirty(head));
    }
    if heads.is_empty() {
        return Err(ConductError::Refused(format!(
            "every measurement of {asked} is of a tree whose tracked files differed from the revision; \
             --dirty compares them, or commit and measure again"
        )));
    }
    heads.sort_by_key(Head::order);
    let all = store.series(&SeriesFilter::default(), 0)?;
    let named = matching(store, &all, &plan.benchmarks)?;
    let series = chosen(&all, &named, plan.metric.as_deref(), plan.metric.is_none());
    let keys = environments(store)?;
    let renamed = store.renamed()?;
    let bodies: HashMap<i64, Body> = heads
        .iter()
        .map(|head| Ok((head.number, body(store, head, &renamed)?)))
        .collect::<Result<_, Error>>()?;
    let numbers: Vec<i64> = series.iter().map(|one| one.number).collect();
    let mut points = store.points_of(&numbers, &Since::Start)?;
    let wanted: HashSet<i64> = heads.iter().map(|head| head.number).collect();
    let with_sessions = series.into_iter().filter_map(|one: Series| {
        let mut points = points.remove(&one.number)?;
        points.retain(|point| wanted.contains(&point.record));
        let last = points.last()?.record;
        let samples = |record: i64| {
            let body = bodies.get(&record);
            body.and_then(|body| body.samples(&one.benchmark, &one.parameters, &one.metric))
        };
        let is_import = |record| bodies.get(&record).is_some_and(Body::is_import);
        let sessions = points.iter().map(|point| {
            let samples = samples(point.record);
            Session {
                environment: keys.get(&point.environment).map(|(key, _)| key.clone()),
                time: point.time,
                record: Some(point.record),
                runs: point.runs,
                summary: is_import(point.record) && samples.is_none(),
                measured: Measured {
                    samples: samples.unwrap_or_default(),
                    estimate: estimate(point.value, point.low, point.high, point.runs),
                },
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
        dirty_left_out: before - heads.len(),
    })
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

/// The record, with the names of today; nothing of a pruned one.
pub(crate) fn body(
    store: &mut Store,
    head: &Head,
    renamed: &HashMap<String, String>,
) -> Result<Body, Error> {
    let text = match store.record(head) {
        Err(Error::Pruned { .. }) => return Ok(Body::default()),
        text => text?,
    };
    let mut body = Body::of(&text);
    for name in body.names() {
        if let Some(today) = renamed.get(name.as_str()) {
            name.clone_from(today);
        }
    }
    Ok(body)
}
