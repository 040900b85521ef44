//! `fathom export`: records in forms that other tools read.

mod arguments;

use std::path::Path;

pub(super) use arguments::Arguments;
use fathom_conduct::ExportPlan;
use fathom_report::escape;

use crate::cli::failure::Failure;
use crate::cli::out::say;
use crate::cli::write;

/// Exports. Returns the exit code.
///
/// # Errors
/// A source that can't be read, a file that can't be written.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    write::check(&[&arguments.output])?;
    let plan = ExportPlan {
        format: arguments.format.clone(),
        store: arguments.read.store.clone(),
        sources: arguments.sources.clone(),
        metrics: arguments.metric.clone(),
    };
    let here = std::env::current_dir().unwrap_or_default();
    let written = fathom_conduct::export(&plan, &here)?;
    write::export(
        arguments.output.as_deref().unwrap_or(Path::new("-")),
        &written.text,
    )?;
    for entry in &written.left_out {
        let text = format!(
            "left out: {} x {}: {}",
            entry.count, entry.what, entry.reason
        );
        say!("{}", escape(&text));
    }
    Ok(0)
}
