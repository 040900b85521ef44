//! Finds, builds and tries the versions.

use fathom_model::{Version, VersionState};

use super::{VersionsPlan, Which};
use crate::template::{Filled, has_ratio, try_once};
use crate::worktrees::{Prepared, Repository, Wanted, Worktree, Worktrees};
use crate::{Builds, ConductError, Event, Observer, Target};

/// The versions that were found, and their builds.
pub(super) struct Found {
    /// The versions, oldest first; measured ones have the index of their benchmark.
    pub(super) versions: Vec<Version>,
    pub(super) repository: Option<Repository>,
    pub(super) every: Option<usize>,
    pub(super) notes: Vec<String>,
    /// The worktrees, which are held during the measurement.
    worktrees: Vec<Worktree>,
    cache: Option<Worktrees>,
}

impl Found {
    /// Releases the worktrees, and removes those that exceed the cache size.
    pub(super) fn give_back(&mut self) {
        self.worktrees.clear();
        if let Some(cache) = &self.cache {
            cache.make_room();
        }
    }
}

/// Finds the versions in the repository.
///
/// # Errors
/// If there is no such range.
pub(super) fn find(plan: &VersionsPlan) -> Result<Found, ConductError> {
    let mut found = Found {
        versions: Vec::new(),
        repository: None,
        every: None,
        notes: Vec::new(),
        worktrees: Vec::new(),
        cache: None,
    };
    match &plan.which {
        Which::Installed(names) => {
            found.versions = names.iter().map(|name| named(name)).collect();
        }
        Which::Range {
            folder,
            from,
            to,
            every,
            builds,
        } => {
            let repository = Repository::of(folder)?;
            let command = plan.template.typed(builds);
            repository.check_order(from, to, |from, to| {
                format!("fathom versions {from}..{to}{command}")
            })?;
            let line = repository.line(from, to, *every)?;
            if let [only] = &line.revisions[..] {
                return Err(ConductError::Refused(format!(
                    "{from} and {to} are the same revision, {}: no version lies between them; git tag lists \
                     versions, git log --oneline lists revisions",
                    &only.1[..only.1.len().min(10)]
                )));
            }
            for (name, id) in &line.revisions {
                let commit = repository.commit(id)?;
                found.versions.push(Version {
                    revision: Some(commit.revision),
                    date: Some(commit.date),
                    subject: Some(commit.subject),
                    ..named(name)
                });
            }
            if repository.dirty {
                found.notes.push(
                    "the working tree has uncommitted changes: they are not measured".to_owned(),
                );
            }
            found.every = line.every;
            found.repository = Some(repository);
            found.cache = Some(Worktrees::open(builds.cache_bytes)?);
        }
    }
    if !plan.only.is_empty() {
        let is_meant = |one: &Version| plan.only.contains(&one.version);
        found.versions.retain(is_meant);
    }
    Ok(found)
}

fn named(name: &str) -> Version {
    Version {
        version: name.to_owned(),
        revision: None,
        date: None,
        subject: None,
        state: VersionState::LeftOut,
        error: None,
        benchmark: None,
        estimate: None,
        since_first: None,
    }
}

/// Builds all versions and runs each once. Versions that can't be measured get an error.
///
/// # Errors
/// If Fathom was told to stop, or if nothing can be built here at all.
pub(super) fn targets(
    plan: &VersionsPlan,
    found: &mut Found,
    observer: &mut dyn Observer,
) -> Result<Vec<Target>, ConductError> {
    let mut targets = Vec::new();
    let mut have_ratio = 0;
    let count = found.versions.len();
    for place in 0..count {
        let version = &found.versions[place];
        let filled = Filled {
            version: &version.version,
            revision: version.revision.as_deref(),
            repository: found.repository.as_ref().map(|one| &*one.root),
        };
        let worktree = match (&plan.which, &found.repository, &found.cache) {
            (Which::Range { builds, .. }, Some(repository), Some(cache)) => {
                observer.on(Event::Builds {
                    version: &version.version,
                    place,
                    of: Some(count),
                });
                match built(builds, repository, cache, filled, observer)? {
                    Ok(worktree) => Some(worktree),
                    Err(error) => {
                        let version = &mut found.versions[place];
                        version.state = VersionState::DoesNotBuild;
                        version.error = Some(error);
                        continue;
                    }
                }
            }
            _ => None,
        };
        observer.on(Event::Tries(&version.version));
        let folder = worktree.as_ref().map(|one| &*one.folder);
        let ready = match plan.template.on(filled, folder) {
            Ok(target) => match try_once(&target, &plan.ignore_failure, &plan.terms, observer)? {
                Ok(run) => {
                    have_ratio += usize::from(has_ratio(plan.metric, &run));
                    Ok(target)
                }
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        let version = &mut found.versions[place];
        match ready {
            Ok(target) => {
                version.state = VersionState::Measured;
                version.benchmark = Some(targets.len());
                targets.push(target);
                found.worktrees.extend(worktree);
            }
            Err(error) => version.error = Some(error),
        }
    }
    if let Some(metric) = plan.metric
        && targets.len() > 1
        && have_ratio < 2
    {
        return Err(ConductError::Refused(format!(
            "{} is 0 or unknown in these versions, so they can't be compared; choose another --metric",
            metric.name()
        )));
    }
    Ok(targets)
}

/// Returns the files of a revision, or the reason why it can't be built.
///
/// # Errors
/// If nothing can be built here at all, or if Fathom was told to stop.
pub(crate) fn built(
    builds: &Builds,
    repository: &Repository,
    cache: &Worktrees,
    filled: Filled<'_>,
    observer: &mut dyn Observer,
) -> Result<Result<Worktree, String>, ConductError> {
    let command = builds.command.as_deref();
    let command = match command.map(|line| filled.into_shell_line(line)).transpose() {
        Ok(command) => command,
        Err(error) => return Ok(Err(error)),
    };
    let wanted = Wanted {
        repository,
        revision: filled.revision.unwrap_or_default(),
        build: command.as_deref(),
        again: builds.again,
        twin: false,
    };
    let mut waits = || observer.on(Event::WaitsForBuild(filled.version));
    Ok(match cache.prepare(&wanted, &mut waits)? {
        Prepared::Built(worktree) => Ok(worktree),
        Prepared::Failed(error) => Err(error),
    })
}

/// Returns a message that nothing was measured, with the error of the last version.
pub(super) fn nothing_runs(versions: &[Version]) -> String {
    let builds = versions
        .iter()
        .any(|version| version.state == VersionState::LeftOut);
    let Some(last) = versions.last() else {
        return "no versions were found".to_owned();
    };
    let error = last.error.as_deref().unwrap_or_default();
    let what = match builds {
        false => "builds",
        true => "runs the command",
    };
    let advice = match builds {
        false => {
            "Try the --build command in the repository's folder first; failed builds are remembered, and --rebuild \
             tries them again."
        }
        true => {
            "The command runs in a checkout of each version; {repo} stands for your own working tree."
        }
    };
    format!(
        "none of the {} versions {what}. {}: {error}\n{advice}",
        versions.len(),
        last.version
    )
}
