//! Prepares a command with and without an intervention for comparison.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_measure::{Expectation, Hook, Output};
use fathom_trace::Trace;

use super::folder::Folder;
use super::same::Seen;
use super::slope::{self, Delayed, OtherThreads, Slopes};
use super::{Asks, Case, Change, Intervention, named, observed, same};
use crate::bench::{Amount, BenchPlan, bench};
use crate::why::{WhyPlan, observed_run};
use crate::{ConductError, Observer, RunTerms, Target};

/// The commands to compare. The files they need are removed when this is dropped.
#[derive(Debug)]
pub struct Arms {
    /// The command with and without the cause, or the command without a delay and with growing delays.
    pub targets: Vec<Target>,
    /// How the delays become a slope, if there are delays.
    pub slope: Option<Slopes>,
    /// The number of rounds to run if the user gives none: a larger slope isn't known any sooner.
    pub rounds: Option<u32>,
    /// Folders in which the command without the cause writes, with the folders in which its files are then.
    written: Vec<(PathBuf, PathBuf)>,
    folder: Folder,
}

/// Prepares the command with and without the intervention of this name. The command is observed once, to see
/// which files it writes, and run three times, to check that it does the same without the cause.
///
/// # Errors
/// [`ConductError::Refused`] if there is no such intervention or it isn't possible here, and
/// [`ConductError::Untrusted`] if the command does something else without the cause.
pub fn by_hand(
    name: &str,
    plan: &BenchPlan,
    observer: &mut dyn Observer,
) -> Result<Arms, ConductError> {
    // `Err`: what to delay. An unknown intervention is refused before anything is run.
    let intervention = match name.strip_prefix(slope::PREFIX) {
        Some(delayed) => Err(delayed),
        None => Ok(named(name)?),
    };
    let (target, terms) = (&plan.targets[0], &plan.terms);
    let refused = |why| ConductError::Refused(format!("--try {name}: {why}"));
    let observing = WhyPlan {
        target: target.clone(),
        runs: None,
        ignore_failure: plan.ignore_failure.clone(),
        tier: None,
        measure_limits: false,
        terms: terms.clone(),
    };
    let trace = observed_run(&observing, observer)?;
    let arms = match intervention {
        Ok(intervention) => prepare(intervention, target, &trace, Asks::ByHand, true)?,
        Err(delayed) => {
            let delayed = Delayed::named(delayed, &trace).map_err(refused)?;
            let wall = wall(plan)?;
            let rounds = slope::rounds_in(plan.amount.time.unwrap_or(TIME), wall);
            delay(name, &delayed, &trace, (target, wall))?.map(|arms| Arms {
                rounds: Some(rounds.max(slope::FEWEST_ROUNDS)),
                ..arms
            })
        }
    };
    let mut arms = arms.map_err(refused)?;
    match arms.check(&trace, terms, plan.seed)? {
        Ok(_) => Ok(arms),
        Err(differs) => Err(ConductError::Untrusted(format!(
            "--try {name} is void: {differs}"
        ))),
    }
}

/// Measures the time of the command in a few runs, in seconds.
fn wall(plan: &BenchPlan) -> Result<f64, ConductError> {
    let few = BenchPlan {
        amount: Amount {
            runs: Some(RUNS_BEFORE),
            ..Amount::default()
        },
        record: None,
        canaries: false,
        require_quiet: None,
        ..plan.clone()
    };
    let measured = bench(&few, &mut |_: crate::Event<'_>| {})?;
    if let Some(failure) = measured.failure {
        return Err(failure.into());
    }
    let outcome = measured.record.outcome.as_ref();
    let summary = outcome.and_then(|outcome| outcome.results.first()?.summaries.first());
    Ok(summary.map_or(0.0, |summary| summary.median.value))
}

/// The default time limit, which is the same as for comparing two commands.
const TIME: Duration = Duration::from_secs(10);
/// The number of runs before the delays are chosen; these are enough to know how large the delays must be.
const RUNS_BEFORE: u32 = 3;

/// Prepares the command without a delay and three delayed ones; returns `Err` with a message if it can't be
/// delayed.
///
/// # Errors
/// If no folder can be created for the runs.
pub(super) fn delay(
    name: &str,
    delayed: &Delayed,
    trace: &Trace,
    (target, wall): (&Target, f64),
) -> Result<Result<Arms, String>, ConductError> {
    let folder = folder()?;
    let others = OtherThreads::of(delayed, trace);
    let made = slope::arms(name, delayed, &others, target, wall);
    Ok(made.map(|(targets, slopes)| Arms {
        targets,
        slope: Some(slopes),
        rounds: None,
        written: Vec::new(),
        folder,
    }))
}

fn folder() -> Result<Folder, ConductError> {
    Folder::make().map_err(|error| {
        ConductError::Refused(format!(
            "can't create a folder for temporary files: {error}"
        ))
    })
}

/// Prepares both commands; returns `Err` with a message if this command can't be run without the cause.
///
/// # Errors
/// If no folder can be created for the runs.
pub(super) fn prepare(
    intervention: &Intervention,
    target: &Target,
    trace: &Trace,
    asks: Asks<'_>,
    may_look: bool,
) -> Result<Result<Arms, String>, ConductError> {
    let folder = match intervention.in_memory {
        true => match Folder::in_memory() {
            Some(folder) => folder,
            None => return Ok(Err("there is no tmpfs for its files".to_owned())),
        },
        false => folder()?,
    };
    let case = Case {
        target,
        trace,
        asks,
        may_look,
        folder: folder.path(),
    };
    Ok((intervention.arrange)(&case).map(|mut change| Arms {
        written: std::mem::take(&mut change.written),
        targets: with_what_comes_before(change, target, intervention.name).into(),
        slope: None,
        rounds: None,
        folder,
    }))
}

/// Returns both commands with their preparation hooks.
fn with_what_comes_before(mut change: Change, target: &Target, name: &str) -> [Target; 2] {
    let before = change.before.take();
    let [mut with, mut without] = change.arms(target, name);
    if let Some(line) = before {
        // Both run a shell right before each run.
        with.hooks.prepare = Some(prepare_hook(target, ":"));
        without.hooks.prepare = Some(prepare_hook(target, &line));
    }
    [with, without]
}

/// Returns a hook that runs the user's preparation before each run, and then this line.
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
    /// Checks whether the command does the same without the cause, or with the largest delay; returns `Err`
    /// with a description of the difference if not.
    ///
    /// # Errors
    /// If a command can't be run.
    pub(super) fn check(
        &mut self,
        trace: &Trace,
        terms: &RunTerms,
        seed: u64,
    ) -> Result<Result<Seen, String>, ConductError> {
        let folder = self.targets[0].command.folder();
        if let Some(path) = observed::with_rights(trace, folder) {
            return Ok(Err(format!(
                "{} gets privileges from its file, and would lose them",
                path.display()
            )));
        }
        let ends = [&self.targets[0], &self.targets[self.targets.len() - 1]];
        let how = match self.slope {
            Some(_) => "when it is delayed",
            None => "without it",
        };
        match observed::written(trace, folder) {
            Ok(files) => {
                let own = files.iter().map(|file| self.place_of(file)).collect();
                let files = same::Files {
                    written: files,
                    without: own,
                };
                let same = same::check(ends, how, &files, self.folder.path(), terms, seed)?;
                if let Ok(seen) = &same {
                    self.expect(seen.expected.as_ref());
                }
                Ok(same)
            }
            Err(why) => Ok(Err(why)),
        }
    }

    /// Returns where a file is that the command without the cause wrote.
    fn place_of(&self, file: &Path) -> PathBuf {
        let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
        let real = folder.and_then(|folder| Some(folder.join(file.file_name()?)));
        let moved = |(from, to): &(PathBuf, PathBuf)| {
            let below = real.as_ref()?.strip_prefix(from).ok()?;
            Some(to.join(below))
        };
        let found = self.written.iter().find_map(moved);
        found.unwrap_or_else(|| file.to_path_buf())
    }

    /// Makes each run check that it prints what is expected.
    fn expect(&mut self, expected: Option<&Expectation>) {
        for target in &mut self.targets {
            let command = &mut target.command;
            if command.output == Output::Null && command.expect.is_none() {
                command.expect = expected.cloned();
            }
        }
    }
}
