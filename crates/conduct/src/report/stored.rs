//! Reads series from a store.

use std::collections::HashMap;

use fathom_model::{
    Measurement, Report, ReportBenchmark, ReportPoint, ReportSamples, ReportSeries,
};
use fathom_store::{Head, NOISE_FLOOR, Point, Series, Since, Store};

use crate::ConductError;
use crate::compare::stored::body;
use crate::history::{environments, fits, matching, rank};

/// The maximum number of runs shown for a point: more would overlap and make the page large.
const MOST_RUNS: usize = 200;
/// The maximum number of records that are opened to show single runs; larger suites show none, because
/// opening a record takes up to 10 ms.
const MOST_BODIES: usize = 40;

/// Which series to read, and how much of them.
pub(super) struct Chosen<'a> {
    pub(super) names: &'a [String],
    pub(super) metric: Option<&'a str>,
    /// The number of newest points to read; all if absent.
    pub(super) newest: Option<usize>,
    /// The maximum total number of points of the metrics that don't represent their benchmark. If there are
    /// more, only the last two points of each such metric are kept.
    pub(super) others: usize,
}

/// The latest noise floor of each environment.
pub(super) type Floors = Vec<Option<f64>>;

/// Adds the chosen series among `all` to a report.
///
/// # Errors
/// A name that matches nothing; errors of the store.
pub(super) fn read(
    store: &mut Store,
    all: &[Series],
    chosen: &Chosen<'_>,
    report: &mut Report,
) -> Result<Floors, ConductError> {
    let named = matching(store, all, chosen.names)?;
    let groups = grouped(named, chosen.metric)?;
    let first: Vec<i64> = groups.iter().map(|group| group[0].number).collect();
    let mut points = match chosen.newest {
        Some(newest) => store.newest(&first, newest)?,
        None => store.points_of(&first, &Since::Start)?,
    };
    let others: Vec<i64> = groups
        .iter()
        .flat_map(|group| group[1..].iter().map(|one| one.number))
        .collect();
    let each = points.values().map(Vec::len).max().unwrap_or(0);
    let found = match others.len() * each {
        _ if chosen.others == 0 => HashMap::new(),
        many if many <= chosen.others => store.points_of(&others, &Since::Start)?,
        _ => store.newest(&others, 2)?,
    };
    points.extend(found);
    let floors = noise_floors(store, all)?;
    let heads = store.heads(points.values().flatten().map(|point| point.record))?;
    let places = Places::new(store, heads.into_values().collect(), report)?;
    for group in groups {
        let (name, parameters) = (group[0].benchmark.clone(), group[0].parameters.clone());
        let series = group.into_iter().filter_map(|one| {
            let points = points
                .remove(&one.number)
                .filter(|found| !found.is_empty())?;
            Some(places.series(one, &points))
        });
        let series: Vec<ReportSeries> = series.collect();
        if !series.is_empty() {
            report.benchmarks.push(ReportBenchmark {
                name,
                parameters,
                series,
                before: None,
                baseline: None,
                samples: Vec::new(),
            });
        }
    }
    Ok(places.floors(&floors, report.environments.len()))
}

/// Groups series by benchmark, each starting with the series that represents it.
pub(super) fn grouped(
    named: Vec<Series>,
    metric: Option<&str>,
) -> Result<Vec<Vec<Series>>, ConductError> {
    let mut places: HashMap<(String, Vec<(String, String)>), usize> = HashMap::new();
    let mut groups: Vec<Vec<Series>> = Vec::new();
    let mut metrics: Vec<String> = Vec::new();
    for one in named {
        if metric.is_some() && !metrics.contains(&one.metric) {
            metrics.push(one.metric.clone());
        }
        let key = (one.benchmark.clone(), one.parameters.clone());
        match places.get(&key) {
            Some(place) => groups[*place].push(one),
            None => {
                places.insert(key, groups.len());
                groups.push(vec![one]);
            }
        }
    }
    if let Some(metric) = metric {
        groups.retain(|group| group.iter().any(|one| fits(metric, &one.metric)));
        if groups.is_empty() && !metrics.is_empty() {
            metrics.truncate(6);
            return Err(ConductError::Refused(format!(
                "--metric {metric:?} is unknown; these benchmarks have {}",
                metrics.join(", ")
            )));
        }
    }
    for group in &mut groups {
        let place = |one: &Series| match metric {
            Some(metric) => usize::from(!fits(metric, &one.metric)),
            None => rank(&one.metric),
        };
        group.sort_by_key(place);
    }
    Ok(groups)
}

/// Returns the newest noise floor of each environment, by the environment's number.
fn noise_floors(store: &mut Store, all: &[Series]) -> Result<HashMap<i64, f64>, ConductError> {
    let is = |one: &&Series| one.benchmark == "machine" && one.metric == NOISE_FLOOR;
    let Some(series) = all.iter().find(is) else {
        return Ok(HashMap::new());
    };
    let points = store.points(series.number, &Since::Start)?;
    Ok(points
        .iter()
        .map(|point| (point.environment, point.value))
        .collect())
}

/// Maps the store's measurements and environments to their indexes in the report.
pub(super) struct Places {
    measurements: HashMap<i64, usize>,
    environments: HashMap<i64, usize>,
}

impl Places {
    /// Adds measurements and environments to the report.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn new(
        store: &mut Store,
        mut heads: Vec<Head>,
        report: &mut Report,
    ) -> Result<Places, ConductError> {
        heads.sort_by_key(Head::order);
        let known = environments(store)?;
        let mut places = Places {
            measurements: HashMap::new(),
            environments: HashMap::new(),
        };
        for head in heads {
            if let Some((key, facts)) = known.get(&head.environment) {
                let here = report.environments.iter().position(|one| one.key == *key);
                let place = here.unwrap_or_else(|| {
                    report.environments.push(facts.clone());
                    report.environments.len() - 1
                });
                places.environments.insert(head.environment, place);
            }
            places
                .measurements
                .insert(head.number, report.measurements.len());
            report.measurements.push(Measurement {
                id: head.id,
                time: head.time,
                started_at: fathom_store::date::text(head.time),
                revision: head.revision.as_ref().map(|revision| revision.id.clone()),
                dirty: head.revision.is_some_and(|revision| revision.dirty),
                labels: head.labels,
            });
        }
        Ok(places)
    }

    pub(super) fn series(&self, one: Series, points: &[Point]) -> ReportSeries {
        let numbered: Vec<(usize, Point)> = points.iter().copied().enumerate().collect();
        ReportSeries {
            metric: one.metric,
            unit: one.unit,
            direction: one.direction,
            meaning: one.meaning,
            total: points.len(),
            points: self.points(&numbered),
            changes: Vec::new(),
        }
    }

    /// Converts points that are given with their positions in the whole series.
    pub(super) fn points(&self, numbered: &[(usize, Point)]) -> Vec<ReportPoint> {
        let of = |(index, point): &(usize, Point)| {
            Some(ReportPoint {
                index: *index,
                measurement: *self.measurements.get(&point.record)?,
                environment: *self.environments.get(&point.environment)?,
                runs: point.runs,
                value: point.value,
                low: point.low,
                high: point.high,
            })
        };
        numbered.iter().filter_map(of).collect()
    }

    /// Returns the floors by the index of the environment, for a report with `count` environments.
    fn floors(&self, by_number: &HashMap<i64, f64>, count: usize) -> Floors {
        let mut floors = vec![None; count];
        for (number, place) in &self.environments {
            if let Some(floor) = by_number.get(number) {
                let known = floors[*place].get_or_insert(*floor);
                *known = known.max(*floor);
            }
        }
        floors
    }
}

/// Adds the runs of the last two points of each benchmark, if the records still have them.
///
/// # Errors
/// Errors of the store; a damaged record.
pub(super) fn samples(store: &mut Store, report: &mut Report) -> Result<(), ConductError> {
    let renamed = store.renamed()?;
    let mut bodies = HashMap::new();
    for benchmark in &mut report.benchmarks {
        let Some(main) = benchmark.series.first() else {
            continue;
        };
        let from = main.points.len().saturating_sub(2);
        let mut found = Vec::new();
        for point in &main.points[from..] {
            let id = &report.measurements[point.measurement].id;
            if !bodies.contains_key(id) {
                if bodies.len() >= MOST_BODIES {
                    continue;
                }
                let heads = store.records(&fathom_store::Selector::Id(id.clone()))?;
                let Some(head) = heads.first() else { continue };
                let body = body(store, head, &renamed)?;
                bodies.insert(id.clone(), body);
            }
            let values = bodies[id].samples(&benchmark.name, &benchmark.parameters, &main.metric);
            if let Some(values) = values.filter(|values| !values.is_empty()) {
                let values = thinned(values);
                let index = point.index;
                found.push(ReportSamples { index, values });
            }
        }
        benchmark.samples = found;
    }
    Ok(())
}

/// Sorts the values; if there are many, keeps every n-th and both ends.
pub(super) fn thinned(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    if values.len() <= MOST_RUNS {
        return values;
    }
    let last = values.len() - 1;
    let place = |step: usize| values[step * last / (MOST_RUNS - 1)];
    (0..MOST_RUNS).map(place).collect()
}
