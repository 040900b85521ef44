//! `fathom run --revisions`: today's suite over past commits.

use std::time::Instant;

use fathom_conduct::ConductError;
use fathom_conduct::worktrees::{Prepared, Repository, Wanted, Worktrees};
use fathom_experiment::Experiment;
use fathom_experiment::session::End;
use fathom_measure::interrupt;
use fathom_report::escape;

use super::{Arguments, INTERRUPTED, Limits, files, measured, name_of, read};
use crate::cli::failure::{COMMAND_FAILED, Failure};
use crate::cli::last_run::{self, LastRun};
use crate::cli::out::say;
use crate::cli::versions::{here, range_of};
use crate::cli::write;

/// Measures each revision in files of its own, and saves it under its revision. One that can't be built or
/// measured is said and left out. Returns the exit code.
///
/// # Errors
/// No suite in a repository, no such range, or no revision that can be measured.
pub(super) fn run(arguments: &Arguments, range: &str) -> Result<i32, Failure> {
    let here = here()?;
    let repository = Repository::of(&here).map_err(ConductError::from)?;
    let experiment = suite(arguments)?;
    let file = std::path::absolute(&experiment.path)
        .and_then(|path| path.canonicalize())
        .map_err(|error| Failure::Usage(format!("{}: {error}", experiment.path.display())))?;
    let Ok(within) = file.strip_prefix(&repository.root) else {
        return Err(Failure::Usage(format!(
            "{} is not in the repository {}: its revisions have no folder for it",
            file.display(),
            repository.root.display()
        )));
    };
    let (from, to) = range_of(range)?;
    let again = |from: &str, to: &str| format!("fathom run --revisions {from}..{to}");
    let (from, to) = (from.as_str(), to.as_str());
    repository
        .check_order(from, to, again)
        .map_err(ConductError::from)?;
    let every = arguments.every.map(|every| every as usize);
    let line = repository
        .line(from, to, every)
        .map_err(ConductError::from)?;
    let cache = Worktrees::open(arguments.cache_size).map_err(ConductError::from)?;
    let mut saver = arguments.saving.saver()?;
    let store = arguments.saving.store.as_deref();
    interrupt::catch();
    if repository.dirty {
        say!(
            "note: changes that are not committed are not measured, but the suite is that of the working tree"
        );
    }
    let began = Instant::now();
    let (mut count, mut last) = (0, None::<LastRun>);
    for (place, (name, id)) in line.revisions.iter().enumerate() {
        let name = escape(name);
        let wanted = Wanted {
            repository: &repository,
            revision: id,
            build: None,
            again: false,
            twin: false,
        };
        let mut waits = || say!("{name} is checked out by another Fathom, waiting ...");
        let prepared = cache.prepare(&wanted, &mut waits);
        // Held until it is measured: nobody removes its files.
        let worktree = match prepared.map_err(ConductError::from)? {
            Prepared::Built(worktree) => worktree,
            Prepared::Failed(error) => {
                say!("{name} is left out: {}", escape(&error));
                continue;
            }
        };
        let at = Experiment {
            path: worktree.folder.join(within),
            ..experiment.clone()
        };
        let limits = Limits::of(arguments, began, line.revisions.len() - place);
        // Apart from what a gate builds there.
        let work = worktree.folder.join(".fathom/run").join(name_of(&file));
        let mut end = measured(arguments, &at, &name, work, limits, None)?;
        if end.interrupted {
            return Ok(INTERRUPTED);
        }
        if end.record.results.is_empty() {
            say!("{name} is left out: {}", escape(&why_nothing(&end)));
            continue;
        }
        for warning in &end.record.warnings {
            say!("warning: {name}: {}", escape(warning));
        }
        end.record.file = experiment.path.display().to_string();
        let known = saver.saved();
        saver.save_revision(id, &end.record, true);
        count += 1;
        let commit = repository.commit(id).map_err(ConductError::from)?;
        write::print(&format!("{name}  {}\n", escape(&commit.subject)))?;
        let saved = saver.last().filter(|_| saver.saved() > known);
        let compared = last.as_ref().zip(saved).and_then(|(last, saved)| {
            let compared = last_run::since(store, &here, last, saved)?;
            Some((last, compared))
        });
        let since = compared.as_ref().map(|(last, compared)| (*last, compared));
        let medians = last_run::medians(&experiment, &end.record, since);
        write::print(&format!("{}\n", medians.trim_start_matches('\n')))?;
        last = saved.map(|saved| LastRun {
            id: saved.to_owned(),
            called: name.clone(),
        });
    }
    cache.make_room();
    if count == 0 {
        say!(
            "none of {} revisions could be measured",
            line.revisions.len()
        );
        return Ok(COMMAND_FAILED);
    }
    let next = match last {
        Some(_) => "; they are in the order of their commits in: fathom history",
        None => "",
    };
    write::print(&format!(
        "{count} of {} revisions measured{next}\n",
        line.revisions.len()
    ))?;
    Ok(0)
}

/// The one that is meant, as the working tree has it.
fn suite(arguments: &Arguments) -> Result<Experiment, Failure> {
    match &files(arguments)?[..] {
        [file] => read(file),
        _ => Err(Failure::Usage(
            "--revisions takes one experiment, or none in a project with a fathom.toml".into(),
        )),
    }
}

/// Why a revision has no results.
fn why_nothing(end: &End) -> String {
    let notes = end.record.measures.iter().flat_map(|one| &one.notes);
    let reason = end.record.warnings.iter().chain(notes).next();
    reason
        .cloned()
        .unwrap_or_else(|| "nothing was measured".to_owned())
}
