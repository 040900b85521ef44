//! Writes the record in every requested format.

use std::io::Read;
use std::path::{Path, PathBuf};

use fathom_model::GateRecord;
use fathom_report as report;
use fathom_store::regular;

use super::arguments::{Arguments, Forms, Render};
use crate::cli::failure::Failure;
use crate::cli::{screen, write};

fn paths(forms: &Forms) -> [&Option<PathBuf>; 4] {
    [&forms.markdown, &forms.junit, &forms.github, &forms.gitlab]
}

/// Checks before measuring that all files can be written.
///
/// # Errors
/// [`Failure::Usage`] naming the file.
pub(super) fn check(arguments: &Arguments) -> Result<(), Failure> {
    let [markdown, junit, github, gitlab] = paths(&arguments.forms);
    write::check(&[markdown, junit, github, gitlab, &arguments.json])
}

/// Prints the record and writes it.
///
/// # Errors
/// If something can't be written.
pub(super) fn show(arguments: &Arguments, record: &GateRecord) -> Result<(), Failure> {
    let screen = screen::of_stdout(arguments.verbose);
    let text = || report::gate_terminal(record, &screen);
    written(text, arguments.json.as_deref(), &arguments.forms, record)
}

/// Like [`show`], for records of jobs, without the JSON.
///
/// # Errors
/// If something can't be written.
pub(super) fn collected(
    arguments: &Arguments,
    record: &GateRecord,
    prints: bool,
) -> Result<(), Failure> {
    let screen = screen::of_stdout(arguments.verbose);
    let text = || match prints {
        true => report::gate_terminal(record, &screen),
        false => String::new(),
    };
    written(text, None, &arguments.forms, record)
}

fn written(
    shown: impl FnOnce() -> String,
    json: Option<&Path>,
    forms: &Forms,
    record: &GateRecord,
) -> Result<(), Failure> {
    write::results(
        shown,
        &[
            (json, &|| report::json(record)),
            (forms.markdown.as_deref(), &|| report::gate_markdown(record)),
            (forms.junit.as_deref(), &|| report::gate_junit(record)),
            (forms.github.as_deref(), &|| report::gate_github(record)),
            (forms.gitlab.as_deref(), &|| report::gate_gitlab(record)),
        ],
    )
}

/// Writes the record of another job.
///
/// # Errors
/// If the file is not the record of a gate.
pub(super) fn render(render: &Render) -> Result<i32, Failure> {
    let record = read(&render.record)?;
    write::check(&paths(&render.forms))?;
    written(String::new, None, &render.forms, &record)?;
    Ok(0)
}

/// Reads a record. It may come from a job that ran untrusted code, so only well-formed records are accepted.
fn read(path: &Path) -> Result<GateRecord, Failure> {
    const LARGEST: u64 = 16 << 20;
    let refuse = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let mut text = Vec::new();
    regular::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text))
        .map_err(|error| refuse(error.to_string()))?;
    if text.len() as u64 > LARGEST {
        return Err(refuse(
            "it is larger than 16 MiB, so it can't be a gate record".to_owned(),
        ));
    }
    let record: GateRecord = serde_json::from_slice(&text).map_err(|error| {
        refuse(format!(
            "it is not a record written by `fathom gate --json`: {error}"
        ))
    })?;
    if record.kind != "gate" {
        return Err(refuse(format!(
            "it is a record of {:?}, not of `fathom gate`",
            record.kind
        )));
    }
    Ok(record)
}
