//! Finds missing tools quickly enough for a list of many experiments. No check is run twice, and checks that
//! would only print a version aren't run at all.

use std::collections::BTreeMap;
use std::path::Path;

use super::install::missing;
use crate::file::experiment::Tool;
use crate::resolve::{Job, Scope};
use crate::run::Interrupted;
use crate::run::command::{self, CommandError, execute};

/// Arguments after which a program only prints its version. If the program is found, the tool counts as
/// available: the 116 checks of the catalogue took 4 s of CPU time, mostly for starting programs.
const ASKS_VERSION: [&str; 5] = ["--version", "-version", "-v", "-V", "version"];

/// Results of checks. They are keyed by the words, the variables and, if these contain a relative path, the
/// folder.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<String, bool>);

/// The tools of an experiment, in as much detail as a list needs.
#[derive(Debug, Default)]
pub struct AtAGlance {
    /// Missing tools, each with how to get it.
    pub missing: Vec<String>,
    /// Tools whose program was found, but whose check was not run and could reveal more.
    pub unchecked: Vec<String>,
}

/// Looks for the tools of an experiment. Their checks are commands written by the author of the file, and are
/// run only if there is a folder for their output.
///
/// # Errors
/// If the user interrupts.
pub fn at_a_glance(
    scope: &Scope<'_>,
    logs: Option<&Path>,
    known: &mut Known,
) -> Result<AtAGlance, Interrupted> {
    let mut all = AtAGlance::default();
    for tool in &scope.experiment.tools {
        match is_there(scope, tool, logs, known)? {
            Some(true) => {}
            Some(false) => all.missing.push(missing(tool, false, None)),
            None => all.unchecked.push(tool.name.value.clone()),
        }
    }
    Ok(all)
}

/// Returns whether the tool is available; `None` if only its check could tell.
fn is_there(
    scope: &Scope<'_>,
    tool: &Tool,
    logs: Option<&Path>,
    known: &mut Known,
) -> Result<Option<bool>, Interrupted> {
    let Ok(job) = scope.check(&tool.check) else {
        return Ok(Some(false));
    };
    if matches!(&job.words[..], [_, option] if ASKS_VERSION.contains(&option.as_str())) {
        return Ok(Some(command::find(&job).is_ok()));
    }
    let Some(logs) = logs else {
        return Ok(command::find(&job).is_err().then_some(false));
    };
    let key = key(&job);
    if let Some(there) = known.0.get(&key) {
        return Ok(Some(*there));
    }
    let there = match execute(&job, &logs.join("check")) {
        Ok(ended) => ended.run.exit.is_success(),
        Err(CommandError::NotStarted(_)) => false,
        Err(CommandError::Interrupted) => return Err(Interrupted),
    };
    known.0.insert(key, there);
    Ok(Some(there))
}

/// Returns the key of a check. The result of a check doesn't depend on the folder, unless its words contain a
/// relative path.
fn key(job: &Job) -> String {
    let is_relative = |word: &String| word.contains('/') && !word.starts_with('/');
    let folder = job.words.iter().any(is_relative);
    let folder = folder.then_some(&job.directory);
    format!("{:?} {:?} {folder:?}", job.words, job.variables)
}
