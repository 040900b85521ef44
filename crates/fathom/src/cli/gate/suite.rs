//! Builds the suite of a project at base and at head.

use std::path::{Path, PathBuf};

use fathom_conduct::ConductError;
use fathom_conduct::gate::{GatePlan, MARGIN};
use fathom_conduct::worktrees::{
    Prepared, Repository, Wanted, Worktree, Worktrees, WorktreesError,
};
use fathom_experiment::gate::{
    Suite, SuiteError, Tree, benchmarks, pairs, project_file, settings_changed, suite, unknown,
};
use fathom_experiment::{Experiment, did_you_mean};
use fathom_fleet::Attempted;
use fathom_model::GateSide;

use super::{Arguments, history, rule, today};
use crate::cli::failure::{Failure, usage};
use crate::cli::last_run::{self, LastRun};
use crate::cli::screen;
use crate::cli::versions::here;

/// Returns the benchmarks of the suite, restricted to the requested ones if any.
///
/// # Errors
/// If there is no suite, or it can't be read.
pub(super) fn names(only: &[String]) -> Result<Vec<String>, Failure> {
    let here = here()?;
    let root = fathom_store::git::state(&here).map_or_else(|_| here.clone(), |state| state.root);
    let Some(file) = project_file(&here, &root) else {
        return usage(format!(
            "no fathom.toml in {} or any folder above it",
            here.display()
        ));
    };
    let mut names = benchmarks(&file).map_err(|error| Failure::Usage(error.to_string()))?;
    names.retain(|name| only.is_empty() || only.contains(name));
    match names.is_empty() {
        true => usage("the suite has none of these benchmarks"),
        false => Ok(names),
    }
}

/// What to measure, with the locks that must be held until it has been measured.
pub(super) struct Built {
    pub(super) plan: GatePlan,
    _suites: [Suite; 3],
    _worktrees: Vec<Worktree>,
}

/// How the suite can be judged.
pub(super) enum Planned {
    /// Base and head are measured together.
    Both(Box<Built>),
    /// There is no base yet, but there is a stored run of the suite.
    HeadAlone(Box<HeadAlone>),
}

/// The suite of the working tree, if base doesn't have one.
pub(super) struct HeadAlone {
    pub(super) experiment: Experiment,
    pub(super) last: LastRun,
    /// Why there is no base.
    pub(super) why: String,
}

/// Checks out, builds and pairs both sides. If no base was given and none exists, finds the last stored run
/// instead.
///
/// # Errors
/// If there is no suite, no base, or no benchmark in common.
pub(super) fn plan(arguments: &Arguments) -> Result<Planned, Failure> {
    let here = here()?;
    let refused = match both(arguments, &here) {
        Ok(built) => return Ok(Planned::Both(Box::new(built))),
        Err(NoPlan::Failed(failure)) => return Err(failure),
        Err(NoPlan::NoBase(failure)) => failure,
    };
    if arguments.base.is_some() || arguments.head.is_some() {
        return Err(refused);
    }
    let root = fathom_store::git::state(&here).map_or_else(|_| here.clone(), |state| state.root);
    let Some(file) = project_file(&here, &root) else {
        return Err(refused);
    };
    let experiment =
        fathom_experiment::read(&file).map_err(|error| Failure::Usage(error.to_string()))?;
    let store = arguments.saving.store.as_deref();
    match last_run::find(store, &here, &experiment, false) {
        Some(last) => Ok(Planned::HeadAlone(Box::new(HeadAlone {
            experiment,
            last,
            why: refused.to_string(),
        }))),
        None => Err(refused),
    }
}

/// Why both sides can't be measured.
enum NoPlan {
    /// There is nothing to compare with.
    NoBase(Failure),
    Failed(Failure),
}

impl From<Failure> for NoPlan {
    fn from(failure: Failure) -> NoPlan {
        NoPlan::Failed(failure)
    }
}

impl From<WorktreesError> for NoPlan {
    fn from(error: WorktreesError) -> NoPlan {
        NoPlan::Failed(error.into())
    }
}

impl NoPlan {
    fn no_base(error: WorktreesError) -> NoPlan {
        NoPlan::NoBase(error.into())
    }
}

fn usage_error(text: String) -> NoPlan {
    NoPlan::Failed(Failure::Usage(text))
}

/// Checks out, builds and pairs both sides.
///
/// # Errors
/// If there is no suite, no base, or no benchmark in common.
fn both(arguments: &Arguments, here: &Path) -> Result<Built, NoPlan> {
    let repository = Repository::of(here).map_err(NoPlan::no_base)?;
    let Some(file) = project_file(here, &repository.root) else {
        return Err(usage_error(format!(
            "no fathom.toml in {} or any folder above it; fathom init writes one with an example suite, and \
             --base-cmd A --head-cmd B compares two commands without one",
            here.display()
        )));
    };
    let at_head = fathom_experiment::read(&file).map_err(|error| usage_error(error.to_string()))?;
    let ends = Ends::of(arguments, &repository, at_head.gate.base)?;
    let mut checkouts = Checkouts {
        cache: Worktrees::open(arguments.cache.cache_size)?,
        repository: &repository,
        within: file.strip_prefix(&repository.root).unwrap_or(&file),
        worktrees: Vec::new(),
    };
    let base_tree = checkouts.tree(&ends.base_id, "base", Copy::First)?;
    if !base_tree.file.is_file() {
        return Err(NoPlan::NoBase(Failure::Usage(format!(
            "base ({} of {}) has no {}: until it is merged, there is nothing to compare with",
            short(&ends.base_id),
            ends.base_name,
            checkouts.within.display()
        ))));
    }
    let head_tree = match arguments.head {
        Some(_) => checkouts.tree(&ends.head_id, "head", Copy::First)?,
        None => Tree {
            work: fathom_fleet::attempt().map_or_else(
                || file.with_file_name(".fathom").join("gate"),
                Attempted::work,
            ),
            file: file.clone(),
            keep_builds: false,
        },
    };
    // The null arm gets the same as head, namely its own files and its own build.
    let twin_tree = checkouts.tree(&ends.base_id, "base", Copy::Second)?;
    let worktrees = checkouts.worktrees;
    let mut folders: Vec<_> = worktrees.iter().map(|one| one.folder.clone()).collect();
    folders.extend(arguments.head.is_none().then(|| repository.root.clone()));
    let suites = [
        built("base", &base_tree)?,
        built("base, for the null arm", &twin_tree)?,
        built("head", &head_tree)?,
    ];
    Ok(Built {
        plan: paired(arguments, ends, repository.dirty, folders, &suites)?,
        _suites: suites,
        _worktrees: worktrees,
    })
}

/// The revisions to compare.
struct Ends {
    base_name: String,
    base_id: String,
    head_id: String,
}

impl Ends {
    /// Uses the point where head branched off the requested base.
    fn of(
        arguments: &Arguments,
        repository: &Repository,
        of_suite: Option<String>,
    ) -> Result<Ends, NoPlan> {
        let asked = arguments.base.clone().or(of_suite);
        let base_name = asked.unwrap_or_else(|| "main".to_owned());
        let head_name = arguments.head.as_deref().unwrap_or("HEAD");
        let base_id = repository
            .merge_base(&base_name, head_name)
            .map_err(NoPlan::no_base)?;
        let head_id = repository.resolve(head_name)?;
        if arguments.head.is_some() && base_id == head_id {
            return Err(usage_error(format!(
                "{head_name} has no commits that {base_name} lacks, so there is nothing to judge; choose another \
                 --head or --base"
            )));
        }
        Ok(Ends {
            base_name,
            base_id,
            head_id,
        })
    }
}

/// Returns the abbreviated id of a revision.
fn short(id: &str) -> &str {
    &id[..10.min(id.len())]
}

/// Revisions checked out into separate folders.
struct Checkouts<'r> {
    cache: Worktrees,
    repository: &'r Repository,
    /// The suite's file, relative to the root of the repository.
    within: &'r Path,
    worktrees: Vec<Worktree>,
}

/// Which copy of a revision's files.
#[derive(PartialEq)]
enum Copy {
    First,
    Second,
}

impl Checkouts<'_> {
    fn tree(&mut self, revision: &str, what: &str, copy: Copy) -> Result<Tree, Failure> {
        let wanted = Wanted {
            repository: self.repository,
            revision,
            build: None,
            again: false,
            twin: copy == Copy::Second,
        };
        let mut waits = || {
            say(&format!(
                "another Fathom is checking out {what}, waiting ..."
            ));
        };
        let worktree = match self.cache.prepare(&wanted, &mut waits)? {
            Prepared::Built(worktree) => worktree,
            Prepared::Failed(error) => return Err(ConductError::Failed(error).into()),
        };
        let tree = Tree {
            file: worktree.folder.join(self.within),
            work: worktree.folder.join(".fathom/gate"),
            keep_builds: true,
        };
        self.worktrees.push(worktree);
        Ok(tree)
    }
}

/// Returns the benchmarks that both sides have, ready to be measured. `suites` are those of base, of its twin
/// and of head.
fn paired(
    arguments: &Arguments,
    ends: Ends,
    dirty: bool,
    folders: Vec<PathBuf>,
    suites: &[Suite; 3],
) -> Result<GatePlan, Failure> {
    let [base, twin, head] = suites;
    are_known(arguments, head)?;
    let (mut targets, mut left_out) = {
        let metrics = arguments.metrics()?;
        pairs(base, twin, head, arguments.margin, &metrics)
    };
    if !arguments.only.is_empty() {
        targets.retain(|target| arguments.only.contains(&target.name));
        left_out.retain(|one| arguments.only.contains(&one.name));
    }
    if targets.is_empty() {
        let why = left_out.first().map_or_else(
            || "no [[measure]] in fathom.toml has how = \"bench\"".to_owned(),
            |one| format!("{}: {}", one.name, one.reason),
        );
        return Err(ConductError::Failed(format!("nothing can be compared: {why}")).into());
    }
    let mut terms = arguments.run_options.terms();
    terms.timeout = terms.timeout.or(head.timeout.max(base.timeout));
    let settings = base.settings.clone();
    Ok(GatePlan {
        base: GateSide {
            name: format!("{} ({})", ends.base_name, short(&ends.base_id)),
            revision: Some(ends.base_id),
        },
        head: match &arguments.head {
            Some(name) => GateSide {
                name: name.clone(),
                revision: Some(ends.head_id),
            },
            None => GateSide {
                name: "working tree".to_owned(),
                revision: (!dirty).then_some(ends.head_id),
            },
        },
        targets,
        folders,
        left_out,
        settings_changed: settings_changed(&settings, &head.settings),
        waivers: settings.waivers,
        today: today(),
        margin: arguments.margin.or(settings.margin).unwrap_or(MARGIN),
        rule: rule(arguments, settings.undecided_passes.unwrap_or(true)),
        parts: fathom_fleet::parts_of_this_process(),
        time: arguments.time,
        warmup: arguments.warmup.unwrap_or(head.warmup.max(1)),
        history: history(arguments)?,
        seed: arguments.seed.value(),
        ignore_failure: match arguments.failures.are_given() {
            true => arguments.failures.ignored()?,
            false => head.ignore_failure.clone(),
        },
        require_quiet: arguments.quiet.require_quiet,
        terms,
    })
}

/// Refuses names of benchmarks that the suite doesn't have.
fn are_known(arguments: &Arguments, head: &Suite) -> Result<(), Failure> {
    let mut asked = [&arguments.only, &arguments.protect].into_iter();
    let Some(name) = asked.find_map(|names| unknown(head, names)) else {
        return Ok(());
    };
    let known = || head.targets.iter().map(|(name, _)| name.as_str());
    let meant = did_you_mean(name, known()).map_or_else(
        || known().collect::<Vec<_>>().join(", "),
        |meant| format!("did you mean {meant}?"),
    );
    usage(format!("the suite has no benchmark {name:?}; {meant}"))
}

fn built(side: &str, tree: &Tree) -> Result<Suite, Failure> {
    let mut observer = |kind: fathom_experiment::prepare::StepKind, name: &str| {
        say(&format!("{side}: {} {name} ...", words(kind)));
    };
    let suite = suite(tree, &mut observer);
    say("");
    suite.map_err(|error| match error {
        SuiteError::Usage(text) => Failure::Usage(format!("{side}: {text}")),
        SuiteError::Interrupted => Failure::Interrupted(format!("{error}; nothing was measured")),
    })
}

fn words(kind: fathom_experiment::prepare::StepKind) -> &'static str {
    use fathom_experiment::prepare::StepKind;
    match kind {
        StepKind::Check => "looking for",
        StepKind::Install => "installing",
        StepKind::Build => "building",
        StepKind::Generate => "making",
        StepKind::Stage => "copying",
    }
}

fn say(what: &str) {
    screen::redraw(screen::can_draw(), &fathom_report::escape(what));
}
