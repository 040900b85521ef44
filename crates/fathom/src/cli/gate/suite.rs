//! The suite of a project at base and at head, built.

use fathom_conduct::gate::{GatePlan, MARGIN};
use fathom_conduct::worktrees::{Prepared, Repository, Wanted, Worktree, Worktrees};
use fathom_conduct::{ConductError, fresh_seed};
use fathom_experiment::gate::{
    Suite, SuiteError, Tree, pairs, project_file, settings_changed, suite, unknown,
};
use fathom_experiment::{Experiment, did_you_mean};
use fathom_model::GateSide;

use std::path::Path;

use super::{Arguments, history, rule, today};
use crate::cli::bench::ignored;
use crate::cli::failure::Failure;
use crate::cli::last_run::{self, LastRun};
use crate::cli::screen;
use crate::cli::versions::here;

/// What is to be measured, with what must stay until it is.
pub(super) struct Built {
    pub(super) plan: GatePlan,
    _suites: [Suite; 3],
    _worktrees: Vec<Worktree>,
}

/// What can be done with the suite.
pub(super) enum Planned {
    /// Base and head are measured together.
    Both(Box<Built>),
    /// There is no base yet, but a run of the suite was stored.
    HeadAlone(Box<HeadAlone>),
}

/// The suite of the working tree, which no base has.
pub(super) struct HeadAlone {
    pub(super) experiment: Experiment,
    pub(super) last: LastRun,
    /// Why there is no base.
    pub(super) why: String,
}

/// Checks out, builds and pairs both sides; or finds the last stored run where nothing was said of a base
/// and there is none.
///
/// # Errors
/// When there is no suite, no base, or nothing that both have in common.
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

impl From<ConductError> for NoPlan {
    fn from(error: ConductError) -> NoPlan {
        NoPlan::Failed(error.into())
    }
}

/// Checks out, builds and pairs both sides.
///
/// # Errors
/// When there is no suite, no base, or nothing that both have in common.
fn both(arguments: &Arguments, here: &Path) -> Result<Built, NoPlan> {
    let no_base = |error| NoPlan::NoBase(ConductError::from(error).into());
    let repository = Repository::of(here).map_err(no_base)?;
    let Some(file) = project_file(here, &repository.root) else {
        return Err(NoPlan::Failed(Failure::Usage(format!(
            "there is no fathom.toml in {} or above; fathom init writes one with an example suite, and --base-cmd A \
             --head-cmd B compares two commands without one",
            here.display()
        ))));
    };
    let at_head =
        fathom_experiment::read(&file).map_err(|error| Failure::Usage(error.to_string()))?;
    let base_name = arguments
        .base
        .clone()
        .or(at_head.gate.base)
        .unwrap_or_else(|| "main".to_owned());
    let head_name = arguments.head.as_deref().unwrap_or("HEAD");
    let base_id = repository
        .merge_base(&base_name, head_name)
        .map_err(no_base)?;
    let head_id = repository.resolve(head_name).map_err(ConductError::from)?;
    if arguments.head.is_some() && base_id == head_id {
        return Err(NoPlan::Failed(Failure::Usage(format!(
            "{head_name} is where it left {base_name}: there is nothing to judge; name another --head or --base"
        ))));
    }
    let cache = Worktrees::open(arguments.cache_size).map_err(ConductError::from)?;
    let within = file
        .strip_prefix(&repository.root)
        .unwrap_or(&file)
        .to_path_buf();
    let mut worktrees = Vec::new();
    let mut folders = Vec::new();
    let mut checked_out = |revision: &str, what: &str, twin: bool| -> Result<Tree, Failure> {
        let wanted = Wanted {
            repository: &repository,
            revision,
            build: None,
            again: false,
            twin,
        };
        let mut waits = || {
            say(&format!(
                "{what} is checked out by another Fathom, waiting ..."
            ));
        };
        let prepared = cache
            .prepare(&wanted, &mut waits)
            .map_err(ConductError::from)?;
        let worktree = match prepared {
            Prepared::Built(worktree) => worktree,
            Prepared::Failed(error) => return Err(ConductError::Failed(error).into()),
        };
        let tree = Tree {
            file: worktree.folder.join(&within),
            work: worktree.folder.join(".fathom/gate"),
            keep_builds: true,
        };
        folders.push(worktree.folder.clone());
        worktrees.push(worktree);
        Ok(tree)
    };
    let base_tree = checked_out(&base_id, "base", false)?;
    if !base_tree.file.is_file() {
        return Err(NoPlan::NoBase(Failure::Usage(format!(
            "base ({} of {base_name}) has no {}: there is nothing to compare with until it is merged",
            &base_id[..10.min(base_id.len())],
            within.display()
        ))));
    }
    let mut in_working_tree = false;
    let head_tree = match arguments.head {
        Some(_) => checked_out(&head_id, "head", false)?,
        None => {
            in_working_tree = true;
            Tree {
                work: file.with_file_name(".fathom").join("gate"),
                file,
                keep_builds: false,
            }
        }
    };
    // The null arm has what head has: files of its own and a build of its own.
    let twin_tree = checked_out(&base_id, "base", true)?;
    folders.extend(in_working_tree.then(|| repository.root.clone()));
    let base = built("base", &base_tree, &[])?;
    let twin = built("base, for the null arm", &twin_tree, &[])?;
    let head = built("head", &head_tree, &[])?;
    for names in [&arguments.only, &arguments.protect] {
        if let Some(name) = unknown(&head, names) {
            let known = || head.targets.iter().map(|(name, _)| name.as_str());
            let meant = did_you_mean(name, known()).map_or_else(
                || known().collect::<Vec<_>>().join(", "),
                |meant| format!("did you mean {meant}?"),
            );
            return Err(NoPlan::Failed(Failure::Usage(format!(
                "the suite has no benchmark {name:?}; {meant}"
            ))));
        }
    }
    let (mut targets, mut left_out) = pairs(&base, &twin, &head, arguments.margin);
    if !arguments.only.is_empty() {
        targets.retain(|target| arguments.only.contains(&target.name));
        left_out.retain(|one| arguments.only.contains(&one.name));
    }
    if targets.is_empty() {
        let why = left_out.first().map_or_else(
            || "no [[measure]] of fathom.toml says how = \"bench\"".to_owned(),
            |one| format!("{}: {}", one.name, one.reason),
        );
        return Err(ConductError::Failed(format!("nothing can be compared: {why}")).into());
    }
    let mut terms = arguments.run_options.terms();
    terms.timeout = terms.timeout.or(head.timeout.max(base.timeout));
    let ignore_failure = match &arguments.ignore_failure {
        Some(codes) => ignored(Some(codes))?,
        None => head.ignore_failure.clone(),
    };
    let settings = base.settings.clone();
    let plan = GatePlan {
        base: GateSide {
            name: format!("{base_name} ({})", &base_id[..10.min(base_id.len())]),
            revision: Some(base_id),
        },
        head: match &arguments.head {
            Some(name) => GateSide {
                name: name.clone(),
                revision: Some(head_id),
            },
            None => GateSide {
                name: "working tree".to_owned(),
                revision: (!repository.dirty).then_some(head_id),
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
        time: arguments.time,
        warmup: arguments.warmup.unwrap_or(head.warmup.max(1)),
        history: history(arguments)?,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        ignore_failure,
        require_quiet: arguments.require_quiet,
        terms,
    };
    Ok(Built {
        plan,
        _suites: [base, twin, head],
        _worktrees: worktrees,
    })
}

fn built(side: &str, tree: &Tree, only: &[String]) -> Result<Suite, Failure> {
    let mut observer = |kind: fathom_experiment::prepare::StepKind, name: &str| {
        say(&format!("{side}: {} {name} ...", words(kind)));
    };
    let suite = suite(tree, only, &mut observer);
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
