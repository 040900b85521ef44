//! `bisect`: which revision changed a metric?
//!
//! First GOOD and BAD themselves are compared. Then revisions are chosen as `git bisect` chooses them,
//! and each is measured in the same rounds as GOOD and BAD: to which is it nearer? The one that is left
//! is compared with its parent. How the error rate is spent: [`fathom_stats::Halving`].

mod search;
mod sessions;

use std::path::PathBuf;
use std::time::Duration;

use fathom_measure::{IgnoreFailure, MeasureError, now_rfc3339};
use fathom_model::{
    BisectEnds, BisectReason, BisectRecord, BisectVerdict, Commit, Culprit, Metric, SCHEMA_VERSION,
    TestedRevision, TestedState, Verdict,
};
use fathom_stats::Halving;
use search::{Next, Search};
use sessions::{Ready, Sessions, Side};

use crate::{Builds, ConductError, Conducted, Event, Observer, RunTerms, Template, fingerprint};

/// How often a search may name a wrong revision.
pub const ERROR_RATE: f64 = 0.05;

/// What is searched, and how.
#[derive(Debug, Clone)]
pub struct BisectPlan {
    /// A folder in the repository.
    pub folder: PathBuf,
    /// The older end, as it was given.
    pub good: String,
    /// The newer end.
    pub bad: String,
    /// How revisions are built.
    pub builds: Builds,
    /// The command.
    pub template: Template,
    /// What is compared; the clock that carries verdicts if it is `None`.
    pub metric: Option<Metric>,
    /// Measure at most this long in all, builds not counted.
    pub time: Option<Duration>,
    /// Warm-up rounds of each comparison.
    pub warmup: u32,
    /// Seed of the order.
    pub seed: u64,
    /// Differences up to this share count as none.
    pub margin: f64,
    /// Failures that are counted instead of leaving a revision out.
    pub ignore_failure: IgnoreFailure,
    /// Wait until the machine is quiet, at most this long.
    pub require_quiet: Option<Duration>,
    /// How the command is run.
    pub terms: RunTerms,
}

/// Searches.
///
/// # Errors
/// When GOOD or BAD can't be measured. A run that fails after it worked once ends the search; the
/// record then has what was found before.
pub fn bisect(
    plan: &BisectPlan,
    observer: &mut dyn Observer,
) -> Result<Conducted<BisectRecord>, ConductError> {
    let started_at = now_rfc3339();
    let mut search = Search::new(plan)?;
    let candidates = search.candidates()?.len();
    let steps = fathom_stats::steps(candidates);
    let mut record = BisectRecord {
        schema_version: SCHEMA_VERSION,
        kind: "bisect".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        environment: fingerprint::environment(),
        command: plan.template.command.text.clone(),
        build: plan.builds.command.clone(),
        repository: search.repository.root.display().to_string(),
        good: plan.good.clone(),
        bad: plan.bad.clone(),
        metric: plan.metric.unwrap_or(Metric::Wall),
        candidates,
        error_rate: ERROR_RATE,
        verdict: BisectVerdict::Undecided,
        reason: None,
        culprit: None,
        ends: None,
        tested: Vec::new(),
        remaining: Vec::new(),
        sessions: Vec::new(),
    };
    let mut sessions = Sessions::open(plan, &search.repository, steps)?;
    let ended = run(&mut search, &mut sessions, &mut record, steps, observer);
    let failure = match ended {
        Ok(()) => None,
        Err(ConductError::Measure(MeasureError::Interrupted)) if record.ends.is_some() => {
            record.reason = Some(BisectReason::Interrupted);
            None
        }
        // What was measured before is there.
        Err(ConductError::Measure(error)) if record.ends.is_some() => Some(error),
        Err(error) => return Err(error),
    };
    record.sessions = sessions.close();
    record.environment = fingerprint::environment();
    if record.verdict == BisectVerdict::Undecided {
        record.remaining = search.candidates()?;
    }
    Ok(Conducted { record, failure })
}

fn run(
    search: &mut Search,
    sessions: &mut Sessions<'_>,
    record: &mut BisectRecord,
    steps: u32,
    observer: &mut dyn Observer,
) -> Result<(), ConductError> {
    let parts = Halving::of(ERROR_RATE, steps);
    let undecided = |record: &mut BisectRecord, reason| {
        record.reason = Some(reason);
        Ok(())
    };
    let good = sessions.must(&search.good_name, &search.good, observer)?;
    let mut bad = sessions.must(&search.bad_name, &search.bad, observer)?;
    let Some(ends) = sessions.compare(&good, &bad, parts.ends, observer)? else {
        return undecided(record, BisectReason::NoRatio);
    };
    record.metric = ends.metric;
    let more = ends.comparison.ratio.value > 1.0;
    record.ends = Some(BisectEnds {
        good: ends.medians[0],
        bad: ends.medians[1],
        ratio: ends.comparison.ratio,
        verdict: ends.comparison.verdict,
        rounds: ends.comparison.rounds,
    });
    match ends.comparison.verdict {
        Verdict::Same => {
            record.verdict = BisectVerdict::NoDifference;
            return Ok(());
        }
        Verdict::Undecided => return undecided(record, BisectReason::Ends),
        Verdict::Faster | Verdict::Slower => {}
    }
    loop {
        let (candidate, left) = match search.next()? {
            Next::Try { candidate, left } => (candidate, left),
            Next::Left(culprit) => {
                let is_only = record.candidates == 1;
                return confirm(
                    &culprit, is_only, more, sessions, record, observer, &parts, search,
                );
            }
            Next::NothingRuns => return undecided(record, BisectReason::NothingRuns),
        };
        observer.on(Event::Halves { left });
        let commit = search.repository.commit(&candidate)?;
        let name = &candidate[..candidate.len().min(10)];
        let target = match sessions.prepare(name, &candidate, observer)? {
            Ready::Target(target) => target,
            Ready::DoesNotBuild(error) => {
                record
                    .tested
                    .push(skipped(commit, TestedState::DoesNotBuild, error));
                search.skip(candidate);
                continue;
            }
            Ready::LeftOut(error) => {
                record
                    .tested
                    .push(skipped(commit, TestedState::LeftOut, error));
                search.skip(candidate);
                continue;
            }
        };
        let Some(step) = sessions.place(&good, &bad, &target, more, parts.step, observer)? else {
            return undecided(record, BisectReason::NoRatio);
        };
        record.tested.push(TestedRevision {
            commit,
            state: match step.side {
                Side::Good => TestedState::Good,
                Side::Bad | Side::Middle => TestedState::Bad,
                Side::Unknown => TestedState::Undecided,
            },
            ratio: step.ratio,
            rounds: step.rounds,
            error: None,
        });
        match step.side {
            Side::Good => search.is_good(candidate),
            Side::Bad => search.is_bad(candidate),
            Side::Middle => {
                // Halfway between both: a part of the change comes before it. That part is searched.
                bad = target;
                search.is_bad(candidate);
            }
            Side::Unknown => return undecided(record, BisectReason::Step),
        }
    }
}

fn skipped(commit: Commit, state: TestedState, error: String) -> TestedRevision {
    TestedRevision {
        commit,
        state,
        ratio: None,
        rounds: 0,
        error: Some(error),
    }
}

/// Compares the revision that is left with its parent; of a merge, with the side that was merged into.
#[allow(clippy::too_many_arguments)]
fn confirm(
    culprit: &str,
    is_only: bool,
    more: bool,
    sessions: &mut Sessions<'_>,
    record: &mut BisectRecord,
    observer: &mut dyn Observer,
    parts: &Halving,
    search: &Search,
) -> Result<(), ConductError> {
    let parent = search.repository.parent(culprit)?;
    let parent = parent.unwrap_or_else(|| search.good.clone());
    let commit = search.repository.commit(culprit)?;
    // The ends were compared already, and no other question was asked.
    let known = record
        .ends
        .as_ref()
        .filter(|_| is_only && parent == search.good);
    let (ratio, verdict) = match known {
        Some(ends) => (ends.ratio, ends.verdict),
        None => {
            observer.on(Event::Confirms);
            let short = |id: &str| id[..id.len().min(10)].to_owned();
            let (Ready::Target(before), Ready::Target(after)) = (
                sessions.prepare(&short(&parent), &parent, observer)?,
                sessions.prepare(&short(culprit), culprit, observer)?,
            ) else {
                record.reason = Some(BisectReason::NothingRuns);
                return Ok(());
            };
            match sessions.compare(&before, &after, parts.confirmation, observer)? {
                Some(compared) => (compared.comparison.ratio, compared.comparison.verdict),
                None => {
                    record.reason = Some(BisectReason::NoRatio);
                    return Ok(());
                }
            }
        }
    };
    let expected = if more {
        Verdict::Slower
    } else {
        Verdict::Faster
    };
    if verdict == expected {
        record.verdict = BisectVerdict::Found;
        record.culprit = Some(Culprit {
            commit,
            parent,
            ratio,
        });
    } else {
        record.reason = Some(BisectReason::NotConfirmed);
    }
    Ok(())
}
