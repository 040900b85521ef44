//! The measurements of a search: each question is a session with its own rounds.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use fathom_measure::{Against, MeasureError, assess};
use fathom_model::{BenchRecord, Comparison, Estimate, Metric, Run, RunOrder, StopReason, Verdict};

use super::BisectPlan;
use crate::bench::{Amount, TIME_BESIDE_BUILDS, asked};
use crate::template::{Filled, has_ratio, try_once};
use crate::versions::prepare::built;
use crate::worktrees::{Repository, Worktree, Worktrees};
use crate::{BenchPlan, ConductError, Event, Observer, Target, bench};

/// The confidence level of the ratios to GOOD.
const LEVEL: f64 = 0.95;

/// A prepared revision.
pub(super) enum Ready {
    Target(Box<Target>),
    /// The metric is 0 or unknown.
    NoRatio,
    DoesNotBuild(String),
    LeftOut(String),
}

/// The end that a revision is nearer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Good,
    Bad,
    /// The revision is halfway between the two ends, so it is like neither.
    Middle,
    Unknown,
}

/// The comparison of one revision with another.
pub(super) struct Compared {
    pub(super) comparison: Comparison,
    pub(super) metric: Metric,
    pub(super) medians: [Option<Estimate>; 2],
    /// The session that compared them.
    pub(super) session: usize,
}

/// A revision between both ends.
pub(super) struct Placed {
    pub(super) side: Side,
    /// The ratio to GOOD.
    pub(super) ratio: Option<Estimate>,
    pub(super) rounds: usize,
}

/// All sessions, and the worktrees that they need.
pub(super) struct Sessions<'p> {
    pub(super) plan: &'p BisectPlan,
    repository: Repository,
    cache: Worktrees,
    /// Held until the end, because each may be needed again.
    worktrees: HashMap<String, Worktree>,
    records: Vec<BenchRecord>,
    /// The remaining time for measuring, if it is limited.
    left: Option<Duration>,
    /// The maximum number of sessions still to come.
    to_come: u32,
    /// The metric that the comparison of the ends used; all later sessions use it too.
    metric: Option<Metric>,
    /// A quarter of the difference between the ends, as a share: a revision this close to the middle counts
    /// as being like neither end.
    middle: f64,
    first: bool,
}

impl<'p> Sessions<'p> {
    pub(super) fn open(
        plan: &'p BisectPlan,
        repository: &Repository,
        steps: u32,
    ) -> Result<Self, ConductError> {
        Ok(Sessions {
            plan,
            repository: repository.clone(),
            cache: Worktrees::open(plan.builds.cache_bytes)?,
            worktrees: HashMap::new(),
            records: Vec::new(),
            left: plan.time,
            to_come: steps + 2,
            metric: plan.metric,
            middle: plan.margin,
            first: true,
        })
    }

    /// Returns the measurements, and releases the worktrees so that the cache may evict them.
    pub(super) fn close(mut self) -> Vec<BenchRecord> {
        self.worktrees.clear();
        self.cache.make_room();
        self.records
    }

    /// Returns the runs of a session.
    pub(super) fn runs(&self, session: usize) -> Vec<Run> {
        let session = self.records.get(session);
        session.map_or_else(Vec::new, |record| record.runs.clone())
    }

    /// Prepares an end of the search; `None` if its metric is 0 or unknown.
    ///
    /// # Errors
    /// If it can't be built or run, because then there is nothing to search.
    pub(super) fn must(
        &mut self,
        name: &str,
        revision: &str,
        observer: &mut dyn Observer,
    ) -> Result<Option<Target>, ConductError> {
        match self.prepare(name, revision, observer)? {
            Ready::Target(target) => Ok(Some(*target)),
            Ready::NoRatio => Ok(None),
            Ready::DoesNotBuild(error) => Err(ConductError::Failed(format!(
                "{name} does not build: {error}\nBoth ends must build. Choose a revision that builds, or change \
                 --build. Failed builds are remembered; --rebuild tries them again."
            ))),
            Ready::LeftOut(error) => Err(ConductError::Failed(format!(
                "the command can't be run on {name}: {error}\nThe command runs in a checkout of each revision; \
                 {{repo}} stands for your own working tree."
            ))),
        }
    }

    /// Builds a revision and runs it once.
    pub(super) fn prepare(
        &mut self,
        name: &str,
        revision: &str,
        observer: &mut dyn Observer,
    ) -> Result<Ready, ConductError> {
        let filled = Filled {
            version: name,
            revision: Some(revision),
            repository: Some(&self.repository.root),
        };
        observer.on(Event::Builds {
            version: name,
            place: self.worktrees.len(),
            of: None,
        });
        let (builds, cache) = (&self.plan.builds, &self.cache);
        let known = self.worktrees.contains_key(revision);
        if !known {
            match built(builds, &self.repository, cache, filled, observer)? {
                Ok(worktree) => self.worktrees.insert(revision.to_owned(), worktree),
                Err(error) => return Ok(Ready::DoesNotBuild(error)),
            };
        }
        let folder = &self.worktrees[revision].folder;
        let target = match self.plan.template.on(filled, Some(folder)) {
            Ok(target) => target,
            Err(error) => return Ok(Ready::LeftOut(error)),
        };
        if known {
            return Ok(Ready::Target(Box::new(target)));
        }
        observer.on(Event::Tries(name));
        let plan = self.plan;
        Ok(
            match try_once(&target, &plan.ignore_failure, &plan.terms, observer)? {
                Ok(run) if has_ratio(plan.metric, &run) => Ready::Target(Box::new(target)),
                Ok(_) => Ready::NoRatio,
                Err(error) => Ready::LeftOut(error),
            },
        )
    }

    /// Compares the second revision with the first. Returns `None` if there is no ratio.
    pub(super) fn compare(
        &mut self,
        first: &Target,
        second: &Target,
        alpha: f64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Compared>, ConductError> {
        let targets = vec![first.clone(), second.clone()];
        let margin = self.plan.margin;
        let session = self.records.len();
        let record = self.measure(targets, Against::One(0), margin, alpha, observer)?;
        let Some(outcome) = &record.outcome else {
            return Ok(None);
        };
        let Some(comparison) = outcome.comparisons.first().cloned() else {
            return Ok(None);
        };
        let metric = comparison.metric;
        let median = |benchmark: usize| {
            let all = &outcome.results.get(benchmark)?.summaries;
            let summary = all.iter().find(|summary| summary.metric == metric)?;
            Some(summary.median)
        };
        let medians = [median(0), median(1)];
        if self.metric.is_none() {
            self.metric = Some(metric);
        }
        let ratio = comparison.ratio.value;
        self.middle = self.middle.min(ratio.max(1.0 / ratio).powf(0.25) - 1.0);
        Ok(Some(Compared {
            comparison,
            metric,
            medians,
            session,
        }))
    }

    /// Decides whether the third target is nearer to the first (GOOD) or to the second (BAD). `change` is the
    /// verdict of BAD against GOOD. Returns `None` if there is no ratio.
    pub(super) fn place(
        &mut self,
        targets: [Target; 3],
        change: Verdict,
        alpha: f64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Placed>, ConductError> {
        let middle = self.middle;
        let record = self.measure(targets.to_vec(), Against::Middle, middle, alpha, observer)?;
        let comparisons = record.outcome.as_ref().map(|outcome| &outcome.comparisons);
        let Some(comparison) = comparisons.and_then(|all| all.first()) else {
            return Ok(None);
        };
        let (reference, values) = assess::paired(&record.runs, [0, 0], 2, comparison.metric);
        let ratio = fathom_stats::paired_ratio(&reference, &values, LEVEL);
        Ok(Some(Placed {
            side: match comparison.verdict {
                Verdict::Same => Side::Middle,
                Verdict::Undecided => Side::Unknown,
                verdict if verdict == change => Side::Bad,
                _ => Side::Good,
            },
            ratio: ratio.map(|paired| paired.ratio),
            rounds: comparison.rounds,
        }))
    }

    fn measure(
        &mut self,
        targets: Vec<Target>,
        against: Against,
        margin: f64,
        alpha: f64,
        observer: &mut dyn Observer,
    ) -> Result<&BenchRecord, ConductError> {
        // Time that a session doesn't use is left to the later ones.
        let time = match self.left {
            Some(left) => left / self.to_come.max(1),
            None => TIME_BESIDE_BUILDS,
        };
        self.to_come = self.to_come.saturating_sub(1);
        let plan = BenchPlan {
            targets,
            against,
            metrics: asked(self.metric, margin),
            alpha,
            amount: Amount {
                time: Some(time),
                ..Amount::default()
            },
            warmup: self.plan.warmup,
            seed: self.plan.seed.wrapping_add(self.records.len() as u64),
            margin,
            ignore_failure: self.plan.ignore_failure.clone(),
            require_quiet: self.plan.require_quiet.filter(|_| self.first),
            canaries: self.first,
            vary_environment_size: true,
            order: RunOrder::Random,
            keep_daemons: false,
            record: fathom_fleet::attempt().map(|one| {
                one.folder
                    .join(format!("session-{}.json", self.records.len()))
            }),
            terms: self.plan.terms.clone(),
            slope: None,
        };
        self.first = false;
        let began = Instant::now();
        let measured = bench(&plan, observer)?;
        self.left = self.left.map(|left| left.saturating_sub(began.elapsed()));
        let interrupted = measured.record.outcome.as_ref().map(|outcome| outcome.stop)
            == Some(StopReason::Interrupted);
        self.records.push(measured.record);
        match measured.failure {
            Some(error) => Err(error.into()),
            None if interrupted => Err(MeasureError::Interrupted.into()),
            None => Ok(&self.records[self.records.len() - 1]),
        }
    }
}
