//! Finds records and series of the store for export.

use std::path::Path;

use fathom_exchange::export::Export;
use fathom_model::HistorySeries;
use fathom_store::{Error, Head, Store, date};

use super::{ExportPlan, record};
use crate::history::{HistoryPlan, history};
use crate::{ConductError, stores};

/// Resolves a word: to records (`@-1`, a label, an id or a revision), or otherwise to the series of a
/// benchmark.
///
/// # Errors
/// If the store doesn't exist, or doesn't know the word.
pub(super) fn find(
    plan: &ExportPlan,
    here: &Path,
    asked: &str,
) -> Result<Vec<Export>, ConductError> {
    let store = stores::open(plan.store.as_deref(), here);
    let mut store = store.map_err(|error| match error {
        // The word may have been meant as the path of a file, so the message mentions that too.
        error @ Error::Missing { .. } => {
            ConductError::Refused(format!("the file {asked:?} does not exist, and {error}"))
        }
        error => error.into(),
    })?;
    let heads = match stores::find(&mut store, here, asked) {
        Err(error @ Error::NotFound { .. }) if asked.starts_with('@') => return Err(error.into()),
        Err(Error::NotFound { .. }) => return of_series(plan, here, asked),
        heads => heads?,
    };
    heads
        .iter()
        .map(|head| of_record(&mut store, head))
        .collect()
}

fn of_record(store: &mut Store, head: &Head) -> Result<Export, ConductError> {
    let text = store.record(head)?;
    let why = |why| ConductError::Refused(format!("record {}: {why}", head.short_id()));
    let export = record::of_text(&text).map_err(why)?;
    Ok(Export {
        revision: head.revision.as_ref().map(|revision| revision.id.clone()),
        labels: head.labels.clone(),
        ..export
    })
}

/// Returns the points of a benchmark's series, grouped by record.
fn of_series(plan: &ExportPlan, here: &Path, asked: &str) -> Result<Vec<Export>, ConductError> {
    let found = history(
        &HistoryPlan {
            store: plan.store.clone(),
            benchmarks: vec![asked.to_owned()],
            ..HistoryPlan::default()
        },
        here,
    )?;
    let mut exports: Vec<(String, Export)> = Vec::new();
    for series in found.record.series {
        for at in 0..series.points.len() {
            add(&mut exports, &series, at);
        }
    }
    Ok(exports.into_iter().map(|(_, export)| export).collect())
}

fn add(exports: &mut Vec<(String, Export)>, series: &HistorySeries, at: usize) {
    let point = &series.points[at];
    let figure = record::summary(
        series.benchmark.clone(),
        series.parameters.clone(),
        series.metric.clone(),
        series.unit.clone(),
        series.direction.as_deref(),
        [point.value, point.low, point.high],
        point.runs,
    );
    if let Some((_, known)) = exports.iter_mut().find(|(id, _)| *id == point.record) {
        known.figures.push(figure);
        return;
    }
    let export = Export {
        tool: "fathom".to_owned(),
        milliseconds: date::parse(&point.time).unwrap_or(0),
        time: point.time.clone(),
        revision: point.revision.clone(),
        labels: point.labels.clone(),
        figures: vec![figure],
        ..Export::default()
    };
    exports.push((point.record.clone(), export));
}
