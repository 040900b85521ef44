//! `fathom run --readme`: writes the figures of a run between the markers of the page next to the file.

use std::path::PathBuf;

use fathom_conduct::CheckPlan;
use fathom_experiment::Experiment;
use fathom_model::ExperimentRecord;
use fathom_report as report;

use crate::cli::failure::Failure;
use crate::cli::machine::own_work;
use crate::cli::write;

fn page_of(experiment: &Experiment) -> PathBuf {
    experiment.path.with_file_name("README.md")
}

fn read(experiment: &Experiment) -> Result<(PathBuf, String), Failure> {
    let path = page_of(experiment);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::Usage(format!("can't read {}: {error}", path.display())))?;
    Ok((path, text))
}

fn refused(path: &std::path::Path, error: &report::FiguresError) -> Failure {
    Failure::Usage(format!(
        "can't update the figures in {}: {error}",
        path.display()
    ))
}

/// Checks, before anything is measured, that each page has a place for the figures.
///
/// # Errors
/// [`Failure::Usage`] naming the page.
pub(super) fn check(experiments: &[Experiment]) -> Result<(), Failure> {
    for experiment in experiments {
        let (path, text) = read(experiment)?;
        report::check_figures(&text).map_err(|error| refused(&path, &error))?;
    }
    Ok(())
}

/// Returns the result of the machine check before an experiment; `None` if nothing is measured.
///
/// # Errors
/// If the program that is run against itself is missing.
pub(super) fn check_of_machine(experiment: &Experiment) -> Result<Option<String>, Failure> {
    if experiment.measures.is_empty() {
        return Ok(None);
    }
    let plan = CheckPlan {
        directory: None,
        work: own_work()?,
    };
    let checked = fathom_conduct::check(&plan);
    let sentence = report::machine_check_sentence(&checked.record.report);
    Ok(Some(sentence))
}

/// Writes the figures into the page, which has already been checked, and the picture and the tables next to
/// it.
///
/// # Errors
/// If the page has changed in the meantime, or a file can't be written.
pub(super) fn write(
    experiment: &Experiment,
    record: &ExperimentRecord,
    check: Option<&str>,
) -> Result<(), Failure> {
    let (path, text) = read(experiment)?;
    let page =
        report::with_figures(&text, record, check).map_err(|error| refused(&path, &error))?;
    let beside = [
        (report::FIGURES_PICTURE, report::experiment_picture(record)),
        (report::FIGURES_TABLES, report::experiment_tables(record)),
    ];
    for (name, text) in beside {
        let file = path.with_file_name(name);
        match text {
            Some(text) => write::export(&file, text)?,
            // A picture from an earlier run would contradict the page.
            None => drop(std::fs::remove_file(&file)),
        }
    }
    write::export(&path, page)
}
