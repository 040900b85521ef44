//! Prints and writes the record.

use fathom_model::StartupRecord;
use fathom_report as report;

use super::Arguments;
use crate::cli::failure::Failure;
use crate::cli::out::say;
use crate::cli::{screen, write};

/// To standard output, and into the files that were asked for.
///
/// # Errors
/// When one can't be written.
pub(super) fn show(arguments: &Arguments, record: &StartupRecord) -> Result<(), Failure> {
    let json_to_stdout = arguments.json.as_deref().is_some_and(write::is_stdout);
    if !json_to_stdout {
        let screen = screen::of_stdout(arguments.verbose);
        write::print(&report::startup_terminal(record, &screen))?;
    }
    write_json(arguments, record)?;
    if let Some(path) = &arguments.html {
        write::export(path, report::startup_html(record))?;
        if !write::is_stdout(path) {
            say!(
                "the picture is in {}",
                report::escape(&path.display().to_string())
            );
        }
    }
    Ok(())
}

/// Where JSON was asked for and no file has grown with the runs.
///
/// # Errors
/// When it can't be written.
pub(super) fn write_json(arguments: &Arguments, record: &StartupRecord) -> Result<(), Failure> {
    let Some(path) = write::not_grown(arguments.json.as_deref()) else {
        return Ok(());
    };
    write::export(path, report::json(record))
}
