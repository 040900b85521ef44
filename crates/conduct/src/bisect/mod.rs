//! `bisect`: finds the revision that changed a metric.
//!
//! First, GOOD and BAD themselves are compared. Then revisions are chosen as `git bisect` chooses them, and
//! each is measured in the same rounds as GOOD and BAD to see which of the two it is nearer to. The last
//! remaining revision is compared with its parent. [`fathom_stats::Halving`] describes how the error rate is
//! spent.

mod search;
mod sessions;

use std::path::PathBuf;
use std::time::Duration;

use fathom_measure::{IgnoreFailure, MeasureError, interrupt, now_rfc3339};
use fathom_model::{
    BisectEnds, BisectReason, BisectRecord, BisectVerdict, Comparison, Culprit, Metric,
    SCHEMA_VERSION, TestedRevision, TestedState, Verdict,
};
use fathom_stats::Halving;
use search::{Next, Search};
use sessions::{Ready, Sessions, Side};

use crate::why::differs;
use crate::{
    Builds, ConductError, DifferencePlan, Differs, Event, Observer, RunTerms, Target, Template,
    fingerprint,
};

/// How often a search may name the wrong revision.
pub const ERROR_RATE: f64 = 0.05;

/// The index of the session that compares the two ends.
const ENDS: usize = 0;

/// What to search, and how.
#[derive(Debug, Clone)]
pub struct BisectPlan {
    /// A folder in the repository.
    pub folder: PathBuf,
    /// The older end, as given.
    pub good: String,
    /// The newer end.
    pub bad: String,
    /// How revisions are built.
    pub builds: Builds,
    /// The command.
    pub template: Template,
    /// The metric to compare; if `None`, the clock that carries verdicts.
    pub metric: Option<Metric>,
    /// The time limit for measuring in total, excluding builds.
    pub time: Option<Duration>,
    /// The number of warm-up rounds of each comparison.
    pub warmup: u32,
    /// The seed of the run order.
    pub seed: u64,
    /// Differences up to this share count as no difference.
    pub margin: f64,
    /// Failures that are counted instead of causing a revision to be skipped.
    pub ignore_failure: IgnoreFailure,
    /// Wait for the machine to become quiet, at most this long.
    pub require_quiet: Option<Duration>,
    /// How the command is run.
    pub terms: RunTerms,
}

/// The result of a search, and any failure.
#[derive(Debug)]
pub struct Bisected {
    /// The result, and everything that was measured.
    pub record: BisectRecord,
    /// Why the search ended early, if a failure ended it.
    pub failure: Option<MeasureError>,
    /// The additional work that the culprit does compared with its parent, if the metric is a time.
    pub difference: Option<Differs>,
}

/// Runs the search, and observes what additional work the revision that it names does compared with its
/// parent.
///
/// # Errors
/// If GOOD or BAD can't be measured. If a run fails after its command has worked once, the search ends, and
/// the record holds what was found until then.
pub fn bisect(plan: &BisectPlan, observer: &mut dyn Observer) -> Result<Bisected, ConductError> {
    let started_at = now_rfc3339();
    let search = Search::new(plan)?;
    let candidates = search.candidates()?.len();
    let steps = fathom_stats::steps(candidates);
    let record = BisectRecord {
        schema_version: SCHEMA_VERSION,
        kind: "bisect".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        jobs: fathom_fleet::of_this_process(),
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
        why: Vec::new(),
        sessions: Vec::new(),
    };
    let mut bisection = Bisection {
        sessions: Sessions::open(plan, &search.repository, steps)?,
        search,
        record,
        parts: Halving::of(ERROR_RATE, steps),
        difference: None,
        observer,
    };
    let failure = match bisection.run() {
        Ok(reason) => {
            bisection.record.reason = reason;
            None
        }
        // The results from before the failure are kept.
        Err(ConductError::Measure(error)) if bisection.record.ends.is_some() => {
            bisection.record.reason = Some(BisectReason::Interrupted);
            (!matches!(error, MeasureError::Interrupted)).then_some(error)
        }
        Err(error) => return Err(error),
    };
    let Bisection {
        search,
        sessions,
        mut record,
        difference,
        ..
    } = bisection;
    record.sessions = sessions.close();
    record.environment = fingerprint::environment();
    if record.verdict == BisectVerdict::Undecided {
        record.remaining = search.candidates()?;
    }
    Ok(Bisected {
        record,
        failure,
        difference,
    })
}

/// A search in progress.
struct Bisection<'p, 'o> {
    search: Search,
    sessions: Sessions<'p>,
    record: BisectRecord,
    parts: Halving,
    difference: Option<Differs>,
    observer: &'o mut dyn Observer,
}

/// Why no revision can be named; `None` if one can be named, or if there is nothing to find.
type Reason = Option<BisectReason>;

impl Bisection<'_, '_> {
    fn run(&mut self) -> Result<Reason, ConductError> {
        let (search, observer) = (&self.search, &mut *self.observer);
        let good = self
            .sessions
            .must(&search.good_name, &search.good, observer)?;
        let bad = self
            .sessions
            .must(&search.bad_name, &search.bad, observer)?;
        let (Some(good), Some(bad)) = (good, bad) else {
            return Ok(Some(BisectReason::NoRatio));
        };
        let alpha = self.parts.ends;
        let Some(ends) = self.sessions.compare(&good, &bad, alpha, observer)? else {
            return Ok(Some(BisectReason::NoRatio));
        };
        self.record.metric = ends.metric;
        self.record.ends = Some(BisectEnds {
            good: ends.medians[0],
            bad: ends.medians[1],
            ratio: ends.comparison.ratio,
            verdict: ends.comparison.verdict,
            rounds: ends.comparison.rounds,
        });
        match ends.comparison.verdict {
            Verdict::Same => {
                self.record.verdict = BisectVerdict::NoDifference;
                Ok(None)
            }
            Verdict::Undecided => Ok(Some(BisectReason::Ends)),
            change => self.halve(&good, bad, change),
        }
    }

    /// Halves the remaining revisions until one is left, then confirms it. `change` is the verdict of BAD
    /// against GOOD.
    fn halve(
        &mut self,
        good: &Target,
        mut bad: Target,
        change: Verdict,
    ) -> Result<Reason, ConductError> {
        loop {
            let (candidate, left) = match self.search.next()? {
                Next::Try { candidate, left } => (candidate, left),
                Next::Left(culprit) => return self.confirm(&culprit, change),
                Next::NothingRuns => return Ok(Some(BisectReason::NothingRuns)),
            };
            self.observer.on(Event::Halves { left });
            let mut tested = TestedRevision {
                commit: self.search.repository.commit(&candidate)?,
                state: TestedState::Undecided,
                ratio: None,
                rounds: 0,
                error: None,
            };
            let ready = self
                .sessions
                .prepare(short(&candidate), &candidate, self.observer)?;
            let target = match ready {
                Ready::Target(target) => *target,
                Ready::NoRatio => return Ok(Some(BisectReason::NoRatio)),
                Ready::DoesNotBuild(error) => {
                    self.skip(candidate, tested, TestedState::DoesNotBuild, error);
                    continue;
                }
                Ready::LeftOut(error) => {
                    self.skip(candidate, tested, TestedState::LeftOut, error);
                    continue;
                }
            };
            let ends = [good, &bad, &target].map(Target::clone);
            let alpha = self.parts.step;
            let placed = self.sessions.place(ends, change, alpha, self.observer)?;
            let Some(placed) = placed else {
                return Ok(Some(BisectReason::NoRatio));
            };
            tested.ratio = placed.ratio;
            tested.rounds = placed.rounds;
            tested.state = match placed.side {
                Side::Good => TestedState::Good,
                Side::Bad | Side::Middle => TestedState::Bad,
                Side::Unknown => TestedState::Undecided,
            };
            self.record.tested.push(tested);
            match placed.side {
                Side::Good => self.search.is_good(candidate),
                Side::Bad => self.search.is_bad(candidate),
                Side::Middle => {
                    // The revision is halfway between the two ends, so a part of the change comes before it.
                    // The search continues in that part.
                    bad = target;
                    self.search.is_bad(candidate);
                }
                Side::Unknown => return Ok(Some(BisectReason::Step)),
            }
        }
    }

    fn skip(
        &mut self,
        candidate: String,
        tested: TestedRevision,
        state: TestedState,
        error: String,
    ) {
        self.record.tested.push(TestedRevision {
            state,
            error: Some(error),
            ..tested
        });
        self.search.skip(candidate);
    }

    /// Compares the remaining revision with its parent. For a merge, this is the first parent, into which it
    /// was merged.
    fn confirm(&mut self, culprit: &str, change: Verdict) -> Result<Reason, ConductError> {
        let repository = &self.search.repository;
        let commit = repository.commit(culprit)?;
        let parent = repository.parent(culprit)?;
        let parent = parent.unwrap_or_else(|| self.search.good.clone());
        let is_whole = parent == self.search.good && culprit == self.search.bad;
        let mut ready = |id: &str| self.sessions.prepare(short(id), id, self.observer);
        let (Ready::Target(before), Ready::Target(after)) = (ready(&parent)?, ready(culprit)?)
        else {
            return Ok(Some(BisectReason::NothingRuns));
        };
        // If these are the ends, they were already compared with the same question.
        let known = self.record.ends.as_ref().filter(|_| is_whole);
        let (ratio, verdict, session) = match known {
            Some(ends) => (ends.ratio, ends.verdict, ENDS),
            None => {
                self.observer.on(Event::Confirms);
                let alpha = self.parts.confirmation;
                let compared = self
                    .sessions
                    .compare(&before, &after, alpha, self.observer)?;
                let Some(compared) = compared else {
                    return Ok(Some(BisectReason::NoRatio));
                };
                let Comparison { ratio, verdict, .. } = compared.comparison;
                (ratio, verdict, compared.session)
            }
        };
        if verdict != change {
            return Ok(Some(BisectReason::NotConfirmed));
        }
        self.record.verdict = BisectVerdict::Found;
        self.record.culprit = Some(Culprit {
            commit,
            parent,
            ratio,
        });
        self.explain([*before, *after], session);
        Ok(None)
    }

    /// Observes the culprit and its parent. The parts of their difference add up to the difference between
    /// the runs of this session, from which the ratio is computed too.
    fn explain(&mut self, targets: [Target; 2], session: usize) {
        let of_time = [Metric::Wall, Metric::Undisturbed, Metric::Cpu];
        if !of_time.contains(&self.record.metric) || interrupt::stopped() {
            return;
        }
        let plan = self.sessions.plan;
        let asked = DifferencePlan {
            targets,
            timed: self.sessions.runs(session),
            runs: None,
            seed: plan.seed,
            ignore_failure: plan.ignore_failure.clone(),
            tier: None,
            terms: plan.terms.clone(),
        };
        self.difference = Some(differs(&asked, self.observer));
    }
}

/// Returns the leading characters of an id, for use as a name.
fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}
