//! Starts the program behind a wrapper directly, in the environment that the wrapper set up.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use fathom_measure::{Input, variables};
use fathom_model::FindingId;
use fathom_trace::Exec;

use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "no-wrapper",
    takes_away: "the work of a wrapper, such as a version manager's shim, before it executes the real program",
    needs: "a command whose first process eventually executes another program",
    can_break: "the wrapper's output is missing",
    findings: &[FindingId::StartupDominated, FindingId::ProcessSpawning],
    looks: 1,
    arrange,
    ..USUAL
};

/// The interval between checks whether the real program has started.
const BETWEEN_LOOKS: Duration = Duration::from_micros(500);

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let root = case.trace.processes.first();
    let execs = root.map_or(&[][..], |process| &process.execs);
    let [first, .., last] = execs else {
        return Err("it has no wrapper".to_owned());
    };
    if first.path == last.path || last.arguments_cut || last.arguments.is_empty() {
        return Err("it has no wrapper".to_owned());
    }
    if !case.may_look {
        return Ok(Change::default());
    }
    let made = environment_of(case, last)?;
    let own = case.target.command.environment();
    let unset = own.iter().map(|(name, _)| name);
    let unset = unset.filter(|name| !made.iter().any(|(known, _)| known == *name));
    let unset = unset.cloned().collect();
    let differs = |one: &(OsString, OsString)| !own.contains(one);
    Ok(Change {
        program: Some(case.target.command.folder().join(&last.path)),
        words: Some(last.arguments.iter().map(OsString::from).collect()),
        set: made.into_iter().filter(differs).collect(),
        unset,
        ..Change::default()
    })
}

/// Runs the command once more, and reads the environment variables of the real program while it runs.
fn environment_of(case: &Case<'_>, real: &Exec) -> Result<Vec<(OsString, OsString)>, String> {
    let missed = || "the program that its wrapper runs ends too soon to be examined".to_owned();
    let target = case.target;
    let input = match &target.command.input {
        Input::Null => Stdio::null(),
        Input::File(path) => std::fs::File::open(path)
            .map_err(|error| error.to_string())?
            .into(),
    };
    let mut words = target.words_as_found().into_iter();
    let mut command = Command::new(words.next().ok_or_else(missed)?);
    command
        .args(words)
        .env_clear()
        .envs(target.command.environment());
    if let Some(folder) = &target.command.directory {
        command.current_dir(folder);
    }
    command
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let about = PathBuf::from(format!("/proc/{}", child.id()));
    let wanted: Vec<u8> = real
        .arguments
        .iter()
        .flat_map(|word| [word.as_bytes(), b"\0"].concat())
        .collect();
    let mut seen = None;
    // Let the program run to its end, so that its work isn't cut off halfway.
    while child
        .try_wait()
        .map_err(|error| error.to_string())?
        .is_none()
    {
        if seen.is_none() && std::fs::read(about.join("cmdline")).is_ok_and(|words| words == wanted)
        {
            let folder = std::fs::read_link(about.join("cwd"));
            seen = std::fs::read(about.join("environ")).ok().zip(folder.ok());
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    let (block, folder) = seen.ok_or_else(missed)?;
    if case
        .folder_of_runs()
        .canonicalize()
        .is_ok_and(|own| own != folder)
    {
        return Err("its wrapper changes to another folder".to_owned());
    }
    Ok(variables(&block).collect())
}
