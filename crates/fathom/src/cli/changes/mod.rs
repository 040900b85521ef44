//! `fathom changes`: finds where series of measurements changed their level.

mod arguments;

use std::path::Path;

pub(super) use arguments::Arguments;
use fathom_conduct::changes::{ChangesPlan, ChangesSource, Stored, changes};
use fathom_model::ChangesRecord;
use fathom_report::{ChangesOptions, changes_terminal};

use crate::cli::failure::Failure;
use crate::cli::write;

/// Reads, analyses and prints. Returns the exit code.
///
/// # Errors
/// If there is nothing to read.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    write::check(&[&arguments.json])?;
    let previous = arguments
        .previous
        .as_deref()
        .map(read_previous)
        .transpose()?;
    let source = match arguments.csv {
        Some(path) => ChangesSource::Csv {
            path,
            branch: arguments.branch,
        },
        None => ChangesSource::Store(Stored {
            store: arguments.read.store,
            names: arguments.series,
            metric: arguments.metric,
            here: std::env::current_dir().unwrap_or_default(),
        }),
    };
    let record = changes(&ChangesPlan { source, previous })?;
    let options = ChangesOptions { all: arguments.all };
    write::results(
        || changes_terminal(&record, options),
        &[(arguments.json.as_deref(), &|| fathom_report::json(&record))],
    )?;
    Ok(0)
}

fn read_previous(path: &Path) -> Result<ChangesRecord, Failure> {
    let usage = |why: String| {
        Failure::Usage(format!(
            "--previous {}: {why}; it takes a file written by `fathom changes --json FILE`",
            path.display()
        ))
    };
    let text = std::fs::read(path).map_err(|error| usage(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| usage(error.to_string()))
}
