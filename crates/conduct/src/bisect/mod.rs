//! `bisect`: which revision changed a metric?
//!
//! First GOOD and BAD themselves are compared. Then revisions are chosen as `git bisect` chooses
//! them, and each is measured in the same rounds as GOOD and BAD: to which is it nearer? The one
//! that is left is compared with its parent. How the error rate is spent:
//! [`fathom_stats::Halving`].

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

/// How often a search may name a wrong revision.
pub const ERROR_RATE: f64 = 0.05;

/// The session in which both ends are compared.
const ENDS: usize = 0;

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

/// What a search found, what went wrong, and what is behind it.
#[derive(Debug)]
pub struct Bisected {
    /// What was found, and everything that was measured.
    pub record: BisectRecord,
    /// Why the search ended early, if it did so by a failure.
    pub failure: Option<MeasureError>,
    /// What the culprit takes more than its parent, where that is a time.
    pub difference: Option<Differs>,
}

/// Searches, and observes what the revision that it names does more.
///
/// # Errors
/// When GOOD or BAD can't be measured. A run that fails after it worked once ends the search; the
/// record then has what was found before.
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
        // What was found before is there.
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

/// A search that is on.
struct Bisection<'p, 'o> {
    search: Search,
    sessions: Sessions<'p>,
    record: BisectRecord,
    parts: Halving,
    difference: Option<Differs>,
    observer: &'o mut dyn Observer,
}

/// Why no revision can be named; `None` if one can, or there is nothing to find.
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

    /// `change` is what BAD is against GOOD.
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
                    // Halfway between both: a part of the change comes before it. That part is
                    // searched.
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

    /// Compares the revision that is left with its parent; of a merge, with the side that was
    /// merged into.
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
        // The ends were compared already, and no other question was asked.
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

    /// Observes the culprit and its parent. What they differ in adds up to the difference in the runs of
    /// this session, which the ratio is of, too.
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

/// The beginning of an id, as a name.
fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}
