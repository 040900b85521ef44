//! `fathom run`: runs an experiment file, or a catalogue of them.

mod arguments;
mod listing;
mod progress;
mod readme;
mod revisions;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(super) use arguments::Arguments;
use fathom_experiment::resolve::Scope;
use fathom_experiment::select::Selection;
use fathom_experiment::session::{self, End, Options, RunError};
use fathom_experiment::verdict::{self, Budgets};
use fathom_experiment::{Experiment, ReadError, catalogue, plan};
use fathom_measure::interrupt;
use fathom_model::{ExperimentRecord, PlanRecord, SCHEMA_VERSION};
use fathom_report as report;
use progress::Line;

use crate::cli::failure::{COMMAND_FAILED, Failure, UNTRUSTED, usage};
use crate::cli::{last_run, screen, write};

/// Exit code if a budget claim doesn't hold.
const BUDGET_FAILED: i32 = 1;
/// Time limit for the quick set of a whole catalogue, builds included. Together with finding tools and
/// writing records, the set must fit into 10 minutes.
const QUICK_SET: Duration = Duration::from_secs(8 * 60);
/// Time that an experiment may spend on builds beyond its share: the Go and Rust programs of
/// `startup-showdown` take about 10 s on a busy machine.
const FOR_BUILDS: Duration = Duration::from_secs(15);
/// Exit code after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Runs experiments, or prints their plan or the list. Returns the exit code.
///
/// # Errors
/// If a file can't be used, arguments conflict, or results can't be written.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let reports = [&arguments.json, &arguments.html, &arguments.export_markdown];
    write::check(&reports)?;
    if arguments.list {
        return listing::list(arguments);
    }
    if let Some(range) = &arguments.revisions {
        return revisions::run(arguments, range);
    }
    let files = files(arguments)?;
    let experiments = files
        .iter()
        .map(|file| read(file))
        .collect::<Result<Vec<_>, _>>()?;
    check_work(arguments, &experiments)?;
    if arguments.plan {
        return show_plans(arguments, &experiments);
    }
    if arguments.readme {
        readme::check(&experiments)?;
    }
    let mut saver = arguments.saving.saver()?;
    let here = std::env::current_dir().unwrap_or_default();
    let store = arguments.saving.store.as_deref();
    interrupt::catch();
    let mut records = Vec::new();
    let mut code = 0;
    let began = Instant::now();
    for (index, experiment) in experiments.iter().enumerate() {
        let limits = Limits::of(arguments, began, experiments.len() - index);
        let machine_check = match arguments.readme {
            true => readme::check_of_machine(experiment)?,
            false => None,
        };
        let work = work_of(arguments, experiment);
        let name = name_of(&experiment.path);
        let end = measured(arguments, experiment, &name, work, limits, machine_check)?;
        code = worse(code, exit_code(&end));
        let stop = end.interrupted;
        let shown = show(arguments, &end.record);
        let before = last_run::find(store, &here, experiment, arguments.quick);
        let known = saver.saved();
        saver.save(&end.record, !stop);
        shown?;
        if !json_to_stdout(arguments) {
            let saved = saver.last().filter(|_| saver.saved() > known);
            let compared = before.zip(saved).and_then(|(last, saved)| {
                let compared = last_run::since(store, &here, &last, saved)?;
                Some((last, compared))
            });
            let since = compared.as_ref().map(|(last, compared)| (last, compared));
            write::print(&last_run::medians(experiment, &end.record, since))?;
        }
        if arguments.readme && !stop {
            readme::write(experiment, &end.record, end.machine_check.as_deref())?;
        }
        records.push((name_of(&experiment.path), end.record));
        if stop {
            break;
        }
    }
    finish(arguments, records)?;
    Ok(code)
}

/// Returns the experiments that `--on` can distribute; they are independent of each other. Within a job,
/// selects only that job's experiment, with a work folder for the job's node, and returns an empty list.
///
/// # Errors
/// If the catalogue can't be read.
pub(super) fn parts(arguments: &mut Arguments) -> Result<Vec<String>, Failure> {
    if let Some(attempt) = fathom_fleet::attempt() {
        if let Some(part) = &attempt.part.part {
            arguments.experiments = vec![part.into()];
            arguments.all = false;
        }
        // Jobs for other experiments and other kinds of machine are given the same `--work`, so each uses a
        // subfolder.
        let own = arguments.work.take().map(|work| {
            let part = attempt
                .part
                .part
                .as_deref()
                .map(|part| name_of(Path::new(part)));
            work.join(&attempt.run.node).join(part.unwrap_or_default())
        });
        arguments.work = Some(own.unwrap_or_else(|| attempt.work()));
        arguments.resume |= !attempt.earlier.is_empty();
        return Ok(Vec::new());
    }
    if arguments.on.on.is_none() || arguments.revisions.is_some() {
        return Ok(Vec::new());
    }
    let files = files(arguments)?;
    let names = files
        .into_iter()
        .map(|file| file.into_os_string().into_string());
    match names.collect::<Result<Vec<_>, _>>() {
        Ok(names) if names.len() > 1 => Ok(names),
        _ => Ok(Vec::new()),
    }
}

/// Returns the selected files.
fn files(arguments: &Arguments) -> Result<Vec<PathBuf>, Failure> {
    if arguments.all {
        return catalogue_files(&arguments.catalogue, "fathom run --all --catalogue");
    }
    if arguments.experiments.is_empty() {
        let here = std::env::current_dir().unwrap_or_default();
        if let Some(suite) = fathom_conduct::keep::suite(&here) {
            return Ok(vec![suite]);
        }
        return usage(
            "no experiment; try: fathom run experiments/NAME, fathom run --list, or fathom init",
        );
    }
    Ok(arguments.experiments.clone())
}

/// Returns the experiments of a folder: a catalogue, a clone that contains one, or a single experiment. `how`
/// is the command that a hint shows before the folder.
fn catalogue_files(folder: &Path, how: &str) -> Result<Vec<PathBuf>, Failure> {
    if folder.join("experiment.toml").is_file() {
        return Ok(vec![folder.join("experiment.toml")]);
    }
    let mut files = catalogue::files(folder).map_err(|error| {
        // The catalogue comes with the sources; `cargo install` installs only the program.
        let way_out = match error.kind() {
            std::io::ErrorKind::NotFound => format!(
                "\nthe catalogue is the folder `experiments` in Fathom's source; give its path: {how} \
                 PATH/TO/fathom/experiments"
            ),
            _ => String::new(),
        };
        Failure::Usage(format!(
            "can't read the catalogue {}: {error}{way_out}",
            folder.display()
        ))
    })?;
    if files.is_empty() {
        files = catalogue::files(&folder.join("experiments")).unwrap_or_default();
    }
    if files.is_empty() {
        return usage(format!("no NAME/experiment.toml in {}", folder.display()));
    }
    Ok(files)
}

fn read(path: &Path) -> Result<Experiment, Failure> {
    fathom_experiment::read(path).map_err(|error| match error {
        ReadError::File(error) => Failure::Usage(format!("the file is invalid\n{error}")),
        other @ ReadError::Io { .. } => Failure::Usage(other.to_string()),
    })
}

/// Returns the name under which an experiment is listed: its folder, or its file.
fn name_of(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name);
    let is_folder = path
        .file_name()
        .is_some_and(|name| name == "experiment.toml");
    let name = match (is_folder, folder) {
        (true, Some(folder)) => Some(folder),
        _ => path.file_stem(),
    };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the work folder: `--work` itself for one experiment, or a subfolder of it for each of several.
fn work_of(arguments: &Arguments, experiment: &Experiment) -> PathBuf {
    match &arguments.work {
        None => session::default_work(&experiment.path),
        Some(work) if arguments.all || arguments.experiments.len() > 1 => {
            work.join(name_of(&experiment.path))
        }
        Some(work) => work.clone(),
    }
}

/// Checks that no two experiments share a work folder.
fn check_work(arguments: &Arguments, experiments: &[Experiment]) -> Result<(), Failure> {
    let mut taken = std::collections::BTreeSet::new();
    for experiment in experiments {
        let work = work_of(arguments, experiment);
        if arguments.work.is_some() && !taken.insert(work.clone()) {
            return usage(format!(
                "two experiments would share the folder {}; run them one by one, each with its own --work",
                work.display()
            ));
        }
    }
    Ok(())
}

fn failure_of(error: RunError) -> Failure {
    Failure::Usage(error.to_string())
}

fn show_plans(arguments: &Arguments, experiments: &[Experiment]) -> Result<i32, Failure> {
    let plans = experiments
        .iter()
        .map(|experiment| plan_of(arguments, experiment))
        .collect::<Result<Vec<_>, _>>()?;
    write::results(
        || plans.iter().map(report::plan_terminal).collect(),
        &[(arguments.json.as_deref(), &|| report::json_of_all(&plans))],
    )?;
    Ok(0)
}

fn plan_of(arguments: &Arguments, experiment: &Experiment) -> Result<PlanRecord, Failure> {
    let folders =
        session::folders(experiment, &work_of(arguments, experiment)).map_err(failure_of)?;
    let scope = Scope {
        experiment,
        folders: &folders,
        quick: arguments.quick,
    };
    let selection = Selection::of(experiment, &arguments.only).map_err(Failure::Usage)?;
    Ok(PlanRecord {
        schema_version: SCHEMA_VERSION,
        kind: "plan".to_string(),
        file: experiment.path.display().to_string(),
        title: experiment.title.clone(),
        quick: arguments.quick,
        steps: plan::plan(&scope, &selection, arguments.install).map_err(Failure::Usage)?,
    })
}

fn json_to_stdout(arguments: &Arguments) -> bool {
    arguments.json.as_deref().is_some_and(write::is_stdout)
}

/// The time limits of an experiment.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Limit for measuring.
    time: Option<Duration>,
    /// Limit for everything, builds included.
    deadline: Option<Instant>,
}

impl Limits {
    /// Returns the limits of the next of `left` experiments: its share of the remaining time. Experiments
    /// that need little leave more to the others.
    fn of(arguments: &Arguments, began: Instant, left: usize) -> Limits {
        // Package downloads depend on the network, so no end time can be promised.
        let is_set = arguments.all && arguments.quick && !arguments.install;
        let Some(whole) = arguments.within.or(is_set.then_some(QUICK_SET)) else {
            return Limits {
                time: arguments.time,
                deadline: None,
            };
        };
        let rest = whole.saturating_sub(began.elapsed());
        let mut share = rest / left.max(1) as u32;
        if arguments.quick {
            share = share.min(session::QUICK_TIME);
        }
        // The share is for measuring. Builds may take the same time again, but not the time of all the other
        // experiments.
        let most = (share * 2 + FOR_BUILDS).min(rest);
        Limits {
            time: Some(arguments.time.map_or(share, |own| own.min(share))),
            deadline: Some(Instant::now() + most),
        }
    }
}

/// Runs one experiment in the folder `work`; `name` is shown while it runs.
fn measured(
    arguments: &Arguments,
    experiment: &Experiment,
    name: &str,
    work: PathBuf,
    limits: Limits,
    machine_check: Option<String>,
) -> Result<End, Failure> {
    let options = Options {
        work,
        quick: arguments.quick,
        install: arguments.install,
        resume: arguments.resume,
        machine_check,
        only: arguments.only.clone(),
        time: limits.time,
        deadline: limits.deadline,
    };
    let mut line = Line::new(name, arguments.verbose);
    let end = session::run(experiment, &options, &mut |event| line.show(&event));
    line.clear();
    end.map_err(failure_of)
}

fn exit_code(end: &End) -> i32 {
    if end.interrupted {
        return INTERRUPTED;
    }
    if end.failed {
        return COMMAND_FAILED;
    }
    match verdict::budgets(&end.record.claims) {
        Budgets::Hold => 0,
        Budgets::Fail => BUDGET_FAILED,
        Budgets::Unknown => UNTRUSTED,
    }
}

/// Returns the worst exit code of several experiments: interrupted, then a failed program, then a failed
/// budget.
fn worse(one: i32, other: i32) -> i32 {
    one.max(other)
}

fn show(arguments: &Arguments, record: &ExperimentRecord) -> Result<(), Failure> {
    if json_to_stdout(arguments) {
        return Ok(());
    }
    let text = report::experiment_terminal(record, &screen::of_stdout(false));
    write::print(&format!("{text}\n"))
}

fn finish(arguments: &Arguments, records: Vec<(String, ExperimentRecord)>) -> Result<(), Failure> {
    let summary = match records.len() {
        0 | 1 => String::new(),
        _ => report::summary_terminal(&records, &screen::of_stdout(false)),
    };
    let all: Vec<ExperimentRecord> = records.into_iter().map(|(_, record)| record).collect();
    write::results(
        || summary,
        &[
            (arguments.json.as_deref(), &|| report::json_of_all(&all)),
            (arguments.export_markdown.as_deref(), &|| {
                report::experiment_markdown(&all)
            }),
            (arguments.html.as_deref(), &|| report::experiment_html(&all)),
        ],
    )
}
