//! The record in every form that was asked for.

use std::io::Read;
use std::path::{Path, PathBuf};

use fathom_model::GateRecord;
use fathom_report as report;
use fathom_store::regular;

use super::arguments::{Arguments, Render};
use crate::cli::failure::Failure;
use crate::cli::{screen, write};

/// The forms other than JSON: a file, and the function that writes it.
type Form = (Option<PathBuf>, fn(&GateRecord) -> String);

fn forms(arguments: &Arguments) -> [Form; 4] {
    [
        (arguments.markdown.clone(), report::gate_markdown),
        (arguments.junit.clone(), report::gate_junit),
        (arguments.github.clone(), report::gate_github),
        (arguments.gitlab.clone(), report::gate_gitlab),
    ]
}

/// Says before measuring that a file can't be written after it.
///
/// # Errors
/// [`Failure::Usage`] naming the file.
pub(super) fn check(arguments: &Arguments) -> Result<(), Failure> {
    let forms = forms(arguments);
    let files = forms.iter().filter_map(|(path, _)| path.as_deref());
    write::check(files.chain(arguments.json.as_deref()))
}

/// Prints and writes.
///
/// # Errors
/// When something can't be written.
pub(super) fn show(arguments: &Arguments, record: &GateRecord) -> Result<(), Failure> {
    let forms = forms(arguments);
    let files = forms
        .iter()
        .filter_map(|(path, _)| path.as_deref())
        .chain(arguments.json.as_deref());
    if !files.into_iter().any(write::is_stdout) {
        let screen = screen::of_stdout(arguments.verbose);
        write::print(&report::gate_terminal(record, &screen))?;
    }
    if let Some(path) = &arguments.json {
        write::export(path, report::json(record))?;
    }
    written(&forms, record)
}

fn written(forms: &[Form], record: &GateRecord) -> Result<(), Failure> {
    for (path, form) in forms {
        if let Some(path) = path {
            write::export(path, form(record))?;
        }
    }
    Ok(())
}

/// Writes what another job measured.
///
/// # Errors
/// When the file is no record of a gate.
pub(super) fn render(render: &Render) -> Result<i32, Failure> {
    let record = read(&render.record)?;
    let forms: [Form; 4] = [
        (render.markdown.clone(), report::gate_markdown),
        (render.junit.clone(), report::gate_junit),
        (render.github.clone(), report::gate_github),
        (render.gitlab.clone(), report::gate_gitlab),
    ];
    write::check(forms.iter().filter_map(|(path, _)| path.as_deref()))?;
    written(&forms, &record)?;
    Ok(0)
}

/// It comes from a job that ran foreign code: nothing but a record of the right form is taken.
fn read(path: &Path) -> Result<GateRecord, Failure> {
    const LARGEST: u64 = 16 << 20;
    let refuse = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let mut text = Vec::new();
    regular::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text))
        .map_err(|error| refuse(error.to_string()))?;
    if text.len() as u64 > LARGEST {
        return Err(refuse(
            "it is longer than 16 MiB: a record of a gate is not".to_owned(),
        ));
    }
    let record: GateRecord = serde_json::from_slice(&text).map_err(|error| {
        refuse(format!(
            "it is not a record of `fathom gate --json`: {error}"
        ))
    })?;
    if record.kind != "gate" {
        return Err(refuse(format!(
            "it is a record of {:?}, not of a gate",
            record.kind
        )));
    }
    Ok(record)
}
