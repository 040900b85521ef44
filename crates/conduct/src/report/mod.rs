//! `report`: prepares the contents of a store or of record files for display.

mod files;
mod judged;
mod live;
mod stored;
mod thin;

use std::path::{Path, PathBuf};

use fathom_model::Report;
use fathom_store::SeriesFilter;
pub use live::{Live, Window};

use crate::compare::file_of;
use crate::{ConductError, stores};

/// Differences up to this share count as no difference, as in `compare`.
const MARGIN: f64 = 0.01;
/// The maximum number of points of metrics that don't represent their benchmark. As JSON, a point takes 18
/// bytes, and a page should stay below 1 MB.
const MOST_OTHER_POINTS: usize = 24_000;

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct ReportPlan {
    /// The store, as given to `--store`.
    pub store: Option<String>,
    /// Record files, and names or partial names of benchmarks; if empty, everything in the store.
    pub asked: Vec<String>,
    /// The name of the metric that represents each benchmark; if absent, the main one.
    pub metric: Option<String>,
    /// A label, or the beginning of a revision, with which the newest points are compared.
    pub base: Option<String>,
}

/// Reads the data to show.
///
/// # Errors
/// A store or a file that can't be read; a name that matches nothing.
pub fn report(plan: &ReportPlan, here: &Path) -> Result<Report, ConductError> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for asked in &plan.asked {
        match file_of(asked) {
            Some(file) => files.push(file),
            None if asked.ends_with(".json") => {
                return Err(ConductError::Refused(format!(
                    "{asked} does not exist; name a record file written with --json, or a benchmark"
                )));
            }
            None => names.push(asked.clone()),
        }
    }
    let mut report = Report {
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        margin: MARGIN,
        ..Report::default()
    };
    let mut sources = Vec::new();
    let mut floors = Vec::new();
    if files.is_empty() || !names.is_empty() {
        let mut store = stores::open(plan.store.as_deref(), here)?;
        sources.push(store.name().to_owned());
        let chosen = stored::Chosen {
            names: &names,
            metric: plan.metric.as_deref(),
            newest: None,
            others: MOST_OTHER_POINTS,
        };
        let all = store.series(&SeriesFilter::default(), 0)?;
        floors = stored::read(&mut store, &all, &chosen, &mut report)?;
        stored::samples(&mut store, &mut report)?;
    }
    for file in &files {
        sources.push(file.display().to_string());
        files::add(file, plan.metric.as_deref(), &mut report)?;
    }
    report.source = sources.join(", ");
    judged::judge(&mut report, plan.base.as_deref(), &floors)?;
    Ok(report)
}
