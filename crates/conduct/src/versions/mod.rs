//! `versions`: measures one command on several versions of a program, all in the same rounds.

mod conclude;
mod keep;
pub(crate) mod prepare;

use std::path::PathBuf;
use std::time::Duration;

use fathom_measure::{Against, IgnoreFailure, now_rfc3339};
use fathom_model::{ChosenBy, Metric, RunOrder, SCHEMA_VERSION, StopReason, VersionsRecord};
pub use keep::{VersionToKeep, records};

use crate::bench::{ALPHA, Amount, asked};
use crate::{
    BenchPlan, Builds, ConductError, Conducted, Observer, RunTerms, Target, Template, bench,
    fingerprint,
};

/// Which versions to measure.
#[derive(Debug, Clone)]
pub enum Which {
    /// A range of revisions of a repository.
    Range {
        /// A folder in the repository.
        folder: PathBuf,
        /// The first revision, as given.
        from: String,
        /// The last revision, as given.
        to: String,
        /// Use every n-th revision instead of tags.
        every: Option<usize>,
        /// How revisions are built.
        builds: Builds,
    },
    /// Installed programs, given by the names of their versions, in order.
    Installed(Vec<String>),
}

/// What to measure, and how.
#[derive(Debug, Clone)]
pub struct VersionsPlan {
    /// The versions.
    pub which: Which,
    /// The names of the versions to measure; all if empty.
    pub only: Vec<String>,
    /// The command.
    pub template: Template,
    /// The metric to compare; if `None`, the clock that carries verdicts.
    pub metric: Option<Metric>,
    /// How much to measure.
    pub amount: Amount,
    /// The number of warm-up rounds.
    pub warmup: u32,
    /// The seed of the run order.
    pub seed: u64,
    /// Differences up to this share count as no difference.
    pub margin: f64,
    /// Failures that are counted instead of causing a version to be skipped.
    pub ignore_failure: IgnoreFailure,
    /// Wait for the machine to become quiet, at most this long.
    pub require_quiet: Option<Duration>,
    /// How the command is run.
    pub terms: RunTerms,
}

/// Builds each version once, measures those that work in interleaved rounds, and compares neighbors.
///
/// # Errors
/// If no version can be measured. If a run fails after its command has worked once, the measurement ends, and
/// the record holds what was measured before.
pub fn versions(
    plan: &VersionsPlan,
    observer: &mut dyn Observer,
) -> Result<Conducted<VersionsRecord>, ConductError> {
    let started_at = now_rfc3339();
    let mut found = prepare::find(plan)?;
    let targets = prepare::targets(plan, &mut found, observer)?;
    if targets.is_empty() {
        return Err(ConductError::Failed(prepare::nothing_runs(&found.versions)));
    }
    let measured = bench(&bench_plan(plan, targets), observer)?;
    // The cache may now evict the worktrees.
    found.give_back();
    let mut record = VersionsRecord {
        schema_version: SCHEMA_VERSION,
        kind: "versions".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        jobs: fathom_fleet::of_this_process(),
        environment: fingerprint::environment(),
        command: plan.template.command.text.clone(),
        build: match &plan.which {
            Which::Range { builds, .. } => builds.command.clone(),
            Which::Installed(_) => None,
        },
        repository: found.repository.map(|one| one.root.display().to_string()),
        chosen_by: match (&plan.which, found.every) {
            (Which::Installed(_), _) => ChosenBy::Named,
            (_, Some(_)) => ChosenBy::Every,
            (_, None) => ChosenBy::Tags,
        },
        every: found
            .every
            .map(|every| u32::try_from(every).unwrap_or(u32::MAX)),
        metric: plan.metric.unwrap_or(Metric::Wall),
        complete: measured.record.complete,
        versions: found.versions,
        steps: Vec::new(),
        notes: found.notes,
        measured: None,
    };
    conclude::conclude(&mut record, measured.record, plan.metric);
    Ok(Conducted {
        record,
        failure: measured.failure,
    })
}

fn bench_plan(plan: &VersionsPlan, targets: Vec<Target>) -> BenchPlan {
    BenchPlan {
        targets,
        against: Against::Previous,
        metrics: asked(plan.metric, plan.margin),
        // The jobs that compare the other versions have error rates as well.
        alpha: ALPHA / fathom_fleet::attempt().map_or(1.0, |one| one.parts.max(1) as f64),
        amount: plan.amount,
        warmup: plan.warmup,
        seed: plan.seed,
        margin: plan.margin,
        ignore_failure: plan.ignore_failure.clone(),
        require_quiet: plan.require_quiet,
        canaries: true,
        vary_environment_size: true,
        order: RunOrder::Random,
        keep_daemons: false,
        record: fathom_fleet::attempt().map(|one| one.folder.join("bench.json")),
        terms: plan.terms.clone(),
        slope: None,
    }
}

/// Splits the names of the versions into ranges of at most `most`, one for each job. The last version of a
/// range is the first of the next one, so every step between neighbors is in exactly one range.
///
/// # Errors
/// If there is no such range of revisions.
pub fn ranges(plan: &VersionsPlan, most: usize) -> Result<Vec<Vec<String>>, ConductError> {
    let found = prepare::find(plan)?;
    let names: Vec<String> = found.versions.into_iter().map(|one| one.version).collect();
    let steps = most.saturating_sub(1).max(1);
    let starts = (0..names.len().saturating_sub(1)).step_by(steps);
    Ok(starts
        .map(|from| names[from..names.len().min(from + steps + 1)].to_vec())
        .collect())
}

/// Reports whether the user ended the measurement.
pub fn was_interrupted(record: &VersionsRecord) -> bool {
    let outcome = record
        .measured
        .as_ref()
        .and_then(|one| one.outcome.as_ref());
    outcome.is_some_and(|outcome| outcome.stop == StopReason::Interrupted)
}
