//! `why`: times, observes and explains a command; for two commands, explains the difference.

mod asked;
mod attached;
mod difference;
mod java_lines;
pub(crate) mod language;
mod limits;
mod observe;
mod packages;
mod representative;
mod source_lines;
mod timing;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use attached::{AttachPlan, attached};
pub(crate) use attached::{observation as observation_of, observe as observe_process};
pub(crate) use difference::differs;
pub use difference::{DifferencePlan, Differs, difference};
use fathom_diagnose::{Language, Languages, Limits, Observation, Subject};
use fathom_measure::{CommandLine, IgnoreFailure, interrupt};
use fathom_model::quantity::{counted, short_time};
use fathom_model::{Explanation, TimedRuns};
use fathom_trace::{Tier, Trace};
use observe::Observed;
use timing::Timing;

use crate::{ConductError, Observer, RunTerms, Target, fingerprint, throttling};

/// The maximum number of a tree's processes, and of its different programs, whose language is looked up.
const MOST_PROCESSES: usize = 1_000;
const MOST_PROGRAMS: usize = 24;

/// What to explain, and how.
#[derive(Debug, Clone)]
pub struct WhyPlan {
    /// The command.
    pub target: Target,
    /// The number of timed runs; if absent, the command is run until the median is known precisely enough.
    pub runs: Option<u32>,
    /// Failures of timed runs that are counted instead of ending the measurement.
    pub ignore_failure: IgnoreFailure,
    /// The tier; if absent, the best one permitted.
    pub tier: Option<Tier>,
    /// Whether to measure the limits of the machine if they are unknown (3 s, at most 8 s).
    pub measure_limits: bool,
    /// How the command is run.
    pub terms: RunTerms,
}

/// An explanation with its observation.
#[derive(Debug)]
pub struct Explained {
    /// The record.
    pub explanation: Explanation,
    /// The observation it was made from.
    pub observation: Observation,
}

/// Times the command, observes it, and explains it.
///
/// # Errors
/// If the command can't be run or observed, or if Fathom is told to stop before it was observed.
pub fn why(plan: &WhyPlan, observer: &mut dyn Observer) -> Result<Explained, ConductError> {
    let _limit = interrupt::until(plan.terms.deadline);
    fingerprint::take(observer);
    let mut timing = timing::time(plan, observer)?;
    if interrupt::stopped() {
        return Err(ConductError::NothingObserved(Box::new(timing.timed)));
    }
    let mut observed = observe::observe(plan, &timing.runs, observer)?;
    let added = observed.added.take();
    let is_cut = interrupt::stopped() && observed.trace.end.cut_short;
    // A run that was cut short is only a part of what was timed, so it is explained separately.
    let cut_after = is_cut.then(|| timing.take());
    let floor = timing.timed.floor.map(|floor| floor.value);
    let limits = limits::limits(plan.measure_limits, floor, &observed.trace);
    let observation = observation(&plan.target, &timing, observed, limits);
    let mut explanation = explain(&plan.target, &timing, &observation);
    explanation.explaining.added = added;
    if explanation.explaining.added.is_none() {
        explanation.explaining.names_by = asked::names_by(&explanation, &observation.trace);
    }
    if let Some(before) = cut_after {
        explanation.end = format!(
            "by a signal to Fathom, and the explanation covers the time until then; timed before that: {}",
            timed_in_words(&before)
        );
    }
    Ok(Explained {
        explanation,
        observation,
    })
}

/// Observes one run without timing any. For callers that only need to know what the command does.
///
/// # Errors
/// As for [`why`].
pub(crate) fn observed_run(
    plan: &WhyPlan,
    observer: &mut dyn Observer,
) -> Result<Trace, ConductError> {
    Ok(observe::observe(plan, &[], observer)?.trace)
}

/// Formats the timed runs: `12 untraced runs, median 651 ms`.
pub fn timed_in_words(timed: &TimedRuns) -> String {
    match timed.runs {
        0 => "no run was timed".to_string(),
        runs => format!(
            "{}, median {}",
            counted(runs as u64, "untraced run", "untraced runs"),
            short_time(timed.wall.value)
        ),
    }
}

/// Returns the file that the command ended up running. A version manager's shim becomes another program,
/// whose path may be relative to the folder in which the command started. If the shim changed to another
/// folder in between, that isn't known here.
fn program_of(command: &CommandLine, last: Option<&str>) -> PathBuf {
    let named = last.map(|path| command.folder().join(path));
    let named = named.filter(|path| path.is_file());
    named.unwrap_or_else(|| from_here(command))
}

/// Resolves a program that is named relative to the command's folder (`--cwd`), which differs from the folder
/// of this process.
fn from_here(command: &CommandLine) -> PathBuf {
    command.folder().join(&command.program)
}

/// Returns the languages of the other programs of the tree, if their files show them and their names don't.
fn languages(folder: &Path, trace: &Trace) -> Languages {
    let mut programs = trace
        .processes
        .iter()
        .map(|process| process.execs.last().map(|exec| &exec.path));
    // The command's own program is looked up separately.
    let own = programs.next().flatten();
    let programs = programs.flatten().filter(|path| Some(*path) != own);
    let unknown = |path: &&String| Language::from_program_name(path).is_none();
    let programs: BTreeSet<&String> = programs.filter(unknown).take(MOST_PROCESSES).collect();
    let known = programs
        .into_iter()
        .take(MOST_PROGRAMS)
        .filter_map(|path| Some((path.clone(), language::language_of(&folder.join(path))?)));
    known.collect()
}

/// Combines the timed runs and the trace with information from the files of its programs.
fn observation(
    target: &Target,
    timing: &Timing,
    observed: Observed,
    limits: Limits,
) -> Observation {
    let trace = observed.trace;
    let languages = languages(target.command.folder(), &trace);
    let root = trace.processes.first();
    let last = root.and_then(|process| process.execs.last());
    let program = program_of(&target.command, last.map(|exec| exec.path.as_str()));
    Observation {
        timed: timing.runs.clone(),
        floor_seconds: timing.timed.floor.map(|floor| floor.value),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        limits,
        cpu_limit: throttling::limit(),
        language: language::language_of(&program),
        languages,
        unbuffered_by_variable: language::python_unbuffered(&target.command.variables),
        more_samples: observed.more_samples,
        trace,
    }
}

fn explain(target: &Target, timing: &Timing, observation: &Observation) -> Explanation {
    let subject = Subject {
        command: target.benchmark.command.clone(),
        arguments: target.benchmark.arguments.clone(),
        started_at: timing.started_at.clone(),
        environment: fingerprint::environment(),
        floor: timing.timed.floor,
    };
    let mut explanation = fathom_diagnose::explanation(subject, observation);
    explanation.warnings.extend(timing.less_for_null.clone());
    packages::name(&mut explanation);
    java_lines::name(
        &mut explanation,
        &observation.trace,
        target.command.folder(),
    );
    source_lines::add(&mut explanation, Path::new("/"), target.command.folder());
    explanation
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_measure::{Input, Output};

    fn command(program: &str, folder: Option<&str>) -> CommandLine {
        CommandLine {
            arguments: vec![program.into()],
            program: program.into(),
            directory: folder.map(PathBuf::from),
            variables: Vec::new(),
            input: Input::Null,
            output: Output::Null,
            expect: None,
            without: fathom_measure::Without::default(),
        }
    }

    #[test]
    fn a_program_is_looked_for_where_the_command_runs() {
        let found = |program: &str, folder| from_here(&command(program, folder));
        assert_eq!(found("./prog", Some("/srv")), Path::new("/srv/prog"));
        assert_eq!(found("./prog", None), Path::new("./prog"));
        assert_eq!(found("/bin/true", Some("/srv")), Path::new("/bin/true"));
    }

    #[test]
    fn what_a_script_becomes_is_looked_for_there_too() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let script = command("./script.sh", Some(folder));
        let ran = |last: Option<&str>| program_of(&script, last);
        let here = Path::new(folder);
        assert_eq!(ran(Some("./Cargo.toml")), here.join("./Cargo.toml"));
        assert_eq!(ran(Some("./is-elsewhere")), here.join("./script.sh"));
        assert_eq!(ran(None), here.join("./script.sh"));
    }
}
