//! Reads series from a store.

use std::path::PathBuf;

use fathom_model::{HistorySeries, listed, with_parameters};

use super::Asked;
use crate::ConductError;
use crate::history::{HistoryPlan, higher_is_better, history};

/// Which series of which store.
#[derive(Debug)]
pub struct Stored {
    /// The store, as given to `--store`.
    pub store: Option<String>,
    /// Names or partial names of benchmarks, as in [`HistoryPlan`].
    pub names: Vec<String>,
    /// The name of the metric; if absent, the main metric of each benchmark.
    pub metric: Option<String>,
    /// The folder from which the store is searched.
    pub here: PathBuf,
}

impl Stored {
    /// Returns the name of the store, and each series in each environment.
    ///
    /// # Errors
    /// Errors of [`history`].
    pub(super) fn read(&self) -> Result<(String, Vec<Asked>), ConductError> {
        let plan = HistoryPlan {
            store: self.store.clone(),
            benchmarks: self.names.clone(),
            metric: self.metric.clone(),
            main_only: true,
            ..HistoryPlan::default()
        };
        let found = history(&plan, &self.here)?.record;
        let asked = found.series.iter().flat_map(|series| {
            let environments = by_environment(series);
            let several = environments.len() > 1;
            let one = move |(key, places): (String, Vec<usize>)| {
                asked(series, several.then_some(key), &places)
            };
            environments.into_iter().map(one)
        });
        Ok((found.store.clone(), asked.collect()))
    }
}

/// Groups the positions of points by environment, because a difference between two environments is not a
/// change of the program.
fn by_environment(series: &HistorySeries) -> Vec<(String, Vec<usize>)> {
    let mut environments: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, point) in series.points.iter().enumerate() {
        match environments
            .iter_mut()
            .find(|(key, _)| *key == point.environment)
        {
            Some((_, places)) => places.push(place),
            None => environments.push((point.environment.clone(), vec![place])),
        }
    }
    environments
}

fn asked(series: &HistorySeries, environment: Option<String>, places: &[usize]) -> Asked {
    let name = with_parameters(&series.benchmark, listed(&series.parameters));
    let environment = environment.map_or_else(String::new, |key| format!(" in {key}"));
    let points = || places.iter().map(|place| &series.points[*place]);
    Asked {
        name: format!("{name} {}{environment}", series.metric),
        unit: Some(series.unit.clone()),
        higher_is_better: higher_is_better(series.direction.as_deref()),
        labels: points()
            .map(|point| match &point.revision {
                Some(revision) => {
                    format!(
                        "{} {}",
                        revision.get(..9).unwrap_or(revision),
                        day(&point.time)
                    )
                }
                None => point.time.clone(),
            })
            .collect(),
        values: points().map(|point| point.value).collect(),
    }
}

/// Returns the date part of a timestamp.
fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// Returns the positions of the first points of new levels. Each is found using only the points of its own
/// environment.
pub fn change_positions(series: &HistorySeries) -> Vec<usize> {
    let mut positions: Vec<usize> = by_environment(series)
        .into_iter()
        .flat_map(|(_, places)| {
            let values: Vec<f64> = places
                .iter()
                .map(|place| series.points[*place].value)
                .collect();
            let found = fathom_stats::change_points(&values).change_points;
            found.into_iter().map(move |point| places[point.index])
        })
        .collect();
    positions.sort_unstable();
    positions
}
