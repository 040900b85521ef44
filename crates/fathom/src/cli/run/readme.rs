//! `fathom run --readme`: the figures of a run between the marks of the page beside the file.

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
    Failure::Usage(format!("{} can't take figures: {error}", path.display()))
}

/// Says before measuring that a page has no place for figures.
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

/// What the check of the machine says before an experiment is run; `None` where nothing is measured.
///
/// # Errors
/// When the program that is run against itself isn't there.
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

/// Writes the figures into the page, which was checked, and the picture and the tables beside it.
///
/// # Errors
/// When the page was changed meanwhile, or a file can't be written.
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
            // One of an earlier run would say what the page doesn't.
            None => drop(std::fs::remove_file(&file)),
        }
    }
    write::export(&path, page)
}
