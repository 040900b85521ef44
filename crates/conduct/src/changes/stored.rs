//! Series from a store.

use std::path::PathBuf;

use fathom_store::{Location, Options, SeriesFilter, Since, Store, date, location};

use super::Asked;
use crate::ConductError;

/// Which series of which store.
#[derive(Debug)]
pub struct Stored {
    /// The store.
    pub location: Location,
    /// Names of benchmarks, `*` for any letters; all if empty.
    pub names: Vec<String>,
    /// Name of the metric; all if absent.
    pub metric: Option<String>,
}

impl Stored {
    /// The name of the store, and each series and segment of an environment with at least one point.
    ///
    /// # Errors
    /// Those of the store, and when no series has such a name.
    pub(super) fn read(&self) -> Result<(String, Vec<Asked>), ConductError> {
        let refused = |error: fathom_store::Error| ConductError::Refused(error.to_string());
        let options = Options {
            create: false,
            ..Options::default()
        };
        let mut store = Store::open_with(&self.location, options).map_err(refused)?;
        let filter = SeriesFilter {
            benchmarks: self.names.clone(),
            metric: self.metric.clone(),
        };
        let series = store.series(&filter, 0).map_err(refused)?;
        if series.is_empty() {
            let all = store.series(&SeriesFilter::default(), 0).map_err(refused)?;
            return Err(ConductError::Refused(none(&self.names, &all)));
        }
        let mut asked = Vec::new();
        for series in series {
            let points = store
                .history(series.number, &Since::Start)
                .map_err(refused)?;
            let mut environments: Vec<i64> = Vec::new();
            for point in &points {
                if !environments.contains(&point.point.environment) {
                    environments.push(point.point.environment);
                }
            }
            let parameters: String = series
                .parameters
                .iter()
                .map(|(name, value)| format!(" {name}={value}"))
                .collect();
            for (number, environment) in environments.iter().enumerate() {
                let own = points
                    .iter()
                    .filter(|point| point.point.environment == *environment);
                let segment = match environments.len() {
                    1 => String::new(),
                    _ => format!(" (environment {})", number + 1),
                };
                asked.push(Asked {
                    name: format!(
                        "{}{parameters} {}{segment}",
                        series.benchmark, series.metric
                    ),
                    unit: Some(series.unit.clone()),
                    higher_is_better: series
                        .direction
                        .as_deref()
                        .map(|word| word == "higher_is_better"),
                    labels: own.clone().map(label).collect(),
                    values: own.map(|point| point.point.value).collect(),
                });
            }
        }
        Ok((store.name().to_owned(), asked))
    }
}

/// The store that is meant: the one asked for, or `FATHOM_STORE`, the project's, the user's.
///
/// # Errors
/// [`ConductError::Refused`] where an address can't be one.
pub fn which_store(asked: Option<&str>) -> Result<Location, ConductError> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let project = location::project(&here, location::look);
    location::which(asked, project.as_deref(), |name| std::env::var(name).ok())
        .map_err(|error| ConductError::Refused(error.to_string()))
}

/// The revision of a point and when it was measured.
fn label(point: &fathom_store::HistoryPoint) -> String {
    let time = date::text(point.point.time);
    match &point.record.revision {
        Some(revision) => format!("{} {time}", revision.id.get(..9).unwrap_or(&revision.id)),
        None => time,
    }
}

fn none(names: &[String], all: &[fathom_store::Series]) -> String {
    let mut known: Vec<&str> = all.iter().map(|series| series.benchmark.as_str()).collect();
    known.dedup();
    known.truncate(8);
    match known.is_empty() {
        true => "the store has no series yet; `fathom bench --save` makes one".to_owned(),
        false => format!(
            "no series is called {}; the store has: {}",
            names.join(", "),
            known.join(", ")
        ),
    }
}
