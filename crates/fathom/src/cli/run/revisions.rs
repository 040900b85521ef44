//! `fathom run --revisions`: measures past commits with today's suite.

use std::path::Path;
use std::time::Instant;

use fathom_conduct::worktrees::{Prepared, Repository, Wanted, Worktrees};
use fathom_experiment::Experiment;
use fathom_experiment::session::End;
use fathom_measure::interrupt;
use fathom_model::ExperimentRecord;
use fathom_report::escape;

use super::{Arguments, INTERRUPTED, Limits, files, measured, name_of, read};
use crate::cli::failure::{COMMAND_FAILED, Failure, usage};
use crate::cli::last_run::{self, LastRun};
use crate::cli::out::say;
use crate::cli::versions::{here, range_of};
use crate::cli::write;

/// Measures each revision in a worktree of its own and saves the result under that revision. A revision that
/// can't be built or measured is reported and skipped. Returns the exit code.
///
/// # Errors
/// If the repository has no suite, the range doesn't exist, or no revision can be measured.
pub(super) fn run(arguments: &Arguments, range: &str) -> Result<i32, Failure> {
    let here = here()?;
    let repository = Repository::of(&here)?;
    let experiment = suite(arguments)?;
    let file = std::path::absolute(&experiment.path)
        .and_then(|path| path.canonicalize())
        .or_else(|error| usage(format!("{}: {error}", experiment.path.display())))?;
    let Ok(within) = file.strip_prefix(&repository.root) else {
        return usage(format!(
            "{} is not in the repository {}, so that repository's revisions don't contain it",
            file.display(),
            repository.root.display()
        ));
    };
    let revisions = line(arguments, &repository, range)?;
    let past = Past {
        arguments,
        cache: Worktrees::open(arguments.cache_size)?,
        repository: &repository,
        experiment: &experiment,
        within,
        name: name_of(&file),
        here: &here,
    };
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    if repository.dirty {
        say!(
            "note: uncommitted changes are not measured, but the suite is taken from the working tree"
        );
    }
    let began = Instant::now();
    let (mut count, mut last) = (0, None::<LastRun>);
    for (place, (name, id)) in revisions.iter().enumerate() {
        let name = escape(name);
        let limits = Limits::of(arguments, began, revisions.len() - place);
        let record = match past.measured(&name, id, limits)? {
            Ended::Interrupted => return Ok(INTERRUPTED),
            Ended::LeftOut(why) => {
                say!("{name} is omitted: {}", escape(&why));
                continue;
            }
            Ended::Whole(record) => record,
        };
        for warning in &record.warnings {
            say!("warning: {name}: {}", escape(warning));
        }
        let known = saver.saved();
        saver.save_revision(id, &*record, true);
        count += 1;
        let saved = saver.last().filter(|_| saver.saved() > known);
        past.print(&name, id, &record, last.as_ref().zip(saved))?;
        last = saved.map(|saved| LastRun {
            id: saved.to_owned(),
            called: name.clone(),
        });
    }
    past.cache.make_room();
    let of = revisions.len();
    if count == 0 {
        say!("none of the {of} revisions could be measured");
        return Ok(COMMAND_FAILED);
    }
    let next = match last {
        Some(_) => "; 'fathom history' shows them in commit order",
        None => "",
    };
    write::print(&format!("{count} of {of} revisions measured{next}\n"))?;
    Ok(0)
}

/// Returns the names and ids of the revisions, oldest first.
fn line(
    arguments: &Arguments,
    repository: &Repository,
    range: &str,
) -> Result<Vec<(String, String)>, Failure> {
    let (from, to) = range_of(range)?;
    let again = |from: &str, to: &str| format!("fathom run --revisions {from}..{to}");
    repository.check_order(&from, &to, again)?;
    let every = arguments.every.map(|every| every as usize);
    Ok(repository.line(&from, &to, every)?.revisions)
}

/// Today's suite, applied to revisions of its repository.
struct Past<'a> {
    arguments: &'a Arguments,
    cache: Worktrees,
    repository: &'a Repository,
    experiment: &'a Experiment,
    /// The suite's file, relative to the root of the repository.
    within: &'a Path,
    /// The name of the suite.
    name: String,
    here: &'a Path,
}

/// The outcome of a revision.
enum Ended {
    Whole(Box<ExperimentRecord>),
    /// The revision was skipped, for this reason.
    LeftOut(String),
    Interrupted,
}

impl Past<'_> {
    fn measured(&self, name: &str, id: &str, limits: Limits) -> Result<Ended, Failure> {
        let wanted = Wanted {
            repository: self.repository,
            revision: id,
            build: None,
            again: false,
            twin: false,
        };
        let mut waits = || say!("another Fathom is checking out {name}, waiting ...");
        // Hold the worktree until it has been measured, so no other process removes its files.
        let worktree = match self.cache.prepare(&wanted, &mut waits)? {
            Prepared::Built(worktree) => worktree,
            Prepared::Failed(error) => return Ok(Ended::LeftOut(error)),
        };
        let at = Experiment {
            path: worktree.folder.join(self.within),
            ..self.experiment.clone()
        };
        // Kept separate from the builds that `fathom gate` makes there.
        let work = worktree.folder.join(".fathom/run").join(&self.name);
        let mut end = measured(self.arguments, &at, name, work, limits, None)?;
        if end.interrupted {
            return Ok(Ended::Interrupted);
        }
        if end.record.results.is_empty() {
            return Ok(Ended::LeftOut(why_nothing(&end)));
        }
        end.record.file = self.experiment.path.display().to_string();
        Ok(Ended::Whole(Box::new(end.record)))
    }

    /// Prints the results of a revision and the changes since the previous one.
    fn print(
        &self,
        name: &str,
        id: &str,
        record: &ExperimentRecord,
        both: Option<(&LastRun, &str)>,
    ) -> Result<(), Failure> {
        let subject = self.repository.commit(id)?.subject;
        let store = self.arguments.saving.store.as_deref();
        let compared = both.and_then(|(last, saved)| {
            let compared = last_run::since(store, self.here, last, saved)?;
            Some((last, compared))
        });
        let since = compared.as_ref().map(|(last, compared)| (*last, compared));
        let medians = last_run::medians(self.experiment, record, since);
        let medians = medians.trim_start_matches('\n');
        write::print(&format!("{name}  {}\n{medians}\n", escape(&subject)))
    }
}

/// Returns the selected experiment as it is in the working tree.
fn suite(arguments: &Arguments) -> Result<Experiment, Failure> {
    match &files(arguments)?[..] {
        [file] => read(file),
        _ => usage("--revisions takes one experiment, or none in a project with a fathom.toml"),
    }
}

/// Returns why a revision has no results.
fn why_nothing(end: &End) -> String {
    let notes = end.record.measures.iter().flat_map(|one| &one.notes);
    let reason = end.record.warnings.iter().chain(notes).next();
    reason
        .cloned()
        .unwrap_or_else(|| "nothing was measured".to_owned())
}
