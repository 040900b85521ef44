//! `fathom jobs`: shows the state of jobs.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use fathom_conduct::{ConductError, fleet};
use fathom_fleet::{Group, Progress};
use fathom_model::{Job, JobState, JobsRecord, SCHEMA_VERSION};
use fathom_report::{escape, shorten};

use super::{collect, in_a_line, in_words, step};
use crate::cli::failure::{Failure, usage};
use crate::cli::out::say;
use crate::cli::{redacted, write};

/// The maximum number of jobs of one submission that are listed individually.
const EACH: usize = 8;
/// Width of the command column.
const COMMAND: usize = 60;

/// The options of `fathom jobs`; see its help.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  fathom gate --on slurm --detach
  fathom jobs                    each job; the results of those that have ended
  fathom jobs cancel 17")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,

    /// Write the list as JSON; '-' is standard output, and results are then not shown
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Cancel a job
    Cancel {
        /// The engine's id of the job; for an array, that of the whole array or of one of its jobs
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Run an attempt of a job; called by its script on the node
    #[command(hide = true)]
    Step {
        /// The folder of the job's group
        group: PathBuf,
        /// The number of the job in the group
        job: usize,
        /// The number of the submission
        token: u32,
    },
}

/// Lists jobs and collects finished ones, cancels a job, or runs an attempt. Returns the exit code.
///
/// # Errors
/// A folder that can't be read, an engine that refuses, or an unknown job.
pub(crate) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    match &arguments.action {
        None => listed(&fleet::folder(&here)?, arguments.json.as_deref()),
        Some(Action::Cancel { id }) => cancelled(&fleet::folder(&here)?, id),
        Some(Action::Step { group, job, token }) => step::run(group, *job, *token),
    }
}

fn listed(all: &Path, json: Option<&Path>) -> Result<i32, Failure> {
    let prints = !json.is_some_and(write::is_stdout);
    let (mut gravest, mut jobs) = (0, Vec::new());
    for (name, group) in fathom_fleet::groups(all).map_err(ConductError::from)? {
        let Some(mut group) = group else {
            say!("{}: another process is following it", escape(&name));
            continue;
        };
        if group.is_collected() {
            group.tidy().map_err(ConductError::from)?;
            continue;
        }
        let progress = group.look().map_err(ConductError::from)?;
        let words = redacted::words(&group.asked.arguments).join(" ");
        let folder = all.join(group.name()).display().to_string();
        let command = shell_words::split(&words).unwrap_or_default();
        let each = progress.iter().enumerate();
        jobs.extend(each.map(|(job, progress)| recorded(&group, &folder, &command, job, progress)));
        let words = shorten(&escape(&format!("fathom {words}")), COMMAND);
        let lines = match progress.len() <= EACH {
            true => (0..progress.len())
                .map(|job| format!("{}  {}", collect::title(&group, job), state(&progress[job])))
                .collect(),
            false => vec![format!(
                "{} and {} more  {}",
                collect::title(&group, 0),
                progress.len() - 1,
                in_a_line(&group, &progress)
            )],
        };
        for line in lines.iter().filter(|_| prints) {
            write::print(&format!("{}  {words}\n", escape(line)))?;
        }
        if progress.iter().all(Progress::is_end) {
            gravest = gravest.max(collect::all(&group, &progress, prints)?);
        }
    }
    if let Some(json) = json {
        let record = JobsRecord {
            schema_version: SCHEMA_VERSION,
            kind: "jobs".to_owned(),
            jobs,
        };
        write::export(json, fathom_report::json(&record))?;
    }
    Ok(gravest)
}

fn recorded(
    group: &Group,
    folder: &str,
    command: &[String],
    job: usize,
    progress: &Progress,
) -> Job {
    let part = &group.asked.jobs[job];
    let (mut detail, mut node, mut exit) = (in_words(progress), None, None);
    let state = match progress {
        Progress::Known(word, on) => {
            (detail, node) = (Some(word.clone()), on.clone());
            JobState::HandedOver
        }
        Progress::Waiting(_) => JobState::Waiting,
        Progress::Ended(attempt) => {
            (node, exit) = (Some(attempt.run.node.clone()), Some(attempt.exit));
            JobState::Ended
        }
        Progress::GivenUp(why) => {
            detail = Some(why.clone());
            JobState::GivenUp
        }
        Progress::Cancelled => JobState::Cancelled,
    };
    Job {
        folder: folder.to_owned(),
        command: command.to_vec(),
        engine: group.asked.engine.name.clone(),
        id: group.id(job).map(str::to_owned),
        part: part.part.clone(),
        constraint: part.constraint.clone(),
        state,
        detail,
        node,
        exit,
    }
}

fn state(progress: &Progress) -> String {
    match progress {
        Progress::GivenUp(_) => "given up".to_owned(),
        Progress::Cancelled => "ended by you".to_owned(),
        Progress::Ended(attempt) => format!("ended, node {}", attempt.run.node),
        other => in_words(other).unwrap_or_default(),
    }
}

fn cancelled(all: &Path, asked: &str) -> Result<i32, Failure> {
    let is_meant = |id: Option<&str>| {
        id.is_some_and(|id| {
            let of_array = id
                .strip_prefix(asked)
                .is_some_and(|rest| rest.starts_with('_'));
            id == asked || of_array
        })
    };
    let mut followed = 0;
    for (_, group) in fathom_fleet::groups(all).map_err(ConductError::from)? {
        let Some(mut group) = group else {
            followed += 1;
            continue;
        };
        if (0..group.asked.jobs.len()).any(|job| is_meant(group.id(job))) {
            group
                .cancel(|_, id| is_meant(id))
                .map_err(ConductError::from)?;
            return Ok(0);
        }
    }
    match followed {
        0 => usage(format!("no job {asked:?}; fathom jobs lists them")),
        _ => usage(format!(
            "{asked:?} matches only jobs that other processes are following: interrupt those processes"
        )),
    }
}
