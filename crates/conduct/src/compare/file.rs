//! Reads a side from a file: a record of Fathom, or another tool's output.

use std::collections::HashMap;
use std::io::BufReader;
use std::path::Path;

use fathom_model::{CompareSide, Metric};
use fathom_store::{Draft, Error, Input, NewPoint, Segment, date, imported_points};
use serde::Deserialize;
use serde_json::Value;

use super::ComparePlan;
use super::body::{Body, again};
use super::side::{Figure, Session, Side, SideSeries};
use crate::ConductError;

/// The size limit in bytes. Records that Fathom writes are always smaller.
pub(crate) const LONGEST: u64 = 1 << 30;

/// Reads the measurements of a file.
///
/// # Errors
/// A file that can't be read, or whose format is unknown.
pub(super) fn read(asked: &str, path: &Path, plan: &ComparePlan) -> Result<Side, ConductError> {
    let failed = |source| Error::File {
        path: path.to_path_buf(),
        source,
    };
    let mut side = Side {
        about: CompareSide {
            asked: asked.to_owned(),
            revision: None,
            records: Vec::new(),
            file: Some(path.display().to_string()),
        },
        series: Vec::new(),
        environments: HashMap::new(),
        dirty_left_out: 0,
        content: Input::of(path).ok().map(|file| file.sha256),
    };
    let mut known = Known::new();
    let size = path.metadata().map_err(failed)?.len();
    let own = match size <= LONGEST {
        true => own_records(&fathom_store::regular::read(path).map_err(failed)?),
        false => Vec::new(),
    };
    if own.is_empty() {
        let file = BufReader::new(fathom_store::regular::open(path).map_err(failed)?);
        let imported = fathom_exchange::read_commit(file, asked, None)
            .map_err(|error| ConductError::Refused(format!("{asked}: {error}")))?;
        for record in imported.into_iter().map(crate::import::record) {
            let environment = serde_json::to_value(&record.environment).unwrap_or_default();
            let time = date::parse(&record.started_at).unwrap_or_default();
            let points = imported_points(&record);
            let segment = Segment::of(&environment);
            let body = Body::of_import(record);
            put(&mut side, &mut known, points, &segment, time, &body);
        }
    }
    for text in own {
        add(&mut side, &mut known, text)?;
    }
    let known: Vec<String> = side
        .series
        .iter()
        .map(|one| one.benchmark.clone())
        .collect();
    keep(&mut side, plan);
    if side.series.is_empty() {
        let mut names = known;
        names.dedup();
        return Err(ConductError::Refused(match names.is_empty() {
            true => format!("{asked} has no figures: was its measurement interrupted?"),
            false => format!(
                "{asked} has no benchmark or metric with that name; it has {}",
                names.join(", ")
            ),
        }));
    }
    Ok(side)
}

/// Returns the records of Fathom in a file: one, or a list of them.
pub(crate) fn own_records(bytes: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Mark {
        fathom_version: Option<String>,
        kind: Option<String>,
    }
    let is_own = |text: &str| {
        let mark: Option<Mark> = serde_json::from_str(text).ok();
        mark.is_some_and(|mark| mark.fathom_version.is_some() && mark.kind.is_some())
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Vec::new();
    };
    let all: Vec<String> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str::<Vec<Value>>(text)
            .unwrap_or_default()
            .iter()
            .map(Value::to_string)
            .collect(),
        false => vec![text.to_owned()],
    };
    match !all.is_empty() && all.iter().all(|text| is_own(text)) {
        true => all,
        false => Vec::new(),
    }
}

/// Adds the points of a record.
fn add(side: &mut Side, known: &mut Known, text: String) -> Result<(), Error> {
    let body = Body::of(&text);
    let draft = Draft::of(text)?;
    side.about.records.push(draft.id());
    put(side, known, draft.points, &draft.segment, draft.time, &body);
    Ok(())
}

/// The position of each key's series on a side.
type Known = HashMap<(String, Vec<(String, String)>, String, String), usize>;

fn put(
    side: &mut Side,
    known: &mut Known,
    points: Vec<NewPoint>,
    segment: &Segment,
    time: i64,
    body: &Body,
) {
    // If a file has no facts about its machine, its environment is unknown.
    let silent = segment.facts.as_object();
    let silent = silent.is_none_or(|facts| facts.values().all(Value::is_null));
    let environment = (!silent).then(|| segment.key.clone());
    if !silent {
        let facts = serde_json::from_value(segment.facts.clone()).unwrap_or_default();
        side.environments.insert(segment.key.clone(), facts);
    }
    let figure = |point: &NewPoint| Figure {
        value: point.value,
        low: point.low,
        high: point.high,
        runs: point.runs,
    };
    let of_waits = [Metric::Undisturbed, Metric::RunQueueWait].map(Metric::name);
    let is_of_waits = |point: &&NewPoint| of_waits.contains(&point.metric.as_str());
    let key = |point: &NewPoint, metric: &str| {
        let [benchmark, metric] = [&point.benchmark, metric].map(str::to_owned);
        (benchmark, point.parameters.clone(), metric)
    };
    let beside: HashMap<_, Figure> = points
        .iter()
        .filter(is_of_waits)
        .map(|point| (key(point, &point.metric), figure(point)))
        .collect();
    for point in points {
        let waits = of_waits.map(|metric| match point.metric == Metric::Wall.name() {
            true => beside.get(&key(&point, metric)).copied(),
            false => None,
        });
        let named = (&*point.benchmark, &*point.parameters, &*point.metric);
        let session = Session {
            environment: environment.clone(),
            time,
            ..body.session(named, figure(&point), waits[0], waits[1])
        };
        let (benchmark, parameters, metric) = key(&point, &point.metric);
        let place = (benchmark, parameters, metric, point.unit.clone());
        let at = *known.entry(place).or_insert(side.series.len());
        match side.series.get_mut(at) {
            Some(series) => series.sessions.push(session),
            None => side.series.push(SideSeries {
                again: again(body, &point.benchmark, &point.parameters),
                benchmark: point.benchmark,
                parameters: point.parameters,
                metric: point.metric,
                unit: point.unit,
                direction: point.direction,
                sessions: vec![session],
            }),
        }
    }
}

/// Keeps only the requested series of a file.
fn keep(side: &mut Side, plan: &ComparePlan) {
    let mut metrics: HashMap<(String, Vec<(String, String)>), String> = HashMap::new();
    for one in &side.series {
        let place = (one.benchmark.clone(), one.parameters.clone());
        let main = metrics.entry(place).or_insert_with(|| one.metric.clone());
        if crate::history::rank(&one.metric) < crate::history::rank(main) {
            main.clone_from(&one.metric);
        }
    }
    side.series.retain(|one| {
        let place = (one.benchmark.clone(), one.parameters.clone());
        let metric_fits = match &plan.metric {
            Some(metric) => crate::history::fits(metric, &one.metric),
            None => metrics.get(&place) == Some(&one.metric),
        };
        let named = plan.benchmarks.is_empty()
            || plan.benchmarks.iter().any(|word| {
                crate::history::fits(word, &one.benchmark)
                    || one.benchmark.to_lowercase().contains(&word.to_lowercase())
            });
        metric_fits && named
    });
}
