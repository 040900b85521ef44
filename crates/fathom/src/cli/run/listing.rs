//! `fathom run --list`: prints the catalogue and what can run here. Experiments are not run; `--check` runs
//! only the checks of their tools.

use std::path::PathBuf;

use fathom_experiment::Experiment;
use fathom_experiment::prepare::{AtAGlance, Known, at_a_glance};
use fathom_experiment::resolve::Scope;
use fathom_experiment::session;
use fathom_measure::{MeasureError, interrupt};
use fathom_model::{CatalogueRecord, CatalogueRow, SCHEMA_VERSION};
use fathom_report as report;

use super::{Arguments, catalogue_files, name_of, read, work_of};
use crate::cli::failure::Failure;
use crate::cli::{screen, write};

/// The command that hints show before the folder of a catalogue.
const HOW: &str = "fathom run --list";

/// Prints the list. Returns the exit code.
///
/// # Errors
/// If the catalogue or a file in it can't be used.
pub(super) fn list(arguments: &Arguments) -> Result<i32, Failure> {
    interrupt::catch();
    let files: Vec<PathBuf> = match arguments.experiments.as_slice() {
        [] => catalogue_files(&arguments.catalogue, HOW)?,
        folders => {
            let mut files = Vec::new();
            for folder in folders {
                files.extend(catalogue_files(folder, HOW)?);
            }
            files
        }
    };
    let mut rows = Vec::new();
    let mut known = Known::default();
    for file in files {
        let experiment = read(&file)?;
        let tools = tools(arguments, &experiment, &mut known)?;
        rows.push(CatalogueRow {
            name: name_of(&file),
            file: file.display().to_string(),
            title: experiment.title.clone(),
            rows: experiment
                .source
                .clone()
                .map(|source| source.rows)
                .unwrap_or_default(),
            missing: tools.missing,
            unchecked: tools.unchecked,
        });
    }
    let record = CatalogueRecord {
        schema_version: SCHEMA_VERSION,
        kind: "catalogue".to_string(),
        experiments: rows,
    };
    let screen = screen::of_stdout(arguments.verbose);
    write::results(
        || report::catalogue_terminal(&record.experiments, &screen),
        &[(arguments.json.as_deref(), &|| report::json(&record))],
    )?;
    Ok(0)
}

/// Returns the available tools.
fn tools(
    arguments: &Arguments,
    experiment: &Experiment,
    known: &mut Known,
) -> Result<AtAGlance, Failure> {
    let folders = session::folders(experiment, &work_of(arguments, experiment))
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let scope = Scope {
        experiment,
        folders: &folders,
        quick: arguments.quick,
    };
    // Listing must leave nothing behind in the catalogue, so the output of the checks goes to a temporary
    // folder.
    let logs = std::env::temp_dir().join(format!("fathom-list-{}", std::process::id()));
    let tools = at_a_glance(&scope, arguments.check.then_some(logs.as_path()), known);
    if arguments.check {
        // The folder holds only the logs.
        let _ = std::fs::remove_dir_all(&logs);
    }
    match interrupt::received() {
        Some(_) => Err(MeasureError::Interrupted.into()),
        None => tools.map_err(|_| MeasureError::Interrupted.into()),
    }
}
