//! A command with and without something, made ready to be compared.

use fathom_measure::{Hook, IgnoreFailure};
use fathom_trace::Trace;

use super::folder::Folder;
use super::{Asks, Case, Change, Intervention, named, observed, same};
use crate::why::{WhyPlan, observed_run};
use crate::{ConductError, Observer, RunTerms, Target};

/// Both commands. What they need is there until this is dropped.
#[derive(Debug)]
pub struct Arms {
    /// As it is, and without it.
    pub targets: [Target; 2],
    folder: Folder,
}

/// The command with and without the intervention of this name. It is observed once, to see which files
/// it writes, and run three times, to see that it does the same without.
///
/// # Errors
/// [`ConductError::Refused`] where there is no such intervention or it isn't possible here, and
/// [`ConductError::Untrusted`] where the command does something else without it.
pub fn by_hand(
    name: &str,
    target: &Target,
    terms: &RunTerms,
    ignore_failure: &IgnoreFailure,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Arms, ConductError> {
    let intervention = named(name)?;
    let plan = WhyPlan {
        target: target.clone(),
        runs: None,
        ignore_failure: ignore_failure.clone(),
        tier: None,
        measure_limits: false,
        terms: terms.clone(),
    };
    let trace = observed_run(&plan, observer)?;
    let prepared = prepare(intervention, target, &trace, Asks::ByHand)?;
    let arms = prepared.map_err(|why| ConductError::Refused(format!("--try {name}: {why}")))?;
    match arms.check(&trace, terms, seed)? {
        Ok(()) => Ok(arms),
        Err(differs) => Err(ConductError::Untrusted(format!(
            "--try {name} is void: {differs}"
        ))),
    }
}

/// Makes both commands; `Err` in words where this one can't be run without it.
///
/// # Errors
/// When no folder can be made for the runs.
pub(super) fn prepare(
    intervention: &Intervention,
    target: &Target,
    trace: &Trace,
    asks: Asks<'_>,
) -> Result<Result<Arms, String>, ConductError> {
    let folder = Folder::make();
    let folder = folder.map_err(|error| {
        ConductError::Refused(format!(
            "no folder can be made for temporary files: {error}"
        ))
    })?;
    let case = Case {
        target,
        trace,
        asks,
        folder: folder.path(),
    };
    Ok((intervention.arrange)(&case).map(|change| Arms {
        targets: with_what_comes_before(change, target, intervention.name),
        folder,
    }))
}

/// Both commands, with what each runs before.
fn with_what_comes_before(mut change: Change, target: &Target, name: &str) -> [Target; 2] {
    let before = change.before.take();
    let [mut with, mut without] = change.arms(target, name);
    if let Some(line) = before {
        // Both run a shell, after which the next run begins.
        with.hooks.prepare = Some(prepare_hook(target, ":"));
        without.hooks.prepare = Some(prepare_hook(target, &line));
    }
    [with, without]
}

/// What the user has run before each run, and then this line.
fn prepare_hook(target: &Target, line: &str) -> Hook {
    let own = target.hooks.prepare.clone();
    let script = match &own {
        Some(own) => format!("{} && {line}", shell_words::join(words(own))),
        None => line.to_owned(),
    };
    Hook {
        role: "--prepare",
        arguments: vec!["/bin/sh".into(), "-c".into(), script.clone().into()],
        text: script,
        directory: target.command.directory.clone(),
        variables: target.command.variables.clone(),
        show_output: own.is_some_and(|own| own.show_output),
    }
}

fn words(hook: &Hook) -> Vec<String> {
    let words = hook.arguments.iter();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

impl Arms {
    /// Whether the command does the same without it; `Err` in words.
    ///
    /// # Errors
    /// When a command can't be run.
    pub(super) fn check(
        &self,
        trace: &Trace,
        terms: &RunTerms,
        seed: u64,
    ) -> Result<Result<(), String>, ConductError> {
        let folder = self.targets[0].command.folder();
        if let Some(path) = observed::with_rights(trace, folder) {
            return Ok(Err(format!(
                "{} has rights by its file, which it would be run without",
                path.display()
            )));
        }
        match observed::written(trace, folder) {
            Ok(files) => same::check(&self.targets, &files, self.folder.path(), terms, seed),
            Err(why) => Ok(Err(why)),
        }
    }
}
