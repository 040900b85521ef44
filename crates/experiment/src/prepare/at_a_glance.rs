//! Which tools are missing, as fast as a list of many experiments needs it: no check is run twice,
//! and none that would only print a version.

use std::collections::BTreeMap;
use std::path::Path;

use super::install::missing;
use crate::file::experiment::Tool;
use crate::resolve::{Job, Scope};
use crate::run::Interrupted;
use crate::run::command::{self, CommandError, execute};

/// Arguments after which a program prints its version and does nothing else. Where it is found it
/// is there: the 116 checks of the catalogue took 4 s of CPU time, most of it for what only starts.
const ASKS_VERSION: [&str; 5] = ["--version", "-version", "-v", "-V", "version"];

/// What checks have said: by their words, variables and, where those name a place, the folder.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<String, bool>);

/// The tools of an experiment, as far as a list says it.
#[derive(Debug, Default)]
pub struct AtAGlance {
    /// Those that are not there, each with how to get it.
    pub missing: Vec<String>,
    /// Those whose program is there, and of which only their check, which was not run, would tell more.
    pub unchecked: Vec<String>,
}

/// Looks for the tools of an experiment. Their checks, which are commands of whoever wrote the file, are run only if
/// there is a folder for what they print.
///
/// # Errors
/// When the user interrupts.
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

/// `None`: only its check would tell.
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

/// The same check says the same wherever it is run, unless its words name a place from there.
fn key(job: &Job) -> String {
    let is_relative = |word: &String| word.contains('/') && !word.starts_with('/');
    let folder = job.words.iter().any(is_relative);
    let folder = folder.then_some(&job.directory);
    format!("{:?} {:?} {folder:?}", job.words, job.variables)
}
