//! Collects the input before the command starts.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fathom_measure::{Input, Mount, try_mounts};
use fathom_model::FindingId;
use fathom_trace::DescriptorKind;

use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "input-ready",
    takes_away: "waiting for the program that writes the input: what comes through a named pipe is collected in a \
         file before each run, after --prepare",
    needs: "a named pipe as standard input or argument, with another writer for each run; for an argument, the \
         right to mount, or user namespaces",
    can_break: "a program that reads only the beginning, or answers the writer",
    findings: &[FindingId::WaitingForInput],
    in_memory: true,
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let here = std::env::current_dir().unwrap_or_default();
    let collected = case.folder.join("input");
    if let Input::File(path) = &case.target.command.input
        && is_named_pipe(&here.join(path))
    {
        return Ok(Change {
            before: Some(copy(&here.join(path), &collected)?),
            input: Some(Input::File(collected)),
            ..Change::default()
        });
    }
    let pipe = named_pipe(case, |row| row.reads > 0)
        .ok_or("its input doesn't come from a named pipe, or the pipe no longer exists")?;
    behind(case, &pipe, &collected, copy(&pipe, &collected)?)
}

/// Puts a file at the place of a named pipe.
pub(super) fn behind(
    case: &Case<'_>,
    pipe: &Path,
    file: &Path,
    before: String,
) -> Result<Change, String> {
    let idle = case.folder.join("idle");
    for file in [file, &idle] {
        std::fs::write(file, "").map_err(|error| error.to_string())?;
    }
    let mounts = vec![Mount::bind(file, pipe)];
    try_mounts(&mounts, &case.folder_of_runs())
        .map_err(|error| format!("it may not have mounts of its own here ({error})"))?;
    Ok(Change {
        mounts,
        idle_mounts: vec![Mount::bind(file, &idle)],
        before: Some(before),
        ..Change::default()
    })
}

/// Returns a named pipe that the command used in this way.
pub(super) fn named_pipe(
    case: &Case<'_>,
    is_meant: impl Fn(&fathom_trace::FileRow) -> bool,
) -> Option<PathBuf> {
    let folder = case.folder_of_runs();
    let rows = case.trace.files.iter().filter(|row| is_meant(row));
    let mut pipes = rows.filter_map(|row| match &row.name {
        DescriptorKind::NamedPipe(path) | DescriptorKind::File(path) => Some(folder.join(path)),
        _ => None,
    });
    pipes.find(|path| is_named_pipe(path))
}

pub(super) fn is_named_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

/// Returns a command line that copies everything from a file or pipe.
fn copy(from: &Path, to: &Path) -> Result<String, String> {
    let [from, to] = [from, to].map(|path| path.to_str().map(shell_words::quote));
    let known = from.zip(to).ok_or("the pipe's name is not valid UTF-8")?;
    Ok(format!("cat < {} > {}", known.0, known.1))
}
