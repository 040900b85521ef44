//! `export`: writes records and series in formats that other tools read.

mod record;
mod stored;

use std::io::BufReader;
use std::path::Path;

use fathom_exchange::export::{EXPORTS, Export, Written};
use serde_json::Value;

use crate::ConductError;

/// The size limit in bytes. Records that Fathom writes are always smaller.
const LONGEST: u64 = 1 << 30;

/// What to export.
#[derive(Debug, Clone, Default)]
pub struct ExportPlan {
    /// The name of the format.
    pub format: String,
    /// The store, as given to `--store`.
    pub store: Option<String>,
    /// Files of Fathom or of other tools, records in the store, or names of series.
    pub sources: Vec<String>,
    /// The metrics to export; all if empty.
    pub metrics: Vec<String>,
}

/// Exports the sources in the requested format.
///
/// # Errors
/// A source that doesn't exist or can't be read, or that has no figures for the format.
pub fn export(plan: &ExportPlan, here: &Path) -> Result<Written, ConductError> {
    let form = EXPORTS.iter().find(|form| form.name == plan.format);
    let Some(form) = form else {
        let names: Vec<&str> = EXPORTS.iter().map(|form| form.name).collect();
        return Err(ConductError::Refused(format!(
            "unknown format {:?}; the formats are {}",
            plan.format,
            names.join(", ")
        )));
    };
    let mut exports = Vec::new();
    for source in &plan.sources {
        match crate::compare::file_of(source) {
            Some(path) => exports.extend(of_file(source, &path)?),
            None => exports.extend(stored::find(plan, here, source)?),
        }
    }
    keep_metrics(&mut exports, &plan.metrics)?;
    exports.sort_by_key(|export| export.milliseconds);
    let written = (form.write)(&exports);
    if written.text.is_empty() {
        let mut why = written.left_out.iter().map(|entry| entry.reason.as_str());
        return Err(ConductError::Refused(format!(
            "nothing in it can be written as {}: {}",
            form.name,
            why.next().unwrap_or("it has no figures")
        )));
    }
    Ok(written)
}

/// Removes all metrics except these.
fn keep_metrics(exports: &mut [Export], metrics: &[String]) -> Result<(), ConductError> {
    if metrics.is_empty() {
        return Ok(());
    }
    let mut known: Vec<String> = Vec::new();
    for figure in exports.iter().flat_map(|export| &export.figures) {
        if !known.contains(&figure.benchmark.metric) {
            known.push(figure.benchmark.metric.clone());
        }
    }
    if let Some(metric) = metrics.iter().find(|metric| !known.contains(metric)) {
        return Err(ConductError::Refused(format!(
            "--metric {metric:?} is unknown; the metrics are {}",
            known.join(", ")
        )));
    }
    for export in exports {
        let wanted = |metric: &String| metrics.contains(metric);
        export
            .figures
            .retain(|figure| wanted(&figure.benchmark.metric));
    }
    Ok(())
}

/// Reads the measurements of a file: a record of Fathom, a list of such records, or another tool's output.
fn of_file(name: &str, path: &Path) -> Result<Vec<Export>, ConductError> {
    let failed = |error: std::io::Error| ConductError::Refused(format!("{name}: {error}"));
    let length = path.metadata().map_err(failed)?.len();
    if length <= LONGEST && !path.is_dir() {
        let text = fathom_store::regular::read(path).map_err(failed)?;
        let texts = own(text);
        if !texts.is_empty() {
            let each = texts.iter().map(|text| record::of_text(text));
            return each
                .collect::<Result<_, _>>()
                .map_err(|why| ConductError::Refused(format!("{name}: {why}")));
        }
    }
    let file = fathom_store::regular::open(path).map_err(failed)?;
    let read = fathom_exchange::read_commit(BufReader::with_capacity(1 << 16, file), name, None);
    let imported = read.map_err(|error| ConductError::Refused(format!("{name}: {error}")))?;
    let records = imported.into_iter().map(crate::import::record);
    Ok(records.map(record::of_imported).collect())
}

/// Returns the records of Fathom in a text; empty if another tool wrote the text.
fn own(text: Vec<u8>) -> Vec<String> {
    let mark = b"\"fathom_version\"";
    if memchr::memmem::find(&text[..text.len().min(1 << 20)], mark).is_none() {
        return Vec::new();
    }
    let Ok(text) = String::from_utf8(text) else {
        return Vec::new();
    };
    if text.trim_start().starts_with('[') {
        let all: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        return all.iter().map(Value::to_string).collect();
    }
    vec![text]
}
