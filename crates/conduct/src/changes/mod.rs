//! `fathom changes`: finds where series of measurements changed their level.

mod csv;
mod stored;

use std::path::PathBuf;

use fathom_model::{ChangesRecord, SCHEMA_VERSION, SeriesChanges};
use fathom_stats::{change_points, follow};
pub use stored::{Stored, change_positions};

use crate::ConductError;

/// Which series to analyze, and the result of an earlier analysis.
#[derive(Debug)]
pub struct ChangesPlan {
    /// The source of the series.
    pub source: ChangesSource,
    /// The record of an earlier analysis of the same series.
    pub previous: Option<ChangesRecord>,
}

/// A source of series.
#[derive(Debug)]
pub enum ChangesSource {
    /// A CSV file with the columns `series`, `index` and `value`, or a column for each series.
    Csv {
        /// The path of the file.
        path: PathBuf,
        /// Read only the lines of this branch; without it, each of several branches is a separate series.
        branch: Option<String>,
    },
    /// A store.
    Store(Stored),
}

/// One series to analyze.
struct Asked {
    name: String,
    unit: Option<String>,
    higher_is_better: Option<bool>,
    labels: Vec<String>,
    values: Vec<f64>,
}

/// Reads the series and finds their change points.
///
/// # Errors
/// [`ConductError::Refused`], with a message that says what to do, if no series can be read.
pub fn changes(plan: &ChangesPlan) -> Result<ChangesRecord, ConductError> {
    let (source, asked) = match &plan.source {
        ChangesSource::Csv { path, branch } => {
            let series = csv::read(path, branch.as_deref())?;
            (path.display().to_string(), series)
        }
        ChangesSource::Store(stored) => stored.read()?,
    };
    let of = |name: &str| {
        let earlier = plan.previous.iter().flat_map(|record| &record.series);
        earlier.into_iter().find(|series| series.name == name)
    };
    let series = asked
        .into_iter()
        .map(|asked| {
            let found = match of(&asked.name) {
                // The series has the same points as before, and perhaps more at the end.
                Some(earlier) if asked.labels.starts_with(&earlier.labels) => {
                    follow(&earlier.found, earlier.points, &asked.values)
                }
                _ => change_points(&asked.values),
            };
            SeriesChanges {
                name: asked.name,
                unit: asked.unit,
                higher_is_better: asked.higher_is_better,
                points: asked.values.len(),
                labels: asked.labels,
                found,
            }
        })
        .collect();
    Ok(ChangesRecord {
        schema_version: SCHEMA_VERSION,
        kind: "changes".to_owned(),
        source,
        series,
    })
}
