//! `--on`: runs a verb as a job on another machine. Also `fathom jobs`.

mod collect;
mod jobs;
mod options;
mod step;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use fathom_conduct::{ConductError, fleet, keep};
use fathom_fleet::{Asked, Group, Part, Progress};
use fathom_measure::interrupt;
use fathom_report::escape;

pub(super) use jobs::{Arguments, run};
pub(super) use options::{OnOptions, PlanOption, Remote};

use crate::cli::failure::{Failure, usage};
use crate::cli::out::say;
use crate::cli::status_line::StatusLine;
use crate::cli::{redacted, screen, write};

/// Determines whether this process runs as a job on its node, and remembers it.
///
/// # Errors
/// If the attempt's folder can't be read.
pub(super) fn within() -> Result<(), Failure> {
    match fathom_store::variables::get(fathom_fleet::ATTEMPT) {
        Some(folder) => Ok(fathom_fleet::within(folder.into()).map_err(ConductError::from)?),
        None => Ok(()),
    }
}

/// Submits the verb if `--on` is given, and returns the exit code; `None` if the verb must run here. Within a
/// job, the verb runs here, and its record goes to the attempt's folder.
///
/// # Errors
/// Everything that prevents the jobs from producing a result.
pub(super) fn elsewhere(remote: Remote) -> Result<Option<i32>, Failure> {
    if let Some(attempt) = fathom_fleet::attempt() {
        // The results are copied to the requested paths when they are collected, so a job that was given up
        // writes nothing there.
        *remote.json = Some(attempt.folder.join(fathom_fleet::RECORD));
        for (place, file) in remote.files.into_iter().enumerate() {
            if file.as_ref().is_some_and(|path| !write::is_stdout(path)) {
                *file = Some(fathom_fleet::file(&attempt.folder, place));
            }
        }
        return Ok(None);
    }
    let Some(named) = &remote.on.on else {
        return Ok(None);
    };
    let files = remote.files.iter().map(|file| &**file);
    write::check(&files.chain([&*remote.json]).collect::<Vec<_>>())?;
    let asked = asked(named, &remote)?;
    let folder = Group::place(&fleet::folder(&asked.folder)?);
    if remote.plan {
        return shown(&asked, &folder).map(Some);
    }
    let group = Group::submit(&folder, asked).map_err(ConductError::from)?;
    if remote.on.detach {
        let ids = (0..group.asked.jobs.len()).filter_map(|job| group.id(job));
        let ids: Vec<_> = ids.take(4).collect();
        let more = group.asked.jobs.len() - ids.len();
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        say!(
            "handed over to {} as {}{more}; fathom jobs shows its progress",
            escape(&group.asked.engine.name),
            escape(&ids.join(", "))
        );
        return Ok(Some(0));
    }
    interrupt::catch();
    followed(group).map(Some)
}

fn asked(named: &str, remote: &Remote) -> Result<Asked, Failure> {
    let failed = |error: std::io::Error| Failure::Failed(error.to_string());
    let here = std::env::current_dir().map_err(failed)?;
    let suite = keep::suite(&here);
    let suite = suite.map(|path| fathom_experiment::read(&path)).transpose();
    let suite = suite.map_err(|error| Failure::Usage(error.to_string()))?;
    let of_suite = suite.and_then(|suite| Some(suite.fleet?.engine()));
    let (mut engine, partition) = fleet::engine(named, of_suite)?;
    let words = std::env::args_os().skip(1).map(OsString::into_string);
    let Ok(arguments) = words.collect::<Result<Vec<String>, _>>() else {
        return usage(
            "--on needs arguments in UTF-8, because they are written into the job's folder",
        );
    };
    let program = std::env::current_exe().map_err(failed)?;
    for path in [&here, &program] {
        if path.to_str().is_none() {
            let path = path.display();
            return usage(format!("--on takes only UTF-8 paths; {path} is not one"));
        }
    }
    let absolute = |path: &PathBuf| match write::is_stdout(path) {
        true => path.clone(),
        false => here.join(path),
    };
    let all = |names: &[String]| -> Vec<Option<String>> {
        match names {
            [] => vec![None],
            several => several.iter().cloned().map(Some).collect(),
        }
    };
    let parts = all(&remote.parts);
    let of_kind = |constraint: Option<String>| {
        parts.iter().cloned().map(move |part| Part {
            part,
            constraint: constraint.clone(),
        })
    };
    let mut kinds = remote.on.constraint.clone();
    let mut seen = HashSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    let jobs: Vec<Part> = all(&kinds).into_iter().flat_map(of_kind).collect();
    if jobs.len() > 1 {
        engine.ask_array_size();
    }
    let file = |file: &&mut Option<PathBuf>| {
        let path = file.as_ref().filter(|path| !write::is_stdout(path));
        path.map(absolute)
    };
    Ok(Asked {
        json: remote.json.as_ref().map(absolute),
        files: remote.files.iter().map(file).collect(),
        saves: remote.saving.keeper()?.is_some(),
        store: remote.saving.store.clone(),
        program,
        arguments,
        engine,
        partition,
        jobs,
        folder: here,
    })
}

/// Prints scripts and commands without submitting anything.
fn shown(asked: &Asked, folder: &std::path::Path) -> Result<i32, Failure> {
    let mut text = String::new();
    for one in fathom_fleet::submissions(asked, folder).map_err(ConductError::from)? {
        let count = fathom_model::quantity::counted(one.jobs.1 as u64, "job", "jobs");
        text += &format!("{count}: {}\n\n", shell_words::join(one.words));
        text += &one.script;
        text.push('\n');
    }
    let words = redacted::words(&asked.arguments).join(" ");
    text += &format!("On the node: fathom {words}\n");
    write::print(&text)?;
    Ok(0)
}

/// Monitors jobs with a progress line, then prints the output of each; returns the most severe exit code.
fn followed(mut group: Group) -> Result<i32, Failure> {
    let mut line = StatusLine::on_terminal(Duration::ZERO);
    let mut last: Vec<Progress> = Vec::new();
    let ended = fleet::follow(&mut group, |group, now| {
        let changed = now.iter().enumerate();
        let changed = changed.filter(|(job, progress)| last.get(*job) != Some(*progress));
        match screen::can_draw() {
            true => line.say(&in_a_line(group, now)),
            false => changed
                .filter_map(|(job, progress)| {
                    Some(format!(
                        "{}: {}",
                        collect::title(group, job),
                        in_words(progress)?
                    ))
                })
                .for_each(|text| say!("{}", escape(&text))),
        }
        last = now.to_vec();
    });
    line.clear();
    collect::all(&group, &ended?, true)
}

/// Summarizes the state of all jobs.
fn in_a_line(group: &Group, now: &[Progress]) -> String {
    if let [progress] = now {
        let state = in_words(progress).unwrap_or_default();
        return format!("{}: {state}", collect::title(group, 0));
    }
    let count = |name: &str, is: &dyn Fn(&Progress) -> bool| {
        let count = now.iter().filter(|progress| is(progress)).count();
        (count > 0).then(|| format!("{count} {name}"))
    };
    let started = |progress: &Progress| matches!(progress, Progress::Known(_, Some(_)));
    let parts = [
        count("ended", &Progress::is_end),
        count("on a node", &started),
        count("waiting", &|progress| {
            !progress.is_end() && !started(progress)
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Describes a running job; `None` if it has ended.
fn in_words(progress: &Progress) -> Option<String> {
    match progress {
        Progress::Known(state, Some(node)) => Some(format!("{state}, node {node}")),
        Progress::Known(state, None) => Some(state.clone()),
        Progress::Waiting(why) => Some(why.clone()),
        _ => None,
    }
}
