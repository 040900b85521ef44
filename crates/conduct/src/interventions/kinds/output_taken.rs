//! Lets the output go to a file instead of to a program that reads it.

use std::path::Path;

use fathom_measure::Output;
use fathom_model::FindingId;

use super::input_ready::{behind, is_named_pipe, named_pipe};
use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "output-taken",
    takes_away: "waiting for the program that reads the output: what goes to a named pipe goes to a file in memory",
    needs: "a named pipe as standard output or argument, with another reader for each run; for an argument, the \
         right to mount, or user namespaces",
    can_break: "the reader gets nothing",
    findings: &[FindingId::WaitingForOutput],
    in_memory: true,
    shows_at_once: false,
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let here = std::env::current_dir().unwrap_or_default();
    let taken = case.folder.join("output");
    if let Output::File(path) = &case.target.command.output
        && is_named_pipe(&here.join(path))
    {
        return Ok(Change {
            before: Some(release(&here.join(path))?),
            output: Some(Output::File(taken)),
            ..Change::default()
        });
    }
    let pipe = named_pipe(case, |row| row.writes > 0)
        .ok_or("its output doesn't go to a named pipe, or the pipe no longer exists")?;
    behind(case, &pipe, &taken, release(&pipe)?)
}

/// Returns a command line that opens the pipe and closes it again, so that its reader doesn't wait.
fn release(pipe: &Path) -> Result<String, String> {
    let name = pipe.to_str().ok_or("the pipe's name is not valid UTF-8")?;
    Ok(format!(": > {}", shell_words::quote(name)))
}
